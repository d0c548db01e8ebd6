// The journal: what is open and what was, narrowed by what the person looks for.
import { useEffect, useState } from 'preact/hooks'
import { Age } from './age.tsx'
import { get, Refusal, serverNow, type RequestAt, type ResponseAt } from './api.ts'
import { useResource } from './resource.ts'
import { linkTo, type Route } from './route.ts'
import { Section } from './section.tsx'
import { Table } from './table.tsx'
import { Amount, Badge, Text } from './text.tsx'
import { TransactionDetails } from './transaction.tsx'
import { takeIntoList } from './transaction-events.ts'
import { linkOf, toneOf, wordsOf, type Transaction } from './transaction-words.ts'

type Filter = RequestAt<'GET', '/transactions'>

/** What can be looked for: the name of the field, and the words beside it. */
const fields = [
  ['pair', 'Pair', 'WETH-USDC'],
  ['client', 'Client', ''],
  ['connector', 'Connector', ''],
  ['txHash', 'Hash', '0x…'],
  ['requestId', 'Request', ''],
  ['since', 'Since', '2026-01-31'],
  ['until', 'Until', '2026-02-28'],
] as const

const choices = [
  ['state', 'State', ['QUEUED', 'SIGNED', 'BROADCAST', 'MINED', 'CONFIRMED', 'REVERTED', 'REPLACED', 'CANCELLED', 'DROPPED', 'EXPIRED']],
  ['kind', 'Kind', ['trade', 'liquidity', 'position', 'order', 'approve', 'wrap', 'send', 'cancel']],
] as const

const names = [...fields, ...choices].map(([name]) => name)

export function Transactions({ route: { query } }: { route: Route }) {
  const filter = Object.fromEntries(names.flatMap((name) => (query[name] ? [[name, query[name]]] : []))) as Filter
  return (
    <>
      {query['open'] !== undefined && (
        <TransactionDetails id={query['open']} requestId={query['request'] ?? ''} at={momentIn(query['at'])} back={filter} />
      )}
      <Search filter={filter} />
      <TransactionList title="Transactions" filter={filter} />
    </>
  )
}

/** Of a link; whoever wrote it by hand may have left it out. */
const momentIn = (text = ''): number | undefined => (/^\d{1,15}$/.test(text) ? Number(text) : undefined)

function Search({ filter }: { filter: Filter }) {
  const search = (event: SubmitEvent): void => {
    event.preventDefault()
    const given = new FormData(event.currentTarget as HTMLFormElement)
    location.hash = linkTo('transactions', Object.fromEntries(names.map((name) => [name, textIn(given, name)])))
  }
  return (
    <form class="search" onSubmit={search} aria-label="Find transactions" key={JSON.stringify(filter)}>
      {fields.map(([name, label, example]) => (
        <label>
          {label}
          <input name={name} placeholder={example} defaultValue={filter[name] ?? ''} autocomplete="off" spellcheck={false} />
        </label>
      ))}
      {choices.map(([name, label, values]) => (
        <label>
          {label}
          <select name={name} defaultValue={filter[name] ?? ''}>
            <option value="">any</option>
            {values.map((value) => (
              <option value={value}>{value}</option>
            ))}
          </select>
        </label>
      ))}
      <div class="buttons">
        <button type="submit">Find</button>
        <a href={linkTo('transactions')}>Show all</a>
      </div>
    </form>
  )
}

const textIn = (form: FormData, name: string): string => {
  const value = form.get(name)
  return typeof value === 'string' ? value.trim() : ''
}

