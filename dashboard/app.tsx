// The page: where one is, whether events come, and the view that the address names.
import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { useCaller } from './act.tsx'
import { Activity } from './activity.tsx'
import { Approvals } from './approvals.tsx'
import { Clients } from './clients.tsx'
import { onStreamState } from './events.ts'
import { Overview } from './overview.tsx'
import { Plugins } from './plugins.tsx'
import { Positions } from './positions.tsx'
import { linkTo, useRoute, type Route } from './route.ts'
import { Text } from './text.tsx'
import { Transactions } from './transactions.tsx'
import { Wallets } from './wallets.tsx'

const views: Readonly<Record<string, { readonly title: string; show(route: Route): ComponentChildren }>> = {
  '': { title: 'Overview', show: () => <Overview /> },
  wallets: { title: 'Wallets', show: () => <Wallets /> },
  transactions: { title: 'Transactions', show: (route) => <Transactions route={route} /> },
  positions: { title: 'Positions', show: () => <Positions /> },
  clients: { title: 'Clients', show: () => <Clients /> },
  approvals: { title: 'Approvals', show: () => <Approvals /> },
  plugins: { title: 'Plugins', show: () => <Plugins /> },
  activity: { title: 'Activity', show: () => <Activity /> },
}

export function App() {
  const route = useRoute()
  const view = views[route.view] ?? views['']
  const heading = useRef<HTMLHeadingElement>(null)
  const isFirst = useRef(true)
  useEffect(() => {
    document.title = `${view?.title} · Sluice`
    // A reader of the screen is told of the new view; who has just come is not moved.
    if (!isFirst.current) heading.current?.focus()
    isFirst.current = false
  }, [route.view])
  return (
    <>
      <a class="skip" href="#main" onClick={(event) => (event.preventDefault(), heading.current?.focus())}>
        To the content
      </a>
      <nav aria-label="Parts of the dashboard">
        <strong>Sluice</strong>
        <ul>
          {Object.entries(views).map(([name, { title }]) => (
            <li>
              <a href={linkTo(name)} aria-current={view?.title === title ? 'page' : undefined}>
                {title}
              </a>
            </li>
          ))}
        </ul>
        <WhoAmI />
        <StreamState />
      </nav>
      <main id="main">
        <h1 tabIndex={-1} ref={heading}>
          {view?.title}
        </h1>
        {view?.show(route)}
      </main>
    </>
  )
}

function WhoAmI() {
  const { data, refusal } = useCaller()
  if (!data && refusal) return <span class="refusal">what you may do is not known</span>
  return data ? (
    <span class="none">
      as <Text of={data.client} max={40} />
      {data.permissions.every((each) => each === 'read') && ', which may only look'}
    </span>
  ) : null
}

function StreamState() {
  const [isOpen, set] = useState<boolean>()
  const [isReplaced, setReplaced] = useState(false)
  useEffect(
    () =>
      onStreamState((open, isFirst) => {
        set(open)
        // A server that comes back may be of another release.
        if (open && !isFirst) void isOtherPage().then(setReplaced)
      }),
    [],
  )
  const words = isOpen === undefined ? 'connecting' : isOpen ? 'live' : 'no connection: what is shown may be old'
  return (
    <>
      <p role="status" class={isOpen === false ? 'stream lost' : 'stream'}>
        {words}
      </p>
      <p role="status" class="release">
        {isReplaced && (
          <>
            The server has another release of this page now.{' '}
            <button type="button" onClick={() => location.reload()}>
              Load it
            </button>
          </>
        )}
      </p>
    </>
  )
}

/** Whether the server's page runs another script than this one: its name changes with its content. */
async function isOtherPage(): Promise<boolean> {
  const own = document.querySelector('script[src]')?.getAttribute('src')
  const page = await fetch('/dashboard', { cache: 'no-cache' }).then(
    (answer) => (answer.ok ? answer.text() : undefined),
    () => undefined,
  )
  return page !== undefined && typeof own === 'string' && !page.includes(own)
}
