import type { ComponentProps } from 'react'
import ReactMarkdown from 'react-markdown'
import remarkGfm from 'remark-gfm'
import remend from 'remend'
import { safeUrl } from './safeUrl'

type Props = { text: string; isPartial?: boolean }

/** Markdown of a model or a stranger: no HTML, no pictures from elsewhere, only links to http(s) and mail. */
export function Markdown({ text, isPartial }: Props) {
  return (
    <div className="flex flex-col gap-3 foreign [&_code]:rounded-sm [&_code]:bg-sunken [&_code]:px-1 [&_code]:font-mono [&_code]:text-sm [&_h1]:text-lg [&_h1]:font-semibold [&_h2]:font-semibold [&_h3]:font-semibold [&_ol]:list-decimal [&_ol]:pl-6 [&_td]:border-t [&_td]:border-line [&_td]:p-1.5 [&_th]:p-1.5 [&_th]:text-left [&_ul]:list-disc [&_ul]:pl-6">
      <ReactMarkdown
        remarkPlugins={PLUGINS}
        components={COMPONENTS}
        urlTransform={(url) => safeUrl(url) ?? ''}
        skipHtml
      >
        {isPartial ? remend(text) : text}
      </ReactMarkdown>
    </div>
  )
}

const PLUGINS = [remarkGfm]

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
}
