import { Sparkles } from 'lucide-react'
import { Button } from '../ui/Button'
import { EmptyState } from '../ui/EmptyState'
import { SUGGESTIONS } from './suggestions'

/** A conversation that has not begun. */
export function Welcome({ onPick }: { onPick: (text: string) => void }) {
  return (
    <EmptyState icon={Sparkles} title="Work on the inbox together">
      <p className="mb-4">The agent reads, labels, answers and archives with the same actions as you.</p>
      <div className="flex flex-col gap-2">
        {SUGGESTIONS.map(({ sentence, text }) => (
          <Button key={sentence} onClick={() => onPick(text)}>
            {sentence}
          </Button>
        ))}
      </div>
    </EmptyState>
  )
}
