// What the server tells people of by itself, and keeping it from telling for a while.
import { useState } from 'preact/hooks'
import { Act, useMay } from './act.tsx'
import { duration } from './age.tsx'
import { del, post, serverNow, type ResponseAt } from './api.ts'
import { useResource, type Resource } from './resource.ts'
import { Section } from './section.tsx'
import { Table } from './table.tsx'
import { plain, Text } from './text.tsx'

type Alerts = ResponseAt<'GET', '/alerts'>
export type Alert = Alerts['alerts'][number]
type Silence = Alerts['silences'][number]
type Scope = Pick<Silence, 'rule' | 'subject'>

/** Nothing is asked for without the permission. */
export const useAlerts = (): Resource<Alerts> => useResource(useMay('admin') ? '/alerts' : undefined, {}, { everySeconds: 30 })

const scopeWords = ({ rule = 'all alerts', subject }: Scope): string => (subject === undefined ? rule : `${rule} ${subject}`)
const fieldsOf = ({ rule, subject }: Scope) => ({ ...(rule !== undefined && { rule }), ...(subject !== undefined && { subject }) })

/** That people are told of what is shown beside it. */
export function AlertMark({ of }: { of: Alert }) {
  const { rule, subject, silenced } = of
  return (
    <small>
      {' '}
      alert <Text of={rule} max={40} /> {silenced ? 'silenced' : <SilenceButton of={{ rule, subject }} />}
    </small>
  )
}

const choices = [
  [60, '1 hour'],
  [8 * 60, '8 hours'],
  [24 * 60, '1 day'],
  [7 * 24 * 60, '1 week'],
] as const

function SilenceButton({ of }: { of: Scope }) {
  const alerts = useAlerts()
  const [minutes, choose] = useState<number>(choices[0][0])
  return (
    <Act
      label="Silence"
      about={scopeWords(of)}
      question={
        <>
          <p>
            Nobody is told of <Text of={scopeWords(of)} />, by no server on the store. What lasts longer is told then.
          </p>
          <label>
            For{' '}
            <select value={minutes} onChange={({ currentTarget }) => choose(Number(currentTarget.value))}>
              {choices.map(([value, words]) => (
                <option value={value}>{words}</option>
              ))}
            </select>
          </label>
        </>
      }
      act={async () => {
        await post('/alerts/silences', { ...fieldsOf(of), minutes, reason: 'from the dashboard' })
        alerts.reload()
        return 'Silenced.'
      }}
    />
  )
}

/** Where nobody is told of anything there is nothing to silence. */
export function Silences() {
  const alerts = useAlerts()
  if (!alerts.data?.enabled) return null
  return (
    <Section title="Silenced alerts" of={alerts} aside={<SilenceButton of={{}} />}>
      {({ silences }) => (
        <Table
          caption="Silenced alerts"
          none="Nothing is silenced."
          rows={silences}
          keyOf={(row) => scopeWords(row)}
          columns={[
            { name: 'What', cell: (row) => <Text of={scopeWords(row)} /> },
            { name: 'For', cell: ({ until }) => duration(Math.max(0, until - serverNow()) / 1000) },
            { name: 'By', cell: ({ setBy }) => <Text of={setBy} /> },
            { name: 'Reason', cell: ({ reason = '' }) => <Text of={reason} /> },
            { name: '', cell: (row) => <EndSilence of={row} reload={alerts.reload} /> },
          ]}
        />
      )}
    </Section>
  )
}

const EndSilence = ({ of, reload }: { of: Silence; reload(): void }) => (
  <Act
    label="End"
    about={`the silence of ${scopeWords(of)}`}
    question={
      <p>
        People are told of <Text of={scopeWords(of)} /> again.
      </p>
    }
    act={async () => {
      const { lifted } = await del('/alerts/silences', fieldsOf(of))
      reload()
      return lifted.length > 0 ? 'Ended.' : `Nothing was silenced for ${plain(scopeWords(of))} any more.`
    }}
  />
)
