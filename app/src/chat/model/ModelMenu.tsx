import { ChevronDown } from 'lucide-react'
import { Button } from '../../ui/Button'
import { Menu } from '../../ui/Menu'
import { shortName } from './choice'
import type { ModelChoice } from './useModel'

/** Which model answers, where there is a choice. */
export function ModelMenu({ model, models, choose }: ModelChoice) {
  const now = models.find(({ id, default: isDefault }) => (model ? id === model : isDefault))
  if (!now || models.length < 2) return null
  return (
    <Menu
      label={`Model: ${shortName(now.id)}`}
      trigger={
        <Button quiet className="max-w-40 min-w-0 shrink gap-1 px-1.5 text-xs">
          <span className="truncate foreign">{shortName(now.id)}</span>
          <ChevronDown size={13} aria-hidden className="shrink-0" />
        </Button>
      }
      items={models.map((one) => ({
        label: one.default ? `${one.id} (default)` : one.id,
        checked: one === now,
        onSelect: () => choose(one.id),
      }))}
    />
  )
}
