import { expect } from 'chai'
import type { AMMPriceResponse } from '../../core/api/index.ts'
import type { Client } from '../client.ts'
import type { BookOperators, PerpOperator, Quoter } from '../../core/contracts/devnet.ts'

/** What the cards of one connector work on: a server with the devnet, and the exchange's own quoter. */
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
  /** What was answered for the others, a line each. */
  unquoted: readonly string[]
  quoter: Quoter | undefined
  /** Who runs the perpetual exchange. */
  perpOperator?: PerpOperator | undefined
  /** Who else trades on its order books. */
  bookOperators?: BookOperators | undefined
  /** Absent: the devnet. */
  ground?: ChainControl
}

/** What cards do to a chain of another family, in place of what they do to the devnet. */
export interface ChainControl {
  /** Lets the exchange move the wallet's tokens, where that takes anything. */
  approve(address: string, token: string): Promise<void>
  /** What `during` sends is carried out when it settles: what was sent with `first` before the rest. */
  inOneBlock(during: () => Promise<void>): Promise<void>
  /** Fields of a request by which its transaction goes before others. */
  first: object
}

/** It pays more, so it goes first. */
const devnetFirst = { maxFeePerGas: '100', maxPriorityFeePerGas: '50' }

export const priorityFields = ({ ground }: TestVenue): object => ground?.first ?? devnetFirst

/** Has one more card run. */
export type AddCard = (title: string, run: () => Promise<void>) => void

export interface PriceRequest {
  base: string
  quote: string
  amount: string
  side: 'BUY' | 'SELL'
}

export const venueFields = ({ connector, chain, network }: TestVenue) => ({ chain, network, connector })

/** A quote that must be there. */
export async function price(bench: TestVenue, question: PriceRequest): Promise<AMMPriceResponse> {
  const { status, body, text } = await bench.client.get('/amm/price', { ...venueFields(bench), ...question })
  expect(status, text).to.equal(200)
  return body
}

/** Lets the exchange move the wallet's tokens, and waits until it may. */
export async function approve(bench: TestVenue, address: string, token: string): Promise<void> {
  const { chain, network, connector, ground } = bench
  if (ground) return ground.approve(address, token)
  const { status, text, body } = await bench.client.post('/evm/approve', { chain, network, address, spender: connector, token })
  expect(status, text).to.equal(200)
  await waitForMined(bench, body.txHash)
}

/** The poll of a transaction once it is in a block. */
// eslint-disable-next-line typescript/no-explicit-any -- the cards look into the answer
export async function waitForMined({ client, chain, network }: TestVenue, txHash: string): Promise<any> {
  for (let tries = 0; tries < 200; tries++) {
    const { body } = await client.get('/network/poll', { chain, network, txHash })
    if (body.txStatus === 1) return body
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error(`${txHash} was not mined`)
}

/** A plain call to the devnet's node, for what a test does to the chain itself. */
export async function nodeCall({ rpcUrl }: Pick<TestVenue, 'rpcUrl'>, method: string, ...params: unknown[]): Promise<unknown> {
  const response = await fetch(rpcUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  const { result, error } = (await response.json()) as { result?: unknown; error?: { message: string } }
  if (error) throw new Error(`${method}: ${error.message}`)
  return result
}

/**
 * Holds blocks back while `during` runs, then lets one block take everything that waits. A block that was on its way
 * already may come in between: then all of it is done again.
 */
export async function inOneBlock(bench: TestVenue, during: () => Promise<void>, tries = 5): Promise<void> {
  if (bench.ground) return bench.ground.inOneBlock(during)
  await nodeCall(bench, 'evm_setAutomine', false)
  await nodeCall(bench, 'evm_setIntervalMining', 0)
  try {
    const before = await nodeCall(bench, 'eth_blockNumber')
    await during()
    const wasHeld = (await nodeCall(bench, 'eth_blockNumber')) === before
    await nodeCall(bench, 'evm_mine')
    if (!wasHeld && tries > 1) await inOneBlock(bench, during, tries - 1)
  } finally {
    await nodeCall(bench, 'evm_setIntervalMining', 1)
    await nodeCall(bench, 'evm_setAutomine', true)
  }
}

/** Smallest units of a decimal string that is padded to the token's decimals. */
export const toRaw = (padded: string) => BigInt(padded.replace('.', ''))
