// One transaction: its life as a line, each attempt, and what was asked for, promised and brought.
import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { Age, Moment } from './age.tsx'
import { serverNow } from './api.ts'
import { useResource } from './resource.ts'
import { linkTo } from './route.ts'
import { Section } from './section.tsx'
import { Table } from './table.tsx'
import { Address, Amount, Badge, Percent, Text } from './text.tsx'
import { quoteTokenOf, toneOf, wordsOf, type Transaction } from './transaction-words.ts'

/** @param at when it was asked for, in milliseconds: a client may give one id to many requests */
export function TransactionDetails({ id, requestId, at, back }: { id: string; requestId: string; at: number | undefined; back: object }) {
  const moment = at === undefined ? {} : { since: new Date(at).toISOString(), until: new Date(at + 1).toISOString() }
  const found = useResource(
    '/transactions',
    { requestId, archived: true, ...moment },
    {
      everySeconds: 30,
      // An event does not tell when it was sent, and what was filled.
      askAfter: { transactions: (told) => told.requestId === requestId },
      pauseSeconds: 2,
    },
  )
  const place = useRef<HTMLDivElement>(null)
  // What was opened is where the reader looks next.
  useEffect(() => place.current?.focus(), [id])
  return (
    <div class="details" ref={place} tabIndex={-1}>
      <Section title="Transaction" of={found} aside={<a href={linkTo('transactions', back as Record<string, string>)}>Close</a>}>
        {({ transactions }) => {
          const transaction = transactions.find((each) => each.id === id)
          return transaction ? (
            <Details of={transaction} />
          ) : (
            <p class="none">There is no such transaction, or your certificate may not see it.</p>
          )
        }}
      </Section>
    </div>
  )
}

function Details({ of }: { of: Transaction }) {
  const { chain, network, address, client = '', txHash, nonce, reason, requestId, idempotencyKey, archived } = of
  return (
    <>
      <p>
        <strong>
          <Text of={wordsOf(of)} />
        </strong>{' '}
        <Badge tone={toneOf(of, serverNow())}>{of.txState}</Badge>
        {archived && ' archived'}
      </p>
      <LifeLine of={of} />
      {reason !== undefined && (
        <p class="refusal">
          <Text of={reason} />
        </p>
      )}
      <Promises of={of} />
      <h3>Attempts</h3>
      <Table
        caption="Everything that was signed for it"
        none="Nothing was signed yet."
        rows={of.attempts}
        keyOf={(attempt) => attempt.txHash}
        columns={[
          { name: 'Hash', cell: (attempt) => <Address of={attempt.txHash} /> },
          { name: 'Signed', cell: ({ signedAt }) => <Moment of={signedAt} /> },
          { name: 'Fee, at most', end: true, cell: ({ maxFee, feeToken }) => <Amount of={maxFee} unit={feeToken} /> },
          { name: 'Taken by', cell: ({ node }) => (node === undefined ? '–' : <Text of={node} max={60} />) },
          { name: 'Sent', end: true, cell: ({ sends }) => `${sends} ${sends === 1 ? 'time' : 'times'}` },
          { name: 'Mined', cell: (attempt) => (of.txBlock >= 0 && attempt.txHash === txHash ? `in block ${of.txBlock}` : '–') },
        ]}
      />
      <Facts
        rows={[
          ['Network', <Text of={`${chain}/${network}`} />],
          ['Wallet', <Address of={address} />],
          ['Nonce', String(nonce)],
          ['Client', <Text of={client} />],
          ['Request', <Text of={requestId} />],
          ['Idempotency-Key', idempotencyKey === undefined ? undefined : <Text of={idempotencyKey} />],
        ]}
      />
    </>
  )
}

interface Step {
  readonly name: string
  readonly at?: number | undefined
  readonly note?: string | undefined
}

