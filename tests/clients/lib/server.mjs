// Servers of our own: the real program, on free ports of the loopback, with a data folder each.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { until } from './until.mjs'

const binary = process.env.TANDEM_BIN

/** Why tests that need a server of their own cannot run, or false. */
export const needsBinary = binary ? false : 'TANDEM_BIN is not set'
/** Why tests that any server will do for cannot run, or false. */
export const needsServer = binary || process.env.TANDEM_URL ? false : 'neither TANDEM_BIN nor TANDEM_URL is set'

/** The whole system in one process, with the constants in `env`; the server at TANDEM_URL where there is no binary. */
export async function serve(env = {}) {
  if (!binary) return { url: process.env.TANDEM_URL.replace(/\/$/, ''), stop: async () => {} }
  const data = await dataFolder()
  const [port] = await freePorts(1)
  const begin = () => start(['dev', '--port', port, '--data', data], env)
  let server = begin()
  const system = {
    url: `http://127.0.0.1:${port}`,
    /** Ends the program and starts it again on the same data. */
    async restart() {
      await server.stop()
      server = begin()
      await ready(system, [server])
    },
    async stop() {
      await server.stop()
      await rm(data, { recursive: true, force: true })
    },
  }
  return ready(system, [server])
}

/** Database, foreground and background as processes of their own; `background` can be killed and started again. */
export async function serveSplit(env = {}) {
  const data = await dataFolder()
  const [database, foreground, background] = await freePorts(3)
  const url = `http://127.0.0.1:${foreground}`
  const common = {
    AWS_ENDPOINT_URL_DYNAMODB: `http://127.0.0.1:${database}`,
    BACKGROUND_URL: `http://127.0.0.1:${background}`,
    ...env,
  }
  const store = start(['dynamodb', '--port', database, '--data', data], env)
  await until(() => listens(database), 'the database to listen', { stop: store.failure })
  const front = start(['foreground', '--port', foreground], common)
  let back
  const split = {
    url,
    async startBackground() {
      back = start(['background', '--port', background], common)
      await until(() => listens(background), 'the background to listen', { stop: back.failure })
    },
    killBackground: () => back.kill(),
    async stop() {
      await Promise.all([front.stop(), back?.stop()])
      await store.stop()
      await rm(data, { recursive: true, force: true })
    },
  }
  await split.startBackground()
  return ready(split, [store, front, back])
}

async function ready(system, processes) {
  const failure = () => processes.map(p => p.failure()).find(Boolean)
  const healthy = () => fetch(`${system.url}/healthz`).then(r => r.ok, () => false)
  try {
    await until(healthy, 'the server to be healthy', { ms: 20_000, stop: failure })
  } catch (error) {
    await system.stop()
    throw error
  }
  return system
}

/** Of the caller's own environment only this: with a key of theirs, scripts would go to a model that costs money. */
function environment(given) {
  const { PATH, HOME, TMPDIR } = process.env
  return { PATH, HOME, TMPDIR, MODEL: 'scripted', ...given }
}

const children = new Set()
process.on('exit', () => children.forEach(child => child.kill('SIGKILL')))

function start(args, env) {
  const child = spawn(binary, args.map(String), {
    env: environment(env),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  children.add(child)
  let log = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', text => (log = (log + text).slice(-4000)))
  let over
  const exit = new Promise(resolve => {
    child.once('error', error => resolve(error.message))
    child.once('exit', (code, signal) => resolve(signal ?? `exit code ${code}`))
  }).then(how => {
    children.delete(child)
    over = how
  })
  const end = async signal => {
    if (over === undefined) child.kill(signal)
    await exit
  }
  return {
    /** What to say if the process ended by itself. */
    failure: () => over !== undefined && `tandem ${args[0]} ended (${over}):\n${log}`,
    kill: () => end('SIGKILL'),
    async stop() {
      const hard = setTimeout(() => child.kill('SIGKILL'), 3000)
      await end('SIGTERM')
      clearTimeout(hard)
    },
  }
}

const dataFolder = () => mkdtemp(join(tmpdir(), 'tandem-clients-'))

async function freePorts(count) {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'))
  await Promise.all(servers.map(server => once(server, 'listening')))
  const ports = servers.map(server => server.address().port)
  await Promise.all(servers.map(server => new Promise(resolve => server.close(resolve))))
  return ports
}

function listens(port) {
  return new Promise(resolve => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })
}
