/** The command that reads the log of a run. Without a token that may be shown it asks for one in `TOKEN`. */
export function curlOf(origin: string, run: string, token?: string): string {
  const header = token === undefined ? '"Authorization: Bearer $TOKEN"' : quoted(`Authorization: Bearer ${token}`)
  return `curl -N -H ${header} ${quoted(`${origin}/runs/${encodeURIComponent(run)}/events`)}`
}

/** One word for a shell, whatever stands in it. */
const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`
