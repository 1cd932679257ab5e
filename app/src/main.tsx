import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { config } from 'zod/v4/core'
import { wordsOf } from './api/problem'
import { makeCache } from './cache'
import { applyTheme } from './layout/theme'
import { Feed } from './live/feed'
import { LiveContext } from './live/hooks'
import { Live } from './live/live'
import { router } from './routes/router'
import { startSession } from './session/session'
import './styles.css'
import { Toaster } from './ui/Toast'
import { TooltipProvider } from './ui/Tooltip'

applyTheme()
// The AI SDK's validator would try whether it may compile code: the page's policy forbids that.
config({ jitless: true })
const root = createRoot(document.getElementById('root') as HTMLElement)

startSession().then(
  () => {
    const cache = makeCache()
    const live = new Live(new Feed(cache))
    live.start()
    root.render(
      <StrictMode>
        <QueryClientProvider client={cache}>
          <LiveContext value={live}>
            <TooltipProvider delayDuration={400}>
              <RouterProvider router={router} />
              <Toaster />
            </TooltipProvider>
          </LiveContext>
        </QueryClientProvider>
      </StrictMode>,
    )
  },
  (error) =>
    root.render(
      <main className="p-8">
        <h1 className="text-xl font-semibold">You could not be signed in</h1>
        <p className="my-3 foreign">{wordsOf(error)}</p>
        <a href={import.meta.env.BASE_URL} className="text-accent underline">
          Try again
        </a>
      </main>,
    ),
)
