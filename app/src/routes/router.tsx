import { createRouter } from '@tanstack/react-router'
import { homeRoute } from './home'
import { emailRoute, inboxRoute } from './inbox'
import { rootRoute } from './root'
import { runRoute } from './run'
import { threadRoute, threadsRoute } from './threads'
import { memoryRoute, summaryRoute } from './views'
import { workspaceRoute } from './workspace'

const workspace = workspaceRoute.addChildren([
  homeRoute,
  threadsRoute,
  threadRoute,
  inboxRoute,
  emailRoute,
  summaryRoute,
  memoryRoute,
])

export const router = createRouter({
  routeTree: rootRoute.addChildren([workspace, runRoute]),
  basepath: '/app',
  defaultPreload: 'intent',
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
