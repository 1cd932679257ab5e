import { beforeEach, expect, test, vi } from 'vitest'

let token = 'old'
const renew = vi.fn()
vi.stubGlobal('window', { location: { origin: 'http://app' } })
vi.mock('../session/session', () => ({ accessToken: async () => token, renewedToken: renew }))
const { authorizedFetch } = await import('./client')

const asked: { token: string | null; body: string }[] = []
beforeEach(() => {
  asked.length = 0
  token = 'old'
  renew.mockReset()
  vi.stubGlobal('fetch', async (request: Request) => {
    const sent = request.headers.get('authorization')
    asked.push({ token: sent, body: await request.text() })
    return new Response('', { status: sent === 'Bearer new' ? 200 : 401 })
  })
})

const say = () => authorizedFetch('http://app/api/agent-chat', { method: 'POST', body: 'hello' })

test('a token that is refused is renewed, and the same is asked once more', async () => {
  renew.mockResolvedValue('new')
  expect((await say()).status).toBe(200)
  expect(renew).toHaveBeenCalledWith('old')
  expect(asked).toEqual([
    { token: 'Bearer old', body: 'hello' },
    { token: 'Bearer new', body: 'hello' },
  ])
})

test('it is asked no more than twice, and once where there is no other token', async () => {
  renew.mockResolvedValue('newer')
  expect((await say()).status).toBe(401)
  renew.mockResolvedValue(undefined)
  expect((await say()).status).toBe(401)
  expect(asked.map(({ token }) => token)).toEqual(['Bearer old', 'Bearer newer', 'Bearer old'])
})
