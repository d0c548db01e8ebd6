// Clients, which are bots and people: what is left of each limit, and what they did and earned in the last day.
import { useState } from 'preact/hooks'
import { Age, until } from './age.tsx'
import { useCaller } from './act.tsx'
import { serverNow, type ResponseAt } from './api.ts'
import { useResource, useResources } from './resource.ts'
import { linkTo } from './route.ts'
import { Section } from './section.tsx'
import { StopButtons } from './stops.tsx'
import { Table } from './table.tsx'
import { Amount, Badge, Text } from './text.tsx'
import { linkOf, wordsOf } from './transaction-words.ts'

export type Limit = ResponseAt<'GET', '/limits'>['limits'][number]

/** Of clients, in their order. Of oneself it needs no permission. */
export const useLimits = (clients: readonly string[], caller: string | undefined) =>
  useResources(
    '/limits',
    clients.map((client) => ({
      request: client === caller ? {} : { client },
      everySeconds: 60,
      pauseSeconds: 20,
      askAfter: { transactions: (told) => told.client === client },
    })),
  )

/** From 0 to 1, and more where it is over. A share for people, and no amount. */
export function shareUsed({ used, allowed }: { used?: string | undefined; allowed: string }): number | undefined {
  const share = Number(used) / Number(allowed)
  return Number.isFinite(share) ? share : undefined
}
export const nearLimit = 0.8

export function Clients() {
  const caller = useCaller()
  return (
    <>
      {caller.data?.clients.map((client) => <Client key={client} name={client} isCaller={client === caller.data?.client} />) ?? (
        <Section title="Clients" of={caller}>
          {() => null}
        </Section>
      )}
      {caller.data && <Certificates />}
    </>
  )
}

const Certificates = () => (
  <Section title="Certificates" of={useCaller()}>
    {({ certificates = [] }) => (
      <Table
        caption="Certificates"
        none="When certificates end is not known here."
        rows={certificates}
        keyOf={({ name }) => name}
        columns={[
          { name: 'Certificate', cell: ({ name }) => <Text of={name} max={64} /> },
          {
            name: 'Expires',
            cell: ({ expiresAt }) => (expiresAt < serverNow() ? <Badge tone="bad">expired</Badge> : <>in {until(expiresAt)}</>),
          },
        ]}
      />
    )}
  </Section>
)

function Client({ name, isCaller }: { name: string; isCaller: boolean }) {
  const [limits = { reload: () => {} }] = useLimits([name], isCaller ? name : undefined)
  const [showsBook, show] = useState(false)
  return (
    <Section title={name} of={limits} aside={<StopButtons scope={{ client: name }} name={`client ${name}`} />}>
      {({ limits: rows, problems = [] }) => (
        <>
          {problems.map((problem) => (
            <p class="refusal">
              <Text of={problem} />
            </p>
          ))}
          <Table
            caption={`Limits of ${name}`}
            none="It has no limits."
            rows={rows}
            keyOf={({ limit, chain, network, unit, window }) => [limit, chain, network, unit, window].join(' ')}
            columns={[
              {
                name: 'Limit',
                cell: ({ limit, chain, network }) => <Text of={`${limit}${chain === undefined ? '' : ` on ${chain}/${network}`}`} />,
              },
              {
                name: 'Allowed',
                end: true,
                cell: ({ allowed, unit }) => <Amount of={allowed} unit={unit === 'list' ? undefined : unit} />,
              },
              { name: 'Used', end: true, cell: ({ used }) => <Amount of={used} /> },
              { name: 'Left', end: true, cell: ({ left }) => <Amount of={left} /> },
              { name: 'State', cell: (row) => <Share of={shareUsed(row)} /> },
              { name: 'Free again', cell: ({ freesAt, window }) => (freesAt === undefined ? (window ?? '') : `in ${until(freesAt)}`) },
            ]}
          />
          <p class="buttons">
            <a href={linkTo('transactions', { client: name })}>Its transactions</a>
            <button type="button" aria-expanded={showsBook} onClick={() => show(!showsBook)}>
              Profit, volume and failures of the last day
              <span class="unseen"> of {name}</span>
            </button>
          </p>
          {showsBook && (
            <>
              <Book client={name} />
              <Failures client={name} />
            </>
          )}
        </>
      )}
    </Section>
  )
}

