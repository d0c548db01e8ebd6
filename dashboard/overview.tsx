// The first view: what needs somebody, what is stopped, the networks, and what was done last.
import { useCaller, useMay } from './act.tsx'
import { AlertMark, Silences, useAlerts } from './alerts.tsx'
import { serverNow } from './api.ts'
import { useApprovals } from './approvals.tsx'
import { attention, type Item, type Unread } from './attention.ts'
import { useLimits } from './clients.tsx'
import { Networks, useNetworks } from './networks.tsx'
import { usePlugins } from './plugins.tsx'
import { useResource, useResources, type Resource } from './resource.ts'
import { Stops, useStops } from './stops.tsx'
import { Badge, Text } from './text.tsx'
import { stuckMs } from './transaction-words.ts'
import { TransactionList } from './transactions.tsx'
import { usePortfolio } from './wallets.tsx'

/** Those that are not mined and were asked for longer ago than that usually takes: of many that are open, they are the last. */
const useStuck = () =>
  useResources(
    '/transactions',
    (['QUEUED', 'SIGNED', 'BROADCAST'] as const).map((state) => ({
      request: { state, limit: 20 },
      everySeconds: 60,
      isLater: true,
      askAfter: { transactions: ({ createdAt }) => serverNow() - createdAt > stuckMs },
      pauseSeconds: 20,
      asOfNow: () => ({ until: new Date(serverNow() - stuckMs).toISOString() }),
    })),
  )

export function Overview() {
  return (
    <>
      <Attention />
      <Stops />
      <Silences />
      <Networks />
      <TransactionList title="Recent transactions" filter={{}} perPage={20} />
    </>
  )
}

function Attention() {
  const caller = useCaller()
  const stuck = useStuck()
  const networks = useNetworks()
  const portfolio = usePortfolio()
  const approvals = useApprovals()
  const plugins = usePlugins()
  const stops = useStops()
  const health = useResource('/health/ready', {}, { everySeconds: 30 })
  const alerts = useAlerts()
  const mayAskForAlerts = useMay('admin')
  const clients = caller.data?.clients ?? []
  const limits = useLimits(clients, caller.data?.client)
  const sources: readonly (readonly [string, Resource<unknown>])[] = [
    ['The clients that you may see', caller],
    ['Networks', networks],
    ['Wallets and positions', portfolio],
    ['Requests that wait', approvals],
    ['Plugins', plugins],
    ['Stops', stops],
    ["The server's parts", health],
    ...(mayAskForAlerts ? [['Alerts', alerts] as const] : []),
    ...stuck.map((each) => ['Transactions that wait long', each] as const),
    ...limits.map((each, index) => [`Limits of ${clients[index]}`, each] as const),
  ]
  const items = attention({
    now: serverNow(),
    open: stuck.flatMap(({ data }) => data?.transactions ?? []),
    hasMoreOpen: stuck.some(({ data }) => data?.nextCursor !== undefined),
    networks: networks.data,
    portfolio: portfolio.data,
    approvals: approvals.data,
    plugins: plugins.data,
    stops: stops.data,
    health: health.data,
    certificates: caller.data?.certificates,
    limits: limits.flatMap(({ data }, index) => (data?.limits ?? []).map((limit) => ({ client: clients[index] ?? '', ...limit }))),
    alerts: alerts.data,
    unread: unreadOf(sources),
  })
  const isLoading = sources.some(([, { data, refusal }]) => data === undefined && refusal === undefined)
  return (
    <section aria-labelledby="section-attention">
      <header>
        <h2 id="section-attention">Needs attention</h2>
      </header>
      <ul class="attention">
        {items.map((item) => (
          <ItemLine key={item.text} of={item} />
        ))}
      </ul>
      <p class="none">{isLoading ? 'Looking…' : 'Nothing.'}</p>
      {caller.data?.permissions.includes('admin') === false && (
        <p class="none">Looked at were your own limits and wallets: those of others take the permission admin, or their wallets.</p>
      )}
    </section>
  )
}

/** Each once, by its name. */
function unreadOf(sources: readonly (readonly [string, Resource<unknown>])[]): Unread[] {
  const refused = sources.flatMap(([what, { refusal, at }]) => (refusal ? [{ what, reason: refusal.message, at }] : []))
  return [...new Map(refused.map((each) => [each.what, each])).values()]
}

const ItemLine = ({ of: { tone, text, link, alerts = [] } }: { of: Item }) => (
  <li>
    <Badge tone={tone}>{tone === 'bad' ? 'now' : 'soon'}</Badge>{' '}
    <a href={link}>
      <Text of={text} />
    </a>
    {alerts.map((alert) => (
      <AlertMark key={`${alert.rule} ${alert.subject}`} of={alert} />
    ))}
  </li>
)
