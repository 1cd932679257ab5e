import { createRootRoute, Link, Outlet } from '@tanstack/react-router'
import { Compass } from 'lucide-react'
import { AppFrame } from '../layout/AppFrame'
import { EmptyState } from '../ui/EmptyState'
import { ErrorNote } from '../ui/ErrorNote'

export const rootRoute = createRootRoute({
  component: () => (
    <AppFrame>
      <Outlet />
    </AppFrame>
  ),
  errorComponent: ({ error, reset }) => <ErrorNote error={error} onRetry={reset} />,
  notFoundComponent: () => (
    <main>
      <h1 className="sr-only">Not found</h1>
      <EmptyState icon={Compass} title="There is no such page">
        <Link to="/" className="text-accent underline">
          Go to the inbox
        </Link>
      </EmptyState>
    </main>
  ),
})
