import { createRoute } from '@tanstack/react-router'
import { workspaceRoute } from './workspace'

export const inboxRoute = createRoute({ getParentRoute: () => workspaceRoute, path: '/inbox' })
export const emailRoute = createRoute({ getParentRoute: () => workspaceRoute, path: '/inbox/$email' })
