// Requests that wait for a second person: what they would do, and the decision.
import { Age, until } from './age.tsx'
import { Act } from './act.tsx'
import { post, type ResponseAt } from './api.ts'
import { useResource } from './resource.ts'
import { Section } from './section.tsx'
import { Table } from './table.tsx'
import { Address, Amount, Badge, plain, Text } from './text.tsx'

type Approval = ResponseAt<'GET', '/approvals'>['approvals'][number]

export const useApprovals = () => useResource('/approvals', {}, { everySeconds: 60, topics: ['approvals'] })

export const isWaiting = ({ state }: Pick<Approval, 'state'>): boolean => state === 'waiting'

/** Each field of the request, so that nothing of it is approved unseen. */
const fieldsOf = ({ request }: Approval): string =>
  Object.entries(request)
    .map(([name, value]) => `${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ')

export function Approvals() {
  const approvals = useApprovals()
  return (
    <Section title="Waiting for a second person" of={approvals}>
      {({ approvals: rows, mayDecide }) => (
        <>
          {rows.filter(isWaiting).map((each) => (
            <Waiting key={each.id} of={each} mayDecide={mayDecide} />
          ))}
          {!rows.some(isWaiting) && <p class="none">Nothing waits.</p>}
          <h3>Before</h3>
          <Table
            caption="Requests that waited"
            none="None."
            rows={rows.filter((each) => !isWaiting(each))}
            keyOf={({ id }) => String(id)}
            columns={[
              { name: 'Number', cell: ({ id }) => id },
              { name: 'Client', cell: ({ client }) => <Text of={client} /> },
              { name: 'What', cell: (row) => <Text of={`${row.path} ${fieldsOf(row)}`} max={160} /> },
              { name: 'State', cell: ({ state }) => <Badge tone={state === 'done' ? 'good' : 'calm'}>{state}</Badge> },
              { name: 'By', cell: ({ decidedBy = '' }) => <Text of={decidedBy} /> },
              { name: 'Asked', cell: ({ madeAt }) => <Age of={madeAt} /> },
            ]}
          />
        </>
      )}
    </Section>
  )
}

function Waiting({ of, mayDecide }: { of: Approval; mayDecide: boolean }) {
  const { id, client, path, address, effect, madeAt, expiresAt, revoked } = of
  const name = `request ${id} of ${client}`
  return (
    <article aria-label={name}>
      <header>
        <h3>
          {id}: <Text of={`${path} of ${client}`} />
        </h3>
        {revoked && <Badge tone="bad">its certificate is revoked</Badge>}
        <span>
          asked <Age of={madeAt} />, ends in {until(expiresAt)}
        </span>
      </header>
      <p>
        <Text of={fieldsOf(of)} max={2_000} />
      </p>
      <dl class="facts">
        <div>
          <dt>Wallet</dt>
          <dd>
            <Address of={address} />
          </dd>
        </div>
        <Tokens name="Gives at most" of={effect.gives} />
        <Tokens name="Gets at least" of={effect.gets} />
        <Fact name="Worth" of={effect.valueGiven} />
        <Fact name="Loses against the market at most" of={effect.valueLost} />
        <Fact name="Fees at most" of={effect.maxFee} unit={effect.feeToken} />
      </dl>
      {mayDecide && !revoked && (
        <p class="buttons">
          <Decision label="Approve" of={of} name={name} />
          <Decision label="Deny" of={of} name={name} />
        </p>
      )}
    </article>
  )
}

const Decision = ({ label, of, name }: { label: 'Approve' | 'Deny'; of: Approval; name: string }) => (
  <Act
    label={label}
    about={name}
    danger={label === 'Approve'}
    question={
      <>
        <p>
          {label === 'Approve'
            ? 'It is planned anew within what is shown, and then signed.'
            : 'Nothing is signed for it, and its client is told.'}
        </p>
        <p>
          <Text of={`${of.path}: ${fieldsOf(of)}`} max={2_000} />
        </p>
      </>
    }
    act={async () => {
      const decided = await post(label === 'Approve' ? '/approvals/approve' : '/approvals/deny', { id: of.id })
      return `It is ${plain(decided.state)}.`
    }}
  />
)

const Fact = ({ name, of, unit }: { name: string; of: string | undefined; unit?: string | undefined }) =>
  of === undefined ? null : (
    <div>
      <dt>{name}</dt>
      <dd>
        <Amount of={of} unit={unit} />
      </dd>
    </div>
  )

const Tokens = ({
  name,
  of = [],
}: {
  name: string
  of?: readonly { token: string; symbol?: string | undefined; amount: string }[] | undefined
}) =>
  of.length === 0 ? null : (
    <div>
      <dt>{name}</dt>
      {of.map(({ token, symbol, amount }) => (
        <dd>
          <Amount of={amount} unit={symbol ?? token} />
        </dd>
      ))}
    </div>
  )
