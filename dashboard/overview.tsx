// The first view: what needs somebody, what is stopped, the networks, and what was done last.
import { useCaller } from './act.tsx'
import { serverNow } from './api.ts'
import { useApprovals } from './approvals.tsx'
import { attention, type Item } from './attention.ts'
import { nearLimit, shareUsed, useLimits } from './clients.tsx'
import { Networks, useNetworks } from './networks.tsx'
import { usePlugins } from './plugins.tsx'
import { useResource } from './resource.ts'
import { linkTo } from './route.ts'
import { Stops, useStops } from './stops.tsx'
import { Badge, Text } from './text.tsx'
import { TransactionList } from './transactions.tsx'
import { usePortfolio } from './wallets.tsx'

/** Those that are not mined yet. What is older than a page of each is not needed to see that something is wrong. */
function useOpen() {
  const pages = (['QUEUED', 'SIGNED', 'BROADCAST'] as const).map((state) =>
    // oxlint-disable-next-line react/rules-of-hooks -- always the same three
    useResource('/transactions', { state, limit: 50 }, { everySeconds: 60, topics: ['transactions'] }),
  )
  return pages.flatMap(({ data }) => data?.transactions ?? [])
}

export function Overview() {
  return (
    <>
      <Attention />
      <Stops />
      <Networks />
      <TransactionList title="Recent transactions" filter={{}} />
    </>
  )
}

function Attention() {
  const caller = useCaller()
  const open = useOpen()
  const answers = [
    useNetworks(),
    usePortfolio(),
    useApprovals(),
    usePlugins(),
    useStops(),
    useResource('/health/ready', {}, { everySeconds: 30 }),
  ] as const
  const [networks, portfolio, approvals, plugins, stops, health] = answers
  const items = attention({
    now: serverNow(),
    open,
    networks: networks.data,
    portfolio: portfolio.data,
    approvals: approvals.data,
    plugins: plugins.data,
    stops: stops.data,
    health: health.data,
  })
  const isLoading = answers.some(({ data, refusal }) => data === undefined && refusal === undefined)
  return (
    <section aria-labelledby="section-attention">
      <header>
        <h2 id="section-attention">Needs attention</h2>
      </header>
      <ul class="attention">
        {items.map((item) => (
          <ItemLine key={item.text} of={item} />
        ))}
        {caller.data?.clients.map((client) => (
          <LimitItems key={client} client={client} isCaller={client === caller.data?.client} />
        ))}
      </ul>
      <p class="none">{isLoading ? 'Looking…' : 'Nothing.'}</p>
    </section>
  )
}

const ItemLine = ({ of: { tone, text, link } }: { of: Item }) => (
  <li>
    <Badge tone={tone}>{tone === 'bad' ? 'now' : 'soon'}</Badge>{' '}
    <a href={link}>
      <Text of={text} />
    </a>
  </li>
)

function LimitItems({ client, isCaller }: { client: string; isCaller: boolean }) {
  const { data } = useLimits(isCaller ? undefined : client)
  const near = (data?.limits ?? []).flatMap((limit) => {
    const share = shareUsed(limit)
    return share === undefined || share < nearLimit ? [] : [{ ...limit, share }]
  })
  return (
    <>
      {near.map(({ limit, share }) => (
        <ItemLine
          key={limit}
          of={{
            tone: share >= 1 ? 'bad' : 'warn',
            text: `${client} has used ${Math.round(share * 100)} % of ${limit}`,
            link: linkTo('clients'),
          }}
        />
      ))}
    </>
  )
}
