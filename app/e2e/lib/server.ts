// The real program on a free port with data of its own. It serves the built application too.
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** `url` is where the application is, with a slash at the end. */
export type Server = {
  url: string
  stop: () => Promise<void>
  /** Ends the program without a warning. */
  kill: () => Promise<void>
  /** Starts it again, at the same address and with the same data. */
  restart: () => Promise<void>
}
type Process = Pick<Server, 'url' | 'stop' | 'kill'>

/** Where the program finds app/dist. */
const TOP = join(import.meta.dirname, '../../..')

/** `env` holds constants of the program, such as a shorter window. */
export async function serve(env: Record<string, string> = {}): Promise<Server> {
  const program = process.env.TANDEM_BIN
  if (!program) throw new Error('TANDEM_BIN must name the program: run scripts/test-app.sh')
  const data = await mkdtemp(join(tmpdir(), 'tandem-app-'))
  let tandem = await begin(program, ['dev', '--port', '0', '--data', data], env)
  const stops = [() => rm(data, { recursive: true, force: true }), () => tandem.stop()]
  const { url } = tandem
  const { port } = new URL(url)
  return {
    url: `${url}/app/`,
    kill: () => tandem.kill(),
    async restart() {
      tandem = await begin(program, ['dev', '--port', port, '--data', data], env)
    },
    async stop() {
      for (const stop of stops.reverse()) await stop()
    },
  }
}

const children = new Set<ChildProcess>()
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL')
})

/** Of the caller's own environment only this: with a key of theirs, scripts would go to a model that costs money. */
function environment(given: Record<string, string>): Record<string, string | undefined> {
  const { PATH, HOME, TMPDIR } = process.env
  return { PATH, HOME, TMPDIR, MODEL: 'scripted', ...given }
}

/** Resolves when the program has told its address. */
function begin(program: string, args: string[], env: Record<string, string>): Promise<Process> {
  const child = spawn(program, args, { cwd: TOP, env: environment(env), stdio: ['ignore', 'pipe', 'pipe'] })
  children.add(child)
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const stop = async () => {
    child.kill('SIGTERM')
    const hard = setTimeout(() => child.kill('SIGKILL'), 3000)
    await ended
    clearTimeout(hard)
    children.delete(child)
  }
  const kill = async () => {
    child.kill('SIGKILL')
    await ended
    children.delete(child)
  }
  return new Promise((resolve, reject) => {
    let log = ''
    const read = (text: Buffer) => {
      log += text
      const url = /http:\/\/127\.0\.0\.1:\d+/.exec(log)?.[0]
      if (url) resolve({ url, stop, kill })
    }
    child.stdout.on('data', read)
    child.stderr.on('data', read)
    child.once('error', reject)
    child.once('close', () => reject(new Error(`${program} ended:\n${log.slice(-2000)}`)))
  })
}
