import { Bar, BarChart, LabelList, ResponsiveContainer, XAxis, YAxis } from 'recharts'
import { inWords, type Row } from './shape'
import { readable } from './words'

type Props = { label: string; value: string; rows: Row[]; height: number }

/** As many bars as can be told apart. */
const MOST = 10

/** A bar for each pair of a name and a number. */
export default function Chart({ label, value, rows, height }: Props) {
  const shown = rows.slice(0, MOST)
  return (
    <figure>
      <figcaption className="sr-only">
        {readable(value)} by {readable(label).toLowerCase()}:{' '}
        {shown.map((row) => `${inWords(row[label])} ${inWords(row[value])}`).join(', ')}
      </figcaption>
      <div aria-hidden style={{ height }}>
        <ResponsiveContainer width="100%" height="100%">
          <BarChart
            layout="vertical"
            data={shown}
            margin={{ top: 0, right: 40, bottom: 0, left: 0 }}
            accessibilityLayer={false}
          >
            <XAxis type="number" hide />
            <YAxis
              type="category"
              dataKey={label}
              width={96}
              axisLine={false}
              tickLine={false}
              interval={0}
              tick={{ fontSize: 12, fill: 'var(--ink-soft)' }}
              tickFormatter={(name) => (String(name).length > 14 ? `${String(name).slice(0, 13)}…` : String(name))}
            />
            <Bar dataKey={value} fill="var(--accent)" radius={3} barSize={12} isAnimationActive={false}>
              <LabelList dataKey={value} position="right" fontSize={12} fill="var(--ink)" />
            </Bar>
          </BarChart>
        </ResponsiveContainer>
      </div>
      {rows.length > MOST && (
        <p className="text-xs text-ink-soft">
          The first {MOST} of {rows.length}.
        </p>
      )}
    </figure>
  )
}