const Share = ({ of }: { of: number | undefined }) =>
  of === undefined ? <>–</> : <Badge tone={of >= 1 ? 'bad' : of >= nearLimit ? 'warn' : 'good'}>{`${Math.round(of * 100)} % used`}</Badge>

/** The hour that began a day ago: the same question for an hour, so that the server reads the journal once. */
const dayBefore = (): string => new Date(Math.floor(serverNow() / 3_600_000) * 3_600_000 - 86_400_000).toISOString()

function Book({ client }: { client: string }) {
  const { data, refusal } = useResource(
    '/books',
    { client },
    { everySeconds: (book) => (book?.complete ? 60 : 5), asOfNow: () => ({ since: dayBefore() }) },
  )
  if (!data) return <p class={refusal ? 'refusal' : 'none'}>{refusal ? <Text of={refusal.message} /> : 'Loading…'}</p>
  if (!data.complete) return <p class="none">The journal is being read: {Math.round((data.part ?? 0) * 100)} %.</p>
  return (
    <Table
      caption={`Profit and volume of ${client}`}
      none="Nothing was traded in the last day."
      rows={data.pairs}
      keyOf={({ chain, network, base, quote, connector }) => [chain, network, base, quote, connector].join(' ')}
      columns={[
        { name: 'Pair', cell: ({ base, quote }) => <Text of={`${base}-${quote}`} /> },
        { name: 'Trades', end: true, cell: ({ trades }) => trades },
        { name: 'Paid', end: true, cell: ({ spent, quote }) => <Amount of={spent} unit={quote} /> },
        { name: 'Received', end: true, cell: ({ received, quote }) => <Amount of={received} unit={quote} /> },
        { name: 'Profit made', end: true, cell: ({ realized, quote }) => <Amount of={realized.averageCost} unit={quote} /> },
        { name: 'Profit open', end: true, cell: ({ unrealized, quote }) => <Amount of={unrealized?.averageCost} unit={quote} /> },
      ]}
    />
  )
}

const failed = ['REVERTED', 'DROPPED', 'EXPIRED'] as const
const mostFailures = 20

/** What was asked for and never came to pass. */
function Failures({ client }: { client: string }) {
  const since = dayBefore()
  const lists = useResources(
    '/transactions',
    failed.map((state) => ({
      request: { client, state, since, limit: mostFailures },
      everySeconds: 300,
      pauseSeconds: 5,
      askAfter: { transactions: (told) => told.client === client && told.txState === state },
    })),
  )
  const [refusal] = lists.flatMap((each) => each.refusal ?? [])
  const rows = lists.flatMap(({ data }) => data?.transactions ?? []).toSorted((one, other) => other.createdAt - one.createdAt)
  return (
    <>
      {refusal && (
        <p class="refusal">
          <Text of={refusal.message} />
        </p>
      )}
      {lists.some(({ data }) => data?.nextCursor !== undefined) && <p class="none">The newest {mostFailures} of a state are listed.</p>}
      {lists.every(({ data }) => data !== undefined) && (
        <Table
          caption={`Failures of ${client}`}
          none="Nothing failed in the last day."
          rows={rows}
          keyOf={({ id }) => id}
          columns={[
            { name: 'When', cell: ({ createdAt }) => <Age of={createdAt} /> },
            {
              name: 'What failed',
              cell: (row) => (
                <a href={linkTo('transactions', linkOf(row))}>
                  <Text of={wordsOf(row)} max={80} />
                </a>
              ),
            },
            { name: 'State', cell: ({ txState }) => <Badge tone="bad">{txState}</Badge> },
            { name: 'Why', cell: ({ reason = '–' }) => <Text of={reason} max={160} /> },
          ]}
        />
      )}
    </>
  )
}
