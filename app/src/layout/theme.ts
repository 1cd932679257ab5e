/** `system` follows the machine. */
export type Theme = 'system' | 'light' | 'dark'

const KEY = 'tandem.theme'

export function chosenTheme(): Theme {
  const chosen = localStorage.getItem(KEY)
  return chosen === 'light' || chosen === 'dark' ? chosen : 'system'
}

export function chooseTheme(theme: Theme): void {
  if (theme === 'system') localStorage.removeItem(KEY)
  else localStorage.setItem(KEY, theme)
  applyTheme()
}

export function applyTheme(): void {
  const theme = chosenTheme()
  if (theme === 'system') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = theme
}
