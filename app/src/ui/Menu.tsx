import { Check } from 'lucide-react'
import { DropdownMenu } from 'radix-ui'
import type { ReactElement } from 'react'

export type MenuItem = { label: string; onSelect: () => void; checked?: boolean; disabled?: boolean; danger?: boolean }

type Props = { label: string; trigger: ReactElement; items: MenuItem[] }

export function Menu({ label, trigger, items }: Props) {
  return (
    <DropdownMenu.Root modal={false}>
      <DropdownMenu.Trigger asChild aria-label={label}>
        {trigger}
      </DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content
          align="end"
          sideOffset={6}
          collisionPadding={8}
          className="z-50 max-h-(--radix-dropdown-menu-content-available-height) min-w-44 overflow-y-auto rounded-lg border border-line bg-raised p-1 shadow-float"
        >
          {items.map((item) => (
            <DropdownMenu.Item
              key={item.label}
              disabled={item.disabled}
              onSelect={item.onSelect}
              className={`flex min-h-8 items-center justify-between gap-4 rounded-md px-2.5 text-sm outline-none data-[disabled]:opacity-55 data-[highlighted]:bg-hover ${item.danger ? 'text-danger' : ''}`}
            >
              {item.label}
              {item.checked && <Check size={14} className="text-accent" aria-label="chosen" />}
            </DropdownMenu.Item>
          ))}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  )
}
