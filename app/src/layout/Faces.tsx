import { Sparkles } from 'lucide-react'
import { usePresence } from '../live/hooks'
import { WINDOW } from '../live/presence'
import { whoAmI } from '../session/session'
import { Tooltip } from '../ui/Tooltip'

/** Who else is here. */
export function Faces({ scope }: { scope: string }) {
  const present = usePresence(scope)
  const others = new Map<string, string>()
  for (const one of present) {
    if (one.client === WINDOW) continue
    const isAgent = 'agent' in one && one.agent === true
    const name = isAgent ? 'The agent' : (one.user ?? 'Somebody')
    others.set(name, !isAgent && name === whoAmI().user ? `${name} (you, in another window)` : name)
  }
  if (others.size === 0) return null
  return (
    <ul aria-label="Also here" className="flex -space-x-1.5">
      {[...others].map(([name, told]) => (
        <li key={name}>
          <Tooltip text={told}>
            <span className="flex size-7 items-center justify-center rounded-full border-2 border-panel bg-accent-soft text-xs font-semibold text-accent uppercase">
              {name === 'The agent' ? <Sparkles size={13} aria-hidden /> : <span aria-hidden>{name.slice(0, 2)}</span>}
              <span className="sr-only">{told}</span>
            </span>
          </Tooltip>
        </li>
      ))}
    </ul>
  )
}
