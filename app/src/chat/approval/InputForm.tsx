import { useId } from 'react'
import type { Field, Typed } from './fields'

type Props = { fields: Field[]; typed: Typed; faults: Typed; onType: (typed: Typed) => void }

const BOX =
  'w-full rounded-md border border-line-strong bg-canvas px-2.5 py-1.5 outline-none focus-visible:border-accent aria-invalid:border-danger foreign'

/** What the call is to run with, field by field. */
export function InputForm({ fields, typed, faults, onType }: Props) {
  return (
    <div className="flex flex-col gap-3">
      {fields.map((field) => (
        <OneField
          key={field.name}
          field={field}
          value={typed[field.name] ?? ''}
          fault={faults[field.name]}
          onChange={(value) => onType({ ...typed, [field.name]: value })}
        />
      ))}
    </div>
  )
}

type FieldProps = { field: Field; value: string; fault?: string; onChange: (value: string) => void }

function OneField({ field, value, fault, onChange }: FieldProps) {
  const id = useId()
  const about = fault ? `${id}-fault` : field.help ? `${id}-help` : undefined
  const box = {
    id,
    value,
    className: BOX,
    'aria-invalid': fault !== undefined || undefined,
    'aria-describedby': about,
    onChange: (event: { currentTarget: { value: string } }) => onChange(event.currentTarget.value),
  }
  return (
    <div className="flex flex-col gap-1">
      <label htmlFor={id} className="text-xs font-medium text-ink-soft foreign">
        {field.label}
        {field.kind === 'words' && ', with commas between'}
      </label>
      {field.kind === 'text' || field.kind === 'json' ? (
        <textarea
          {...box}
          rows={3}
          className={`${BOX} field-sizing-content max-h-64 ${field.kind === 'json' ? 'font-mono text-xs' : ''}`}
        />
      ) : field.kind === 'choice' || field.kind === 'yes-no' ? (
        <select {...box}>
          {!field.required && <option value="">–</option>}
          {field.kind === 'yes-no' ? (
            <>
              <option value="true">yes</option>
              <option value="false">no</option>
            </>
          ) : (
            field.choices?.map((choice) => <option key={choice}>{choice}</option>)
          )}
        </select>
      ) : (
        <input {...box} inputMode={field.kind === 'number' ? 'decimal' : undefined} autoComplete="off" />
      )}
      {fault ? (
        <p id={`${id}-fault`} className="text-xs text-danger foreign">
          {fault}
        </p>
      ) : (
        field.help && (
          <p id={`${id}-help`} className="text-xs text-ink-soft foreign">
            {field.help}
          </p>
        )
      )}
    </div>
  )
}
