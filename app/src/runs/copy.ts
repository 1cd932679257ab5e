import { toast } from '../ui/Toast'

/** Puts text into the clipboard, and tells so. */
export function copy(text: string, what: string): void {
  const copied = navigator.clipboard?.writeText(text) ?? Promise.reject(new Error('There is no clipboard.'))
  copied.then(
    () => toast(`${what} is in the clipboard`),
    () => toast('The browser does not let this page use the clipboard. Allow it, then try again.', { kind: 'failed' }),
  )
}
