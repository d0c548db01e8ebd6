// What is stopped, and stopping and lifting it: for all, a wallet or a client.
import { Age } from './age.tsx'
import { Act, useMay, useMayStop } from './act.tsx'
import { del, post, type ResponseAt } from './api.ts'
import { useResource } from './resource.ts'
import { Section } from './section.tsx'
import { Table } from './table.tsx'
import { Badge, plain, Text } from './text.tsx'

type Stop = ResponseAt<'GET', '/stops'>['stops'][number]
/** Of a wallet, a client, or all where it is empty. */
export interface StopScope {
  readonly address?: string
  readonly client?: string
}

export const useStops = () => useResource('/stops', {}, { everySeconds: 60, askAfter: { stops: () => true } })

export const heldBy = ({ of, address, client }: Stop): string => (of === 'all' ? 'everything' : `${of} ${client ?? address ?? ''}`)

const meaning = {
  stop: 'Only cancels go through then.',
  'reduce-only': 'Only what cancels, closes, removes, repays or revokes goes through then.',
} as const

export function StopButtons({ scope, name }: { scope: StopScope; name: string }) {
  if (!useMayStop(scope.client)) return null
  return (
    <>
      {(['stop', 'reduce-only'] as const).map((mode) => (
        <Act
          label={mode === 'stop' ? 'Stop' : 'Reduce only'}
          about={name}
          danger
          question={
            <p>
              This holds <Text of={name} />. {meaning[mode]}
            </p>
          }
          act={async () => {
            await post('/stops', { mode, ...scope, reason: 'from the dashboard' })
            return `${mode} is set.`
          }}
        />
      ))}
    </>
  )
}

export function Stops() {
  const stops = useStops()
  const mayResume = useMay('resume')
  return (
    <Section title="Stopped" of={stops} aside={<StopButtons scope={{}} name="everything" />}>
      {({ stops: rows }) => (
        <Table
          caption="What is stopped"
          none="Nothing is stopped."
          rows={rows}
          keyOf={(row) => `${row.mode} ${heldBy(row)} ${row.file ?? ''}`}
          columns={[
            { name: 'Mode', cell: ({ mode }) => <Badge tone="bad">{mode}</Badge> },
            { name: 'Holds', cell: (row) => <Text of={heldBy(row)} /> },
            { name: 'By', cell: ({ setBy }) => <Text of={setBy} /> },
            { name: 'Since', cell: ({ since }) => <Age of={since} /> },
            {
              name: 'Reason',
              cell: ({ reason = '', file }) => <Text of={file === undefined ? reason : `${reason} (the file ${file})`.trim()} />,
            },
            { name: '', cell: (row) => mayResume && row.file === undefined && <Resume of={row} /> },
          ]}
        />
      )}
    </Section>
  )
}

const Resume = ({ of }: { of: Stop }) => (
  <Act
    label="Resume"
    about={heldBy(of)}
    question={
      <p>
        This lifts {of.mode} for <Text of={heldBy(of)} />: what it held goes through again.
      </p>
    }
    act={async () => {
      const { mode, address, client } = of
      const { lifted } = await del('/stops', { mode, ...(address !== undefined && { address }), ...(client !== undefined && { client }) })
      return lifted.length > 0 ? 'Lifted.' : `Nothing was in force for ${plain(heldBy(of))} any more.`
    }}
  />
)
