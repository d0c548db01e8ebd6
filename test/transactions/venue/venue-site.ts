import { TypedDataEncoder, getBytes } from 'ethers'
import type { VenuePlan } from '../../../core/contracts/index.ts'
import { canonicalAddress } from '../../../kits/evm/encoding.ts'
import type { ClientOrder } from '../../../core/transactions/book-orders.ts'
import type { SubmitRequest, Sign, TransactionTarget, SubmitResult } from '../../../core/transactions/submit-request.ts'
import type { Transactions } from '../../../core/transactions/transactions.ts'
import { readTypedData } from '../../../core/wallet/signer-messages.ts'
import { startExchange, type Meddle, type TestExchange } from '../../fixtures/signed-actions/exchange.ts'
import { actionRail, type RailOptions } from '../../fixtures/signed-actions/fixture-exchange/rail.ts'
import { native } from '../never.ts'
import { isFinal } from '../../../core/transactions/entry.ts'
import { addressOf, until, wallets } from '../site.ts'

export interface VenueSite {
  exchange: TestExchange
  site: TransactionTarget
  /** The nonces that its queue held at the last claim. */
  held(): readonly number[]
  stop(): Promise<void>
}

const nobody = () => Promise.reject(new Error('An exchange with a rail of its own asks the chain nothing.'))

/** An exchange with its own rail for signed actions, as a target of transactions. */
export async function startVenue(options: Partial<RailOptions> = {}): Promise<VenueSite> {
  const exchange = await startExchange()
  const { rail: own, heads } = actionRail({ url: exchange.url, livesMs: 20_000, marginMs: 1_000, pollMs: 20, ...options })
  let held: readonly number[] = []
  const rail: typeof own = {
    ...own,
    claim(synced, sequences, count) {
      held = sequences.map((sequence) => own.nonceOf(sequence))
      return own.claim(synced, sequences, count)
    },
  }
  const chain = { nativeCurrency: native, bumpAfterSeconds: 3, confirmations: 1, address: canonicalAddress, balances: nobody, head: nobody }
  const site: TransactionTarget = { chain: 'ethereum', network: 'local', connector: 'book', impl: { rail, heads, ...chain } }
  return { exchange, site, held: () => held, stop: () => exchange.stop() }
}

/** Signs as the signer process does, with Anvil's well-known keys. */
export const signTyped: Sign = async ({ address, signable }) => {
  const wallet = wallets.find((each) => each.address === address)
  const typed = readTypedData(signable.bytes)
  if (!wallet || !typed) throw new Error(`Nothing to sign for ${address}.`)
  return getBytes(wallet.signingKey.sign(TypedDataEncoder.hash(typed.domain, typed.types, typed.message)).serialized)
}

let count = 0

/** Places one order, under an id of its own unless the test gives one. */
export function placing(
  { site }: Pick<VenueSite, 'site'>,
  { amount = '1', signer, ...more }: Partial<Omit<SubmitRequest, 'plan'>> & { amount?: string; signer?: string } = {},
): SubmitRequest {
  count += 1
  const address = more.address ?? addressOf(0)
  const clientOrderId = more.clientOrders?.[0]?.clientOrderId ?? `id-${count}`
  const steps: VenuePlan['steps'] = [{ do: 'order', user: address, amount, id: clientOrderId }]
  return {
    network: { ...site, connector: undefined },
    address,
    caller: { id: 'client' },
    requestId: `request-${count}`,
    feeOverrides: {},
    kind: 'order',
    commitment: { gives: {} },
    plan: { via: 'venue', steps, memo: null, ...(signer !== undefined && { signer }) },
    scope: { contracts: [], valueRaw: 0n },
    touches: () => ({ action: 'order', tokens: [] }),
    venue: { connector: 'book', actions: site },
    clientOrders: [named(clientOrderId)],
    answer: ({ txHash }: SubmitResult) => ({ txHash }),
    ...more,
  }
}

export const named = (clientOrderId: string): ClientOrder => ({ clientOrderId, type: 'CLOB', market: 'A-B', index: 0, about: null })

export const ordersOf = (transactions: Transactions, more: { address?: string; clientOrderId?: string } = {}) =>
  transactions.orders.list({ chain: 'ethereum', network: 'local', connector: 'book', address: addressOf(0), limit: 500, ...more })

/** Once, and nothing special from then on. */
export function once(exchange: TestExchange, first: ReturnType<Meddle>): void {
  exchange.meddle = () => {
    exchange.meddle = () => 'pass'
    return first
  }
}

/** Waits until every transaction is final. */
export const settled = (transactions: Transactions): Promise<void> =>
  until('everything is final', async () => {
    const { entries } = await transactions.list({ limit: 500 })
    return entries.every(({ state }) => isFinal({ state }))
  })
