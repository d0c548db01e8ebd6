// Requests that wait for a second person: what they would do, and the decision.
import { useEffect, useState } from 'preact/hooks'
import { Age, until } from './age.tsx'
import { Act } from './act.tsx'
import { get, post, type ResponseAt } from './api.ts'
import { useResource } from './resource.ts'
import { Section } from './section.tsx'
import { Table } from './table.tsx'
import { Address, Amount, Badge, plain, Text } from './text.tsx'

type Approval = ResponseAt<'GET', '/approvals'>['approvals'][number]

export const useApprovals = () => useResource('/approvals', {}, { everySeconds: 60, askAfter: { approvals: () => true } })

/** Also one that was approved and not carried out: its server may have died, and another takes it up once it is approved again. */
export const isWaiting = ({ state }: Pick<Approval, 'state'>): boolean => state === 'waiting' || state === 'approved'

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

/** Each field of the request, and each order of a batch, by itself: nothing of it is approved unseen. */
const rowsOf = ({ request }: Approval): { readonly name: string; readonly value: string }[] =>
  Object.entries(request).flatMap(([name, value]) =>
    Array.isArray(value)
      ? value.map((each: unknown, index) => ({ name: `${name} ${index + 1}`, value: textOf(each) }))
      : [{ name, value: textOf(value) }],
  )

/** In one line, of those that nobody decides any more. */
const fieldsOf = ({ request }: Approval): string =>
  Object.entries(request)
    .map(([name, value]) => `${name} ${textOf(value)}`)
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
              { name: 'State', cell: (row) => <Outcome of={row} /> },
              { name: 'By', cell: ({ decidedBy = '' }) => <Text of={decidedBy} /> },
              { name: 'Asked', cell: ({ madeAt }) => <Age of={madeAt} /> },
            ]}
          />
        </>
      )}
    </Section>
  )
}

const Outcome = ({ of: { state, refusal } }: { of: Approval }) => (
  <>
    <Badge tone={state === 'done' ? 'good' : 'calm'}>{state}</Badge> {refusal && <Text of={refusal.message} max={500} />}
  </>
)

function Waiting({ of, mayDecide }: { of: Approval; mayDecide: boolean }) {
  const { id, client, path, address, effect, madeAt, expiresAt, revoked, state } = of
  const name = `request ${id} of ${client}`
  return (
    <article aria-label={name}>
      <header>
        <h3>
          {id}: <Text of={`${path} of ${client}`} />
        </h3>
        {state === 'approved' && <Badge tone="warn">approved, and not carried out yet</Badge>}
        {revoked && <Badge tone="bad">its certificate is revoked</Badge>}
        <span>
          asked <Age of={madeAt} />, ends in {until(expiresAt)}
        </span>
      </header>
      <Fields of={of} />
      <dl class="facts">
        <div>
          <dt>Wallet</dt>
          <dd>
            <Address of={address} />
          </dd>
        </div>
        <Effect of={effect} />
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
        {label === 'Approve' && <Preview id={of.id} />}
        <p>
          <Text of={of.path} />
        </p>
        <Fields of={of} />
      </>
    }
    act={async () => {
      const decided = await post(label === 'Approve' ? '/approvals/approve' : '/approvals/deny', { id: of.id })
      return `It is ${plain(decided.state)}.`
    }}
  />
)

/** Without a cut: what is not shown is not decided on. */
const Fields = ({ of }: { of: Approval }) => (
  <dl class="facts">
    {rowsOf(of).map(({ name, value }) => (
      <div>
        <dt>
          <Text of={name} />
        </dt>
        <dd>
          <Text of={value} max={Infinity} />
        </dd>
      </div>
    ))}
  </dl>
)

/** It was planned when it began to wait; the market may be elsewhere now. */
function Preview({ id }: { id: number }) {
  const [now, set] = useState<ResponseAt<'GET', '/approvals/preview'> | { readonly refusal: string }>()
  useEffect(() => {
    get('/approvals/preview', { id }).then(set, (error: unknown) =>
      set({ refusal: error instanceof Error ? error.message : String(error) }),
    )
  }, [id])
  if (now === undefined) return <p class="none">What it would do now is simulated…</p>
  if ('refusal' in now || !now.effect)
    return (
      <p class="refusal">
        It would be refused now: <Text of={'refusal' in now ? now.refusal : (now.error?.message ?? 'its effect is not known')} max={500} />
      </p>
    )
  return (
    <>
      <p>It would do this now:</p>
      <dl class="facts">
        <Effect of={now.effect} />
      </dl>
    </>
  )
}

const noMarket = 'not known: no market tells'

const Effect = ({ of }: { of: Approval['effect'] }) => (
  <>
    <Tokens name="Gives at most" of={of.gives} />
    <Tokens name="Gets at least" of={of.gets} />
    <Fact name="Worth" of={of.valueGiven} otherwise={noMarket} />
    <Fact name="Loses against the market at most" of={of.valueLost} otherwise={noMarket} />
    <Fact name="Fees at most" of={of.maxFee} unit={of.feeToken} otherwise="not known" />
  </>
)

const Fact = ({ name, of, unit, otherwise }: { name: string; of: string | undefined; unit?: string | undefined; otherwise: string }) => (
  <div>
    <dt>{name}</dt>
    <dd>{of === undefined ? otherwise : <Amount of={of} unit={unit} />}</dd>
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