/** The steps that it has behind it, and those that are to come. */
function stepsOf({
  createdAt,
  updatedAt,
  attempts,
  planned,
  txBlock,
  final,
  txState,
}: Transaction): (Step & { readonly isDone: boolean })[] {
  const [first] = attempts
  const sends = attempts.reduce((sum, each) => sum + each.sends, 0)
  const isMined = txBlock >= 0
  const steps = [
    { name: planned === undefined ? 'asked' : 'planned', at: createdAt, isDone: true },
    {
      name: 'signed',
      at: first?.signedAt,
      isDone: first !== undefined,
      note: attempts.length > 1 ? `${attempts.length} attempts` : undefined,
    },
    { name: 'sent', isDone: sends > 0, note: sends > 1 ? `${sends} times` : undefined },
    { name: 'mined', isDone: isMined, note: isMined ? `block ${txBlock}` : undefined },
    { name: final && txState !== 'CONFIRMED' ? txState.toLowerCase() : 'final', at: final ? updatedAt : undefined, isDone: final },
  ]
  // What ended early was not mined.
  return final ? steps.filter(({ isDone }) => isDone) : steps
}

const LifeLine = ({ of }: { of: Transaction }) => (
  <ol class="life" aria-label="Its life">
    {stepsOf(of).map(({ name, at, note, isDone }) => (
      <li class={isDone ? 'done' : 'open'}>
        <span>{name}</span>
        <small>
          {at !== undefined && <Age of={at} />} {note}
          {!isDone && <span class="unseen">not yet</span>}
        </small>
      </li>
    ))}
  </ol>
)

/** What it was quoted by, what bound it, and what it brought and cost. */
function Promises({ of }: { of: Transaction }) {
  const planned: Readonly<Record<string, unknown>> = Object(of.planned)
  const text = (name: string) => (typeof planned[name] === 'string' ? planned[name] : undefined)
  const { quote, fill, cost, slippage, movements = [] } = of
  const unit = quoteTokenOf(of)
  return (
    <>
      <Facts
        rows={[
          ['Quoted price', text('price') && <Amount of={text('price')} unit={unit} />],
          ['Worst price allowed', text('limitPrice') && <Amount of={text('limitPrice')} unit={unit} />],
          ['Market price', quote?.marketPrice && <Amount of={quote.marketPrice} unit={unit} />],
          ['Filled at', fill && 'price' in fill && <Amount of={fill.price} unit={unit} />],
          ['Worse than quoted by', slippage && <Percent of={slippage.quote} />],
          ['Worse than the market by', slippage?.market && <Percent of={slippage.market} />],
          ['Fee', cost && <Raw of={cost.fee} raw={cost.rawFee} unit={cost.feeToken} />],
          ['Fee in quote', cost?.feeInQuote && <Amount of={cost.feeInQuote} unit={unit} />],
          ['Of it for layer 1', cost?.layer1Fee && <Amount of={cost.layer1Fee} unit={cost.feeToken} />],
        ]}
      />
      {quote && quote.route.length > 0 && (
        <p>
          Route at block {quote.blockNumber}:{' '}
          <Text
            of={quote.route
              .map((hop) =>
                Object.values(hop)
                  .filter((each) => typeof each === 'string')
                  .join(' '),
              )
              .join(' → ')}
          />
        </p>
      )}
      {movements.length > 0 && (
        <Facts
          rows={movements.map((each) => [
            (each.amount ?? each.rawAmount ?? '').startsWith('-') ? 'Left the wallet' : 'Came',
            <Raw of={each.amount} raw={each.rawAmount} unit={each.symbol ?? each.token} />,
          ])}
        />
      )}
    </>
  )
}

/** Of a token whose decimals are not known there is no amount but the raw one. */
const Raw = ({ of, raw, unit }: { of: string | undefined; raw: string | null | undefined; unit: string | undefined }) =>
  of !== undefined || typeof raw !== 'string' ? (
    <Amount of={of} unit={unit} />
  ) : (
    <>
      <Amount of={raw} /> smallest units of <Text of={unit ?? 'a token'} max={64} />
    </>
  )

/** @param rows without a value are left out */
function Facts({ rows }: { rows: readonly (readonly [string, ComponentChildren])[] }) {
  const shown = rows.filter(([, value]) => value !== undefined && value !== false && value !== '')
  if (shown.length === 0) return null
  return (
    <dl class="facts">
      {shown.map(([name, value]) => (
        <div>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}
