import { type ComponentProps, memo } from 'react'
import ReactMarkdown from 'react-markdown'
import remarkGfm from 'remark-gfm'
import remend from 'remend'
import { LongText } from '../ui/LongText'
import { pieces } from '../ui/longWords'
import { blocksOf, isPlain, piecesOf } from './blocks'
import { safeUrl } from './safeUrl'

type Props = { text: string; isPartial?: boolean }

/** Markdown of a model or a stranger: no HTML, no pictures from elsewhere, only links to http(s) and mail. */
export const Markdown = memo(function Markdown({ text, isPartial }: Props) {
  const blocks = blocksOf(text)
  return (
    <div className="flex flex-col gap-3 foreign [&_blockquote]:border-l-2 [&_blockquote]:border-line-strong [&_blockquote]:pl-3 [&_blockquote]:text-ink-soft [&_code]:rounded-sm [&_code]:bg-sunken [&_code]:px-1 [&_code]:font-mono [&_code]:text-sm [&_h1]:text-lg [&_h1]:font-semibold [&_h2]:font-semibold [&_h3]:font-semibold [&_ol]:list-decimal [&_ol]:pl-6 [&_td]:border-t [&_td]:border-line [&_td]:p-1.5 [&_th]:p-1.5 [&_th]:text-left [&_ul]:list-disc [&_ul]:pl-6">
      {blocks.map((block, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: text only ever comes at the end.
        <Block key={at} text={isPartial && at === blocks.length - 1 ? remend(block) : block} />
      ))}
    </div>
  )
})

const Block = memo(function Block({ text }: { text: string }) {
  if (isPlain(text)) {
    return (
      <p>
        {piecesOf(text).map((piece, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: text only ever comes at the end.
          <LongText key={at}>{piece}</LongText>
        ))}
      </p>
    )
  }
  return (
    <div className="flex min-w-0 flex-col gap-3">
      <ReactMarkdown
        remarkPlugins={PLUGINS}
        rehypePlugins={AFTER}
        components={COMPONENTS}
        urlTransform={(url) => safeUrl(url) ?? ''}
        skipHtml
      >
        {text}
      </ReactMarkdown>
    </div>
  )
})

const PLUGINS = [remarkGfm]
const AFTER = [breakLongWords]

type Node = { type: string; value?: string; tagName?: string; properties?: object; children?: Node[] }

/** What `LongText` does, within what Markdown has become. */
function breakLongWords() {
  return function within(node: Node) {
    if (!node.children) return
    for (const child of node.children) within(child)
    node.children = node.children.flatMap((child) => {
      const parts = child.type === 'text' ? pieces(child.value ?? '') : []
      if (parts.length < 2) return [child]
      const wbr: Node = { type: 'element', tagName: 'wbr', properties: {}, children: [] }
      return parts.flatMap((value, at) => (at > 0 ? [wbr, { type: 'text', value }] : [{ type: 'text', value }]))
    })
  }
}

const COMPONENTS = {
  a: ({ href, children }: ComponentProps<'a'>) =>
    href ? (
      <a href={href} target="_blank" rel="noopener noreferrer nofollow" className="text-accent underline">
        {children}
      </a>
    ) : (
      <span>{children}</span>
    ),
  // A picture would tell its server that it was seen: its description stands for it.
  img: ({ alt }: ComponentProps<'img'>) => <span className="text-ink-soft">[{alt || 'picture'}]</span>,
  pre: ({ children }: ComponentProps<'pre'>) => (
    <pre tabIndex={0} className="overflow-x-auto rounded-md bg-sunken p-3">
      {children}
    </pre>
  ),
  table: ({ children }: ComponentProps<'table'>) => (
    // biome-ignore lint/a11y/useSemanticElements: a table that is wider than its place is scrolled with the keyboard.
    <div role="group" aria-label="Table" tabIndex={0} className="overflow-x-auto">
      <table>{children}</table>
    </div>
  ),
}
