import { expect } from 'chai'
import { getCreateAddress } from 'ethers'
import type { Context } from 'mocha'
import type { AMMPriceResponse } from '../../core/api/index.ts'
import { devnetNetwork } from '../../core/config/settings.ts'
import type { AMM, At, LoanTrial, SharesAllowance, Token } from '../../core/contracts/index.ts'
import { devnetTokenSymbols, type BookOperators, type PerpOperator, type Quoter } from '../../core/contracts/devnet.ts'
import { toQuoteChoice, toQuoteVenue, toSwap, readSwapRequest } from '../../core/handlers/amm/quote.ts'
import type { Kernel } from '../../core/kernel.ts'
import type { BoundAtHead } from '../../core/live-state/pair-quoter.ts'
import { deployerAddress } from '../../core/devnet/build-state.ts'
import type { Answer, Client } from '../client.ts'
import type { SharesOnDevnet } from '../devnet-operators.ts'
import { expectOk, expectRefusal, waitFor } from './expect.ts'

/** What the cards of one connector use: a server, wallets, and the exchange's own quoter and operators. */
export interface TestVenue {
  readonly connector: string
  readonly chain: string
  readonly network: string
  client: Client
  rpcUrl: string
  /** Trading wallets with balances of every token. */
  wallets: readonly [string, string, string]
  /** Pairs that the exchange has pools for, base and quote by symbol. */
  pairs: readonly (readonly [string, string])[]
  /** The errors of the other pairs, a line each. */
  unquoted: readonly string[]
  /** The same of those that failed by a defect of the connector. */
  defects?: readonly string[]
  /** By the plugin's devnet.ts: its contracts take no deadline. */
  noDeadline?: boolean
  /** By the plugin's devnet.ts: of its pools with shares. */
  shares?: SharesOnDevnet | undefined
  /** What `removalAllowance` of its shares says. Absent: the connector has none. */
  removalAllowance?: RemovalAllowance | undefined
  quoter: Quoter | undefined
  perpOperator?: PerpOperator | undefined
  bookOperators?: BookOperators | undefined
  /** What `loan` of its pools does with listed tokens. Absent: it has no such pools. */
  tryLoans?: (() => Promise<readonly LoanTrial[]>) | undefined
  /** What no quote of this does better than, by the states in memory. Absent: the connector has no `bound`, or is in another process. */
  boundOf?: ((request: PriceRequest) => Promise<BoundAtHead | undefined>) | undefined
  /** Absent: the devnet. */
  chainControl?: ChainControl
}

/** What the cards do to a chain, for chains other than the devnet. */
export interface ChainControl {
  /** Approves the exchange for the wallet's token, where the chain has approvals. */
  approve(address: string, token: string): Promise<void>
  /** Carries out together what `during` sends: transactions with the fields of `first` before the others. */
  inOneBlock(during: () => Promise<void>): Promise<void>
  /** Fields of a request that let its transaction go before others. */
  first: object
  /** Lets time pass, as much as a transaction lives for at most: what is mined then is late. */
  passTime(): Promise<void>
  /** What a mined transaction did to a wallet, by the chain alone. */
  walletChanges(wallet: string, txHash: string): Promise<WalletChanges>
  /** The tokens that pairs are looked for of, by symbol. */
  readonly tokens: readonly string[]
  /** One whose transfers take a fee. */
  readonly feeToken: string
}

/** What a transaction did to a wallet, as the chain has it. */
export interface WalletChanges {
  readonly status: number
  readonly block: number
  readonly gasUsed: bigint
  /** By address (`addressKey`), or `address/id` for a token of which there is one: what the wallet has more than before; negative: less. */
  readonly gains: ReadonlyMap<string, bigint>
  /** The same of the native coin, without what the transaction's gas cost. */
  readonly nativeRaw: bigint
  /** Rights over the wallet's tokens that somebody has more of than before, a line each. */
  readonly grants: readonly string[]
}

/** The card found nothing to try: what the author has to provide. */
export interface MissingFixture {
  readonly notTested: string
}
/** One card: its number and title, and what it checks. */
export type Card<F> = readonly [title: string, run: (fixture: F) => Promise<void | MissingFixture>]
/** Adds a card to the suite. One that needs what an earlier card has shown to fail is `not run`. */
export type AddCard = (title: string, run: () => Promise<void | 'not run' | MissingFixture>) => void

