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
  const { user, name = user } = whoAmI()
  const leave = signOut()
  const items = isDev()
    ? [
        ...DEV_PEOPLE.map((one) => ({ label: one, checked: one === user, onSelect: () => becomeDevPerson(one) })),
        { label: 'Somebody else…', onSelect: () => setAsking(true) },
      ]
    : [{ label: 'Sign out', onSelect: () => void leave?.() }]
  return (
    <>
      <Menu
        label={isDev() ? `You are ${name}. Change person` : `You are ${name}. Account`}
        trigger={
          <Button quiet>
            <UserRound size={16} aria-hidden />
            <span className="max-w-32 truncate foreign">{name}</span>
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
