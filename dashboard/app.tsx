// The page: where one is, whether events come, and the view that the address names.
import { useEffect, useRef, useState } from 'preact/hooks'
import { onStreamState } from './events.ts'
import { Networks } from './networks.tsx'
import { linkTo, useRoute, type Route } from './route.ts'
import { Transactions, TransactionList } from './transactions.tsx'

const views: Readonly<Record<string, { readonly title: string; show(route: Route): preact.ComponentChildren }>> = {
  '': {
    title: 'Overview',
    show: () => (
      <>
        <Networks />
        <TransactionList title="Recent transactions" filter={{}} />
      </>
    ),
  },
  transactions: { title: 'Transactions', show: (route) => <Transactions route={route} /> },
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

function StreamState() {
  const [isOpen, set] = useState<boolean>()
  useEffect(() => onStreamState(set), [])
  const words = isOpen === undefined ? 'connecting' : isOpen ? 'live' : 'no connection: what is shown may be old'
  return (
    <p role="status" class={isOpen === false ? 'stream lost' : 'stream'}>
      {words}
    </p>
  )
}