/** Shown as pending where an earlier card has shown the cause already, or with what it lacks, where there was nothing to try. */
export const runsCard = (run: Parameters<AddCard>[1]) =>
  async function (this: Context): Promise<void> {
    const outcome = await run()
    if (outcome === undefined) return
    const { test } = this
    if (test && outcome !== 'not run') test.title += `. NOT TESTED: ${outcome.notTested}`
    this.skip()
  }

/** Adds cards that share one fixture, which is created with the first of them. `prepare` runs before each. */
export function addCards<F>(
  cards: readonly Card<F>[],
  create: () => Promise<F>,
  add: AddCard,
  prepare: (fixture: F) => Promise<void> = async () => {},
): void {
  let creating: Promise<F> | undefined
  for (const [title, run] of cards)
    add(title, async () => {
      const fixture = await (creating ??= create())
      await prepare(fixture)
      return run(fixture)
    })
}

export const venueFields = ({ connector, chain, network }: TestVenue) => ({ chain, network, connector })

export interface PriceRequest {
  base: string
  quote: string
  amount: string
  side: 'BUY' | 'SELL'
}

/** A quote, which must succeed. */
export const price = async (venue: TestVenue, request: PriceRequest): Promise<AMMPriceResponse> =>
  expectOk(await venue.client.get('/amm/price', { ...venueFields(venue), ...request }))

/** Balances by symbol, as padded decimal strings. */
export const balancesOf = async (
  { client, chain, network }: TestVenue,
  address: string,
  tokenSymbols: readonly string[],
): Promise<Record<string, string>> => expectOk(await client.get('/network/balances', { chain, network, address, tokenSymbols })).balances

/** Approves the exchange, or another spender, for a token, and waits until the approval is mined. */
export async function approve(
  venue: TestVenue,
  address: string,
  token: string,
  { amount, spender }: { amount?: string; spender?: string | undefined } = {},
): Promise<void> {
  const { chain, network, chainControl } = venue
  if (chainControl) return chainControl.approve(address, token)
  const wallet = { chain, network, address }
  for (const each of spender === undefined ? await spendersOf(venue, wallet, token) : [spender]) {
    const fields = { ...wallet, spender: each, token, ...(amount !== undefined && { amount }) }
    const { txHash } = expectOk(await venue.client.post('/evm/approve', fields))
    await waitForMined(venue, txHash)
  }
}

/** All that the connector has: its name alone stands for what swaps need. */
async function spendersOf({ connector, client }: TestVenue, wallet: object, token: string): Promise<readonly string[]> {
  const { spenders = {} } = expectOk(await client.get('/evm/allowances', { ...wallet, spender: connector, tokenSymbols: token }))
  const each = Object.keys(spenders)
  return each.length > 0 ? each : [connector]
}

/** Takes the exchange's allowance from a wallet as long as `during` runs. Only where the chain has allowances. */
export async function withoutAllowance(
  venue: TestVenue,
  address: string,
  token: string,
  during: () => Promise<unknown>,
  spender?: string,
): Promise<void> {
  if (venue.rpcUrl === '' || venue.chainControl) return
  await approve(venue, address, token, { amount: '0', spender })
  try {
    await during()
  } catch (error) {
    // Other cards need it. Why this one failed says more than an approval that fails after it.
    await approve(venue, address, token, { spender }).catch(() => {})
    throw error
  }
  await approve(venue, address, token, { spender })
}

/** The poll of a transaction once it is in a block. */
export const waitForMined = (venue: TestVenue, txHash: string) => waitForPoll(venue, txHash, 'is mined', ({ txStatus }) => txStatus === 1)

export const waitForPoll = (
  venue: TestVenue,
  txHash: string,
  what: string,
  // eslint-disable-next-line typescript/no-explicit-any -- the cards look into the answer
  holds: (poll: any) => boolean,
  // eslint-disable-next-line typescript/no-explicit-any -- the cards look into the answer
): Promise<any> => waitFor(`${txHash} ${what}`, () => pollOf(venue, txHash), holds)

// eslint-disable-next-line typescript/no-explicit-any -- the cards look into the answer
export const pollOf = async ({ client, chain, network }: TestVenue, txHash: string): Promise<any> =>
  (await client.get('/network/poll', { chain, network, txHash })).body

