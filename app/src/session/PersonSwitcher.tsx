import { UserRound } from 'lucide-react'
import { useState } from 'react'
import { Button } from '../ui/Button'
import { Dialog } from '../ui/Dialog'
import { Menu } from '../ui/Menu'
import { becomeDevPerson, DEV_PEOPLE, isName } from './person'
import { isDev, signOut, whoAmI } from './session'

/** Who this window belongs to; on a developer's machine, also a way to be somebody else. */
export function PersonSwitcher() {
  const [asking, setAsking] = useState(false)
  const { user } = whoAmI()
  const leave = signOut()
  const items = isDev()
    ? [
        ...DEV_PEOPLE.map((name) => ({ label: name, checked: name === user, onSelect: () => becomeDevPerson(name) })),
        { label: 'Somebody else…', onSelect: () => setAsking(true) },
      ]
    : [{ label: 'Sign out', onSelect: () => void leave?.() }]
  return (
    <>
      <Menu
        label={`You are ${user}. Change person`}
        trigger={
          <Button quiet>
            <UserRound size={16} aria-hidden />
            <span className="max-w-32 truncate">{user}</span>
          </Button>
        }
        items={items}
      />
      <Dialog open={asking} onOpenChange={setAsking} title="Be somebody else in this tab">
        <form
          className="flex gap-2"
          onSubmit={(event) => {
            event.preventDefault()
            const name = String(new FormData(event.currentTarget).get('name')).trim()
            if (isName(name)) becomeDevPerson(name)
          }}
        >
          <input
            name="name"
            aria-label="Name"
            placeholder="a name, such as cleo"
            pattern="[\w:~\-]{1,128}"
            title="Letters, digits and _ : ~ -"
            required
            className="min-w-0 flex-1 rounded-md border border-line-strong bg-panel px-3 py-1.5"
          />
          <Button type="submit" primary>
            Continue
          </Button>
        </form>
      </Dialog>
    </>
  )
}
