import { usePlace } from '../layout/usePlace'
import { EmailList } from './EmailList'
import { EmailView } from './EmailView'

/** The list, or the open email in its place. */
export function InboxPane() {
  const { email } = usePlace()
  return email ? <EmailView key={email} id={email} /> : <EmailList />
}
