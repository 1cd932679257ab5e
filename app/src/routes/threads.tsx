import { createRoute } from '@tanstack/react-router'
import { workspaceRoute } from './workspace'

export const threadsRoute = createRoute({ getParentRoute: () => workspaceRoute, path: '/threads' })
export const threadRoute = createRoute({ getParentRoute: () => workspaceRoute, path: '/threads/$thread' })
