import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { rootRoute } from './root'

export const runRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/runs/$run',
  component: lazyRouteComponent(() => import('../runs/RunPage'), 'RunPage'),
})
