// Networks with the age of their newest block, and the state of each node.
import { useEffect, useState } from 'preact/hooks'
import { Age } from './age.tsx'
import { serverNow, type ResponseAt } from './api.ts'
import { onEvent, type EventData } from './events.ts'
import { useResource } from './resource.ts'
import { Section } from './section.tsx'
import { Table } from './table.tsx'
import { Badge, Text } from './text.tsx'

export type NetworkStatus = ResponseAt<'GET', '/network/status'>[number]
type Block = EventData<'blocks'>

export const useNetworks = () => useResource('/network/status', { inUse: true }, { everySeconds: 30 })

const placeOf = ({ chain, network }: { chain: string; network: string }): string => `${chain}/${network}`

/** The newest block of each network, as events tell them. */
function useBlocks(): ReadonlyMap<string, Block> {
  const [blocks, set] = useState<ReadonlyMap<string, Block>>(new Map())
  useEffect(() => onEvent('blocks', (block) => set((before) => new Map(before).set(placeOf(block), block))), [])
  return blocks
}

export function Networks() {
  const networks = useNetworks()
  const blocks = useBlocks()
  return (
    <Section title="Networks" of={networks}>
      {(rows) => (
        <Table
          caption="Networks"
          none="No network is in use: a request that names one starts it."
          rows={rows}
          keyOf={(row) => placeOf(row)}
          columns={[
            { name: 'Network', cell: (row) => <Text of={placeOf(row)} /> },
            { name: 'Block', end: true, cell: (row) => newest(row, blocks, networks.at)?.number ?? '–' },
            { name: 'Age', end: true, cell: (row) => ageOf(newest(row, blocks, networks.at)) },
            {
              name: 'State',
              cell: ({ error }) =>
                error === undefined ? (
                  <Badge tone="good">answers</Badge>
                ) : (
                  <>
                    <Badge tone="calm">down</Badge> <Text of={error} />
                  </>
                ),
            },
            { name: 'Nodes', cell: ({ nodes = [] }) => nodes.map((node) => <Node key={node.url} of={node} />) },
          ]}
        />
      )}
    </Section>
  )
}

const Node = ({ of: { url, state, inUse, latencyMs, lagBlocks = 0, trouble } }: { of: NonNullable<NetworkStatus['nodes']>[number] }) => (
  <div>
    <Badge tone={state === 'good' ? 'good' : 'warn'}>
      <Text of={state} max={40} />
    </Badge>{' '}
    <Text of={url} max={60} /> {inUse && 'in use'} {latencyMs !== undefined && `${Math.round(latencyMs)} ms`}
    {lagBlocks > 0 && `, ${lagBlocks} blocks behind`}
    {trouble !== undefined && (
      <>
        : <Text of={trouble} />
      </>
    )}
  </div>
)

const ageOf = (block: { readonly timestamp: number } | undefined) =>
  block === undefined ? '–' : <Age of={block.timestamp * 1000} ago={false} />

/** By the last answer or by an event since. */
function newest(
  row: NetworkStatus,
  blocks: ReadonlyMap<string, Block>,
  at = serverNow(),
): { number: number; timestamp: number } | undefined {
  const told = blocks.get(placeOf(row))
  const { currentBlockNumber: number, currentBlockSeconds: seconds } = row
  if (told && told.number >= number) return told
  return number < 0 ? undefined : { number, timestamp: Math.floor(at / 1000) - seconds }
}
