import { ArrowDown } from 'lucide-react'
import { type ReactNode, useCallback, useEffect, useRef, useState } from 'react'
import { IconButton } from '../ui/IconButton'

const NEAR = 48

type Props = {
  /** When it changes, the end is shown: the person has said something. */
  said: number
  children: ReactNode
}

/** Stays at the end while it grows, unless the person has scrolled up. */
export function Scroller({ said, children }: Props) {
  const box = useRef<HTMLElement>(null)
  const content = useRef<HTMLDivElement>(null)
  const isAtEnd = useRef(true)
  const lastTop = useRef(0)
  const [isAway, setAway] = useState(false)
  const toEnd = useCallback(() => {
    isAtEnd.current = true
    if (box.current) box.current.scrollTop = box.current.scrollHeight
  }, [])
  useEffect(() => {
    if (said > 0) toEnd()
  }, [said, toEnd])
  useEffect(() => {
    // Before it is painted, so that nothing is seen to move.
    const observer = new ResizeObserver(() => {
      if (isAtEnd.current && box.current) box.current.scrollTop = box.current.scrollHeight
    })
    if (content.current) observer.observe(content.current)
    if (box.current) observer.observe(box.current)
    return () => observer.disconnect()
  }, [])
  return (
    <div className="relative flex min-h-0 flex-1 flex-col">
      <section
        ref={box}
        tabIndex={0}
        aria-label="Messages"
        className="min-h-0 flex-1 overflow-y-auto [overflow-anchor:none] focus-visible:-outline-offset-2"
        onScroll={({ currentTarget: at }) => {
          // What has grown meanwhile is no wish to leave the end: only who goes up leaves it.
          const goesUp = at.scrollTop < lastTop.current
          lastTop.current = at.scrollTop
          if (at.scrollHeight - at.scrollTop - at.clientHeight < NEAR) isAtEnd.current = true
          else if (goesUp) isAtEnd.current = false
          setAway(!isAtEnd.current)
        }}
      >
        <div ref={content}>{children}</div>
      </section>
      {isAway && (
        <IconButton
          label="To the end"
          onClick={toEnd}
          className="absolute bottom-3 left-1/2 -translate-x-1/2 rounded-full border border-line bg-raised shadow-float"
        >
          <ArrowDown size={16} aria-hidden />
        </IconButton>
      )}
    </div>
  )
}
