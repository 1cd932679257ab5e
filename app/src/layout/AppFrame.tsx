import { Link } from '@tanstack/react-router'
import { type ReactNode, useEffect, useState } from 'react'
import { useLiveStatus } from '../live/hooks'
import { PersonSwitcher } from '../session/PersonSwitcher'
import { Faces } from './Faces'
import { ShortcutHelp } from './ShortcutHelp'
import { useShortcutKeys } from './shortcuts'
import { ThemeSwitch } from './ThemeSwitch'

/** The header, and below it the page. */
export function AppFrame({ children }: { children: ReactNode }) {
  useShortcutKeys()
  return (
    <div className="flex h-full flex-col">
      <header className="flex h-13 shrink-0 items-center gap-3 border-b border-line bg-panel px-4">
        <Link to="/" className="flex items-center gap-2.5 font-semibold tracking-tight">
          <img src={`${import.meta.env.BASE_URL}mark.svg`} alt="" width="24" height="24" />
          Tandem
        </Link>
        <ConnectionNote />
        {/* All the room that is left, so that it stays where it is when faces come and go. */}
        <div className="flex flex-1 items-center justify-end gap-1.5">
          <Faces />
          <ShortcutHelp />
          <ThemeSwitch />
          <PersonSwitcher />
        </div>
      </header>
      <div className="min-h-0 flex-1">{children}</div>
    </div>
  )
}

/** A short interruption is nobody's business: only a lasting one is told. */
function ConnectionNote() {
  const offline = useLiveStatus() === 'offline'
  const [shown, setShown] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setShown(offline), offline ? 2000 : 0)
    return () => clearTimeout(timer)
  }, [offline])
  return (
    <p role="status" className="text-xs text-ink-soft">
      {shown && 'Connecting again…'}
    </p>
  )
}
