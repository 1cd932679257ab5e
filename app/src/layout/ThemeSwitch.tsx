import { Monitor, Moon, Sun } from 'lucide-react'
import { useState } from 'react'
import { Button } from '../ui/Button'
import { Menu } from '../ui/Menu'
import { chooseTheme, chosenTheme, type Theme } from './theme'

const THEMES: { theme: Theme; label: string; icon: typeof Sun }[] = [
  { theme: 'system', label: 'Like the system', icon: Monitor },
  { theme: 'light', label: 'Light', icon: Sun },
  { theme: 'dark', label: 'Dark', icon: Moon },
]

export function ThemeSwitch() {
  const [theme, setTheme] = useState(chosenTheme)
  const Icon = THEMES.find((each) => each.theme === theme)?.icon ?? Monitor
  const choose = (next: Theme) => {
    chooseTheme(next)
    setTheme(next)
  }
  return (
    <Menu
      label="Colours"
      trigger={
        <Button quiet className="px-2">
          <Icon size={16} aria-hidden />
        </Button>
      }
      items={THEMES.map((each) => ({
        label: each.label,
        checked: each.theme === theme,
        onSelect: () => choose(each.theme),
      }))}
    />
  )
}
