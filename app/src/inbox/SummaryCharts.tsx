import { Bar, BarChart, CartesianGrid, ResponsiveContainer, Tooltip, XAxis, YAxis } from 'recharts'

const AXIS = { tickLine: false, axisLine: false, tick: { fill: 'var(--ink-soft)', fontSize: 12 } }
const TIP = {
  cursor: { fill: 'var(--hover)' },
  contentStyle: {
    background: 'var(--raised)',
    border: '1px solid var(--line)',
    borderRadius: 8,
    color: 'var(--ink)',
    fontSize: 13,
  },
  itemStyle: { color: 'var(--ink)' },
  isAnimationActive: false,
}

/** Emails per day. The table says the same to those who do not see it. */
export function DayChart({ days }: { days: { day: string; emails: number }[] }) {
  return (
    <figure className="m-0">
      <div aria-hidden className="h-44">
        <ResponsiveContainer width="100%" height="100%">
          <BarChart data={days} margin={{ left: -20, right: 4, top: 4 }} accessibilityLayer={false}>
            <CartesianGrid vertical={false} stroke="var(--line)" />
            <XAxis dataKey="day" {...AXIS} tickFormatter={shortDay} minTickGap={24} />
            <YAxis {...AXIS} allowDecimals={false} width={56} />
            <Tooltip {...TIP} labelFormatter={(day) => shortDay(String(day))} />
            <Bar
              dataKey="emails"
              fill="var(--accent)"
              radius={[3, 3, 0, 0]}
              maxBarSize={36}
              isAnimationActive={false}
            />
          </BarChart>
        </ResponsiveContainer>
      </div>
      <table className="sr-only">
        <caption>Emails per day</caption>
        <tbody>
          {days.map(({ day, emails }) => (
            <tr key={day}>
              <th scope="row">{day}</th>
              <td>{emails}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </figure>
  )
}

/** Emails per label, as bars that lead to the list of each. */
export function LabelChart({
  labels,
  onChoose,
}: {
  labels: { label: string; emails: number }[]
  onChoose: (label: string) => void
}) {
  const most = Math.max(...labels.map(({ emails }) => emails), 1)
  return (
    <ul className="flex flex-col gap-1">
      {labels.map(({ label, emails }) => (
        <li key={label}>
          <button
            type="button"
            onClick={() => onChoose(label)}
            className="grid min-h-8 w-full grid-cols-[7rem_1fr_4rem] items-center gap-3 rounded-md px-2 text-left text-sm hover:bg-hover"
          >
            <span className="truncate foreign">{label}</span>
            <span className="h-2.5 overflow-hidden rounded-full bg-sunken" aria-hidden>
              <span className="block h-full rounded-full bg-accent" style={{ width: `${(100 * emails) / most}%` }} />
            </span>
            <span className="text-right text-ink-soft tabular-nums">{emails.toLocaleString()}</span>
          </button>
        </li>
      ))}
    </ul>
  )
}

function shortDay(day: string): string {
  return new Date(`${day}T00:00:00Z`).toLocaleDateString(undefined, { day: 'numeric', month: 'short', timeZone: 'UTC' })
}