export function TransactionList({ title, filter, perPage = 50 }: { title: string; filter: Filter; perPage?: number }) {
  const first = useResource(
    '/transactions',
    { ...filter, limit: perPage },
    {
      // Events tell what is new.
      everySeconds: 120,
      after: { transactions: takeIntoList(filter) },
      pauseSeconds: 5,
    },
  )
  const [older, setOlder] = useState<{ rows: Transaction[]; cursor?: string | undefined; refusal?: string }>()
  const key = JSON.stringify(filter)
  useEffect(() => setOlder(undefined), [key])
  // What was not final goes on, also on pages that were asked for before.
  useEffect(() => {
    const [from, shown] = [first.data?.transactions.at(-1)?.id, older?.rows ?? []]
    if (from === undefined || shown.every(({ final }) => final)) return
    let isOver = false
    void readAfter({ ...filter, limit: perPage }, from, shown.length).then(
      (read) => !isOver && setOlder(read),
      () => {}, // What is shown stays: the first page says that the server does not answer.
    )
    return () => void (isOver = true)
  }, [first.at])
  return (
    <Section title={title} of={first}>
      {({ transactions: listed, nextCursor, unavailable = [] }) => {
        // With older ones below, those that events have pushed on stay in between.
        const transactions = older ? listed : listed.slice(0, perPage)
        const known = new Set(transactions.map(({ id }) => id))
        const rows = [...transactions, ...(older?.rows ?? []).filter(({ id }) => !known.has(id))]
        const cursor = older ? older.cursor : transactions.length < listed.length ? transactions.at(-1)?.id : nextCursor
        const more = () =>
          void get('/transactions', { ...filter, limit: perPage, cursor }).then(
            (page) => setOlder({ rows: [...(older?.rows ?? transactions), ...page.transactions], cursor: page.nextCursor }),
            (error: unknown) =>
              setOlder({ rows: older?.rows ?? [], cursor, refusal: error instanceof Refusal ? error.message : String(error) }),
          )
        return (
          <>
            <TransactionTable rows={rows} filter={filter} />
            {unavailable.length > 0 && <p class="refusal">{unavailable.length} are damaged in the store and are not shown.</p>}
            {older?.refusal !== undefined && (
              <p class="refusal">
                <Text of={older.refusal} />
              </p>
            )}
            {cursor !== undefined && (
              <button type="button" onClick={more}>
                Show older ones
              </button>
            )}
          </>
        )
      }}
    </Section>
  )
}

/** Those before a transaction, at least as many as were shown. */
async function readAfter(filter: Filter, id: string, count: number): Promise<{ rows: Transaction[]; cursor?: string | undefined }> {
  const rows: Transaction[] = []
  let cursor: string | undefined = id
  while (cursor !== undefined && rows.length < count) {
    const page: ResponseAt<'GET', '/transactions'> = await get('/transactions', { ...filter, cursor })
    rows.push(...page.transactions)
    cursor = page.nextCursor
  }
  return { rows, cursor }
}

const TransactionTable = ({ rows, filter }: { rows: readonly Transaction[]; filter: Filter }) => (
  <Table
    caption="Transactions, newest first"
    none="None."
    rows={rows}
    keyOf={({ id }) => id}
    columns={[
      { name: 'When', cell: ({ createdAt }) => <Age of={createdAt} /> },
      {
        name: 'What',
        cell: (row) => (
          <a href={linkTo('transactions', { ...(filter as Record<string, string>), ...linkOf(row) })}>
            <Text of={wordsOf(row)} max={80} />
          </a>
        ),
      },
      { name: 'Kind', cell: ({ kind }) => kind },
      { name: 'Where', cell: ({ connector, chain, network }) => <Text of={`${connector ?? ''} ${chain}/${network}`.trim()} /> },
      { name: 'Client', cell: ({ client = '' }) => <Text of={client} max={40} /> },
      { name: 'State', cell: (row) => <Badge tone={toneOf(row, serverNow())}>{row.txState}</Badge> },
      { name: 'Price', end: true, cell: ({ fill }) => <Amount of={fill && 'price' in fill ? fill.price : undefined} /> },
      { name: 'Fee', end: true, cell: ({ cost }) => <Amount of={cost?.fee} unit={cost?.feeToken} /> },
    ]}
  />
)
