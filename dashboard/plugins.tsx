// Plugins: what runs, who allowed it, and what is quarantined.
import { Act, useMay } from './act.tsx'
import { post, type ResponseAt } from './api.ts'
import { useResource } from './resource.ts'
import { Section } from './section.tsx'
import { Table } from './table.tsx'
import { Badge, plain, Text } from './text.tsx'

export type Plugin = ResponseAt<'GET', '/plugins'>[number]

export const usePlugins = () => useResource('/plugins', {}, { everySeconds: 120, askAfter: { plugins: () => true } })

export function Plugins() {
  const plugins = usePlugins()
  const mayLift = useMay('admin')
  return (
    <Section title="Plugins" of={plugins}>
      {(rows) => (
        <Table
          caption="Plugins"
          none="None."
          rows={rows.toSorted((one, other) => rank(one) - rank(other) || one.name.localeCompare(other.name))}
          keyOf={({ name, kind }) => `${kind} ${name}`}
          columns={[
            { name: 'Plugin', cell: ({ name }) => <Text of={name} max={64} /> },
            { name: 'Kind', cell: ({ kind }) => kind },
            { name: 'Version', cell: ({ version }) => <Text of={version} max={40} /> },
            { name: 'Tier', cell: ({ tier = '–' }) => tier },
            { name: 'Allowed by', cell: ({ allowedBy = '–', sha256 }) => <span title={sha256 && plain(sha256)}>{allowedBy}</span> },
            { name: 'State', cell: (row) => <State of={row} /> },
            { name: '', cell: (row) => mayLift && row.quarantine && <Lift of={row} /> },
          ]}
        />
      )}
    </Section>
  )
}

/** What needs somebody comes first, then what is not built in. */
const rank = ({ quarantine, state, tier }: Plugin): number => {
  if (quarantine) return 0
  if (state === 'refused') return 1
  return tier === 'built in' ? 3 : 2
}

function State({ of: { state, quarantine, reason, notTakenUp, starting = [] } }: { of: Plugin }) {
  const words = reason ?? notTakenUp
  return (
    <>
      {quarantine ? (
        <Badge tone="bad">quarantined</Badge>
      ) : (
        <Badge tone={state === 'loaded' ? 'good' : state === 'refused' ? 'bad' : 'calm'}>{state}</Badge>
      )}{' '}
      {starting.length > 0 && `starting on ${plain(starting.join(', '))}`}
      {words !== undefined && <Text of={words} max={500} />}
      {quarantine?.lost.map(({ token, symbol, amount, how }) => (
        <div>
          <Text of={`${amount} ${symbol ?? token} ${how}`} />
        </div>
      ))}
    </>
  )
}

const Lift = ({ of: { name } }: { of: Plugin }) => (
  <Act
    label="Lift"
    about={`the quarantine of ${name}`}
    danger
    question={<p>A mined transaction of it did more than its plan was allowed. Lift this only after you have looked at what it did.</p>}
    act={async () => {
      const { lifted } = await post('/plugins/lift', { plugin: name })
      return `Lifted: ${lifted.length}.`
    }}
  />
)
