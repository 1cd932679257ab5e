import { createRoute } from '@tanstack/react-router'
import { workspaceRoute } from './workspace'

export const homeRoute = createRoute({ getParentRoute: () => workspaceRoute, path: '/' })
