import { Fragment } from 'react'
import { pieces } from './longWords'

/** Text of any length, on lines of any length: long words may break, and are drawn without delay. */
export function LongText({ children }: { children: string }) {
  return pieces(children).map((piece, at) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: a piece is nothing but where it stands
    <Fragment key={at}>
      {at > 0 && <wbr />}
      {piece}
    </Fragment>
  ))
}
