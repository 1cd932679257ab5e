import { createRoute } from '@tanstack/react-router'
import { workspaceRoute } from './workspace'

export const summaryRoute = createRoute({ getParentRoute: () => workspaceRoute, path: '/summary' })
export const memoryRoute = createRoute({ getParentRoute: () => workspaceRoute, path: '/memory' })
