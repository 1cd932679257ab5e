// A wire between the browser and the server, which can be cut, or fall silent.
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export type Wire = {
  /** The same address, through the wire. */
  url: string
  /** Every connection breaks, and no new one is made. */
  cut: () => void
  /** Every connection stays open and carries nothing any more; so do those that are made until the wire is mended. */
  hang: () => void
  mend: () => void
  stop: () => Promise<void>
}

export async function wireTo(target: string): Promise<Wire> {
  const to = new URL(target)
  const ends = new Set<Socket>()
  let isCut = false
  let hangs = false
  const server = createServer((near) => {
    if (isCut) return near.resetAndDestroy()
    const far = connect(Number(to.port), to.hostname)
    for (const [from, other] of [
      [near, far],
      [far, near],
    ] as const) {
      ends.add(from)
      if (!hangs) from.pipe(other)
      from.on('error', () => other.destroy())
      from.on('close', () => {
        ends.delete(from)
        other.destroy()
      })
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const breakAll = () => {
    for (const end of ends) end.resetAndDestroy()
  }
  return {
    url: Object.assign(new URL(target), { port: String(port) }).href,
    cut() {
      isCut = true
      breakAll()
    },
    hang() {
      hangs = true
      for (const end of ends) end.unpipe().pause()
    },
    mend() {
      isCut = false
      hangs = false
    },
    stop: () =>
      new Promise((resolve) => {
        breakAll()
        server.close(() => resolve())
      }),
  }
}