/** The devnet's token whose transfers take a fee, `site.tokens.TAX`. It is on no list. */
export const devnetFeeToken = () => getCreateAddress({ from: deployerAddress(devnetNetwork.chain), nonce: feeTokenNonce })

/** The chain deploys it after the tokens that are listed. */
const feeTokenNonce = devnetTokenSymbols.length

/** A JSON-RPC call to the devnet's node. */
export async function nodeCall({ rpcUrl }: Pick<TestVenue, 'rpcUrl'>, method: string, ...params: unknown[]): Promise<unknown> {
  const response = await fetch(rpcUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  const { result, error } = (await response.json()) as { result?: unknown; error?: { code: number; message: string } }
  if (error) throw new NodeError(`${method}: ${error.message}`, error.code)
  return result
}

/** What a node answered instead of a result. */
export class NodeError extends Error {
  readonly code: number
  constructor(message: string, code: number) {
    super(message)
    this.code = code
  }
  /** https://geth.ethereum.org/docs/interacting-with-geth/rpc: 3 is a call that reverted. */
  get isRevert(): boolean {
    return this.code === 3
  }
}

/** Fees on the devnet with which a transaction goes before those with `lowPriorityFields`: anvil orders by the highest fee that each would pay. */
export const highPriorityFields = ({ chainControl }: TestVenue): object =>
  chainControl ? chainControl.first : { maxFeePerGas: '200', maxPriorityFeePerGas: '50' }

/** Of who goes last in a block. With the fees that the server takes by itself it may pay more than who goes first: they follow the last blocks. */
export const lowPriorityFields = ({ chainControl }: TestVenue): object =>
  chainControl ? {} : { maxFeePerGas: '50', maxPriorityFeePerGas: '1' }

const unknownTransaction = `0x${'0'.repeat(64)}`

/**
 * Holds blocks back while `during` runs, then mines one block with everything that was sent. If a block that was already under way comes in
 * between, all of it is done again.
 */
export async function inOneBlock(venue: TestVenue, during: () => Promise<void>, tries = 5): Promise<void> {
  if (venue.chainControl) return venue.chainControl.inOneBlock(during)
  await nodeCall(venue, 'evm_setAutomine', false)
  await nodeCall(venue, 'evm_setIntervalMining', 0)
  let wasHeld = false
  try {
    // Prices that are asked after a poll are of its block or newer.
    await pollOf(venue, unknownTransaction)
    const before = await nodeCall(venue, 'eth_blockNumber')
    await during()
    wasHeld = (await nodeCall(venue, 'eth_blockNumber')) === before
  } finally {
    // What was sent before an error, too: it must not come between a quote and a trade of the next card.
    await nodeCall(venue, 'evm_mine')
    await nodeCall(venue, 'evm_setIntervalMining', 1)
    await nodeCall(venue, 'evm_setAutomine', true)
  }
  if (!wasHeld && tries > 1) await inOneBlock(venue, during, tries - 1)
}

/** Waits until the node has a transaction: a request may be answered a moment before. */
export async function atNode(venue: TestVenue, txHash: string): Promise<void> {
  if (venue.chainControl) return
  await waitFor(
    `the node has ${txHash}`,
    () => nodeCall(venue, 'eth_getTransactionByHash', txHash),
    (found) => found !== null,
  )
}

/** Mines in one block everything that `during` sends. Returns the poll of the transaction whose hash it returns. */
export async function minedInOneBlock(venue: TestVenue, during: () => Promise<string>) {
  let txHash = ''
  await inOneBlock(venue, async () => {
    txHash = await during()
    await atNode(venue, txHash)
  })
  return waitForMined(venue, txHash)
}

/** Advances the chain's clock. */
export async function advanceTime(venue: TestVenue, seconds: number): Promise<void> {
  await nodeCall(venue, 'evm_increaseTime', seconds)
  await nodeCall(venue, 'evm_mine')
}

/** Mines the next block after the deadline of a request's answer. Returns the transaction's hash. */
export async function mineAfterDeadline(venue: TestVenue, { txHash, deadline }: { txHash: string; deadline: number }): Promise<string> {
  await nodeCall(venue, 'evm_setNextBlockTimestamp', deadline + 1)
  return txHash
}

/** The request must be refused, naming the field, and send no transaction of the owner's. */
export async function expectRefused(
  { client, chain, network }: TestVenue,
  owner: string,
  send: () => Promise<Answer>,
  outcome: string,
  request: string,
  field?: string,
): Promise<Answer> {
  const nonce = async () => (await client.get('/evm/nonce', { chain, network, address: owner })).body.nonce
  const before = await nonce()
  const answer = await send()
  expectRefusal(answer, outcome, request, field)
  expect(await nonce()).to.equal(before)
  return answer
}

/** The raw amount of a decimal string that is padded to the token's decimals. */
export const toRaw = (padded: string) => BigInt(padded.replace('.', ''))

/** The pairs of the devnet's tokens that are quoted, and the errors of the others. */
export async function quotedPairs(venue: TestVenue): Promise<Required<Pick<TestVenue, 'pairs' | 'unquoted' | 'defects'>>> {
  const symbols = venue.chainControl?.tokens ?? devnetTokenSymbols
  const all = symbols.flatMap((base, i) => symbols.slice(i + 1).map((quote) => [base, quote] as const))
  // At once: a defect may affect all pairs, and their timeouts one after the other would exceed the hook's.
  const answers = await Promise.all(
    all.map(([base, quote]) => venue.client.get('/amm/price', { ...venueFields(venue), base, quote, amount: '0.01', side: 'SELL' })),
  )
  const [pairs, unquoted, defects]: [(readonly [string, string])[], string[], string[]] = [[], [], []]
  for (const [index, { status, body }] of answers.entries()) {
    const [base, quote] = all[index] ?? ['', '']
    if (status === 200) pairs.push([base, quote])
    else (isDefect(body) ? defects : unquoted).push(`${base}-${quote}: ${body.name}: ${body.message}`)
  }
  return { pairs, unquoted: [...unquoted, ...defects], defects }
}

/** Pools lend of listed tokens, too, though only unlisted ones are tried in quotes: an exchange need have no pool of these. */
export async function loansBy(
  amm: { tryLoans?: (...of: Parameters<NonNullable<AMM['tryLoans']>>) => Promise<readonly LoanTrial[]> | readonly LoanTrial[] } | undefined,
  { client, chain, network }: Pick<TestVenue, 'client' | 'chain' | 'network'>,
): Promise<(() => Promise<readonly LoanTrial[]>) | undefined> {
  if (amm?.tryLoans === undefined) return undefined
  const { body } = await client.get('/network/tokens', { chain, network, tokenSymbols: [...devnetTokenSymbols] })
  const tokens: readonly Token[] = Array.isArray(body) ? body : []
  const pairs = tokens.flatMap((tokenIn, index) => tokens.slice(index + 1).map((tokenOut) => ({ tokenIn, tokenOut })))
  return async () => (await amm.tryLoans?.(pairs, { signal: AbortSignal.timeout(30_000) })) ?? []
}

export type RemovalAllowance = (shareToken: string, owner: string) => Promise<SharesAllowance | undefined>

/** The same of a connector that runs in another process: whatever it has is asked there. */
export function removalAllowanceBy(
  shares: { removalAllowance?(...asked: readonly [string, string, At]): Promise<SharesAllowance | undefined> } | undefined,
): RemovalAllowance | undefined {
  if (shares?.removalAllowance === undefined) return undefined
  return async (shareToken, owner) => shares.removalAllowance?.(shareToken, owner, { signal: AbortSignal.timeout(30_000) })
}

/** By the quotes of the server that the cards ask. */
export function boundsBy(
  { registry, quotes }: Pick<Kernel['services'], 'registry' | 'quotes'>,
  { connector, chain, network }: Pick<TestVenue, 'connector' | 'chain' | 'network'>,
): TestVenue['boundOf'] {
  const on = registry.network(chain, network)
  const venue = toQuoteVenue(on, registry.venue(connector, chain, network))
  if (!venue?.pricing.bound) return undefined
  return async (request) =>
    quotes.bound(venue, toSwap(await readSwapRequest(request, on, { signal: AbortSignal.timeout(30_000) })), toQuoteChoice(undefined))
}

const isDefect = ({ name }: { name?: string }) => name === 'TIMEOUT' || name === 'UNKNOWN_ERROR'
