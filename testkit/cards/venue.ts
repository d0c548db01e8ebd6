import { expect } from 'chai'
import type { AMMPriceResponse } from '../../core/api/index.ts'
import type { Client } from '../client.ts'
import type { BookOperators, PerpOperator, Quoter } from '../../core/contracts/devnet.ts'

/** What the cards of one connector work on: a server with the devnet, and the exchange's own quoter. */
export interface Bench {
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
  ground?: Ground
}

/** What cards do to a chain of another family, in place of what they do to the devnet. */
export interface Ground {
  /** Lets the exchange move the wallet's tokens, where that takes anything. */
  approve(address: string, token: string): Promise<void>
  /** What `during` sends is carried out when it settles: what was sent with `first` before the rest. */
  inOneBlock(during: () => Promise<void>): Promise<void>
  /** Fields of a request by which its transaction goes before others. */
  first: object
}

/** It pays more, so it goes first. */
const devnetFirst = { maxFeePerGas: '100', maxPriorityFeePerGas: '50' }

export const goesFirst = ({ ground }: Bench): object => ground?.first ?? devnetFirst

/** Has one more card run. */
export type AddCard = (title: string, run: () => Promise<void>) => void

export interface Question {
  base: string
  quote: string
  amount: string
  side: 'BUY' | 'SELL'
}

export const venueOf = ({ connector, chain, network }: Bench) => ({ chain, network, connector })

/** A quote that must be there. */
export async function price(bench: Bench, question: Question): Promise<AMMPriceResponse> {
  const { status, body, text } = await bench.client.get('/amm/price', { ...venueOf(bench), ...question })
  expect(status, text).to.equal(200)
  return body
}

/** Lets the exchange move the wallet's tokens, and waits until it may. */
export async function approve(bench: Bench, address: string, token: string): Promise<void> {
  const { chain, network, connector, ground } = bench
  if (ground) return ground.approve(address, token)
  const { status, text, body } = await bench.client.post('/evm/approve', { chain, network, address, spender: connector, token })
  expect(status, text).to.equal(200)
  await mined(bench, body.txHash)
}

/** The poll of a transaction once it is in a block. */
// eslint-disable-next-line typescript/no-explicit-any -- the cards look into the answer
export async function mined({ client, chain, network }: Bench, txHash: string): Promise<any> {
  for (let tries = 0; tries < 200; tries++) {
    const { body } = await client.get('/network/poll', { chain, network, txHash })
    if (body.txStatus === 1) return body
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error(`${txHash} was not mined`)
}

/** A plain call to the devnet's node, for what a test does to the chain itself. */
export async function node({ rpcUrl }: Pick<Bench, 'rpcUrl'>, method: string, ...params: unknown[]): Promise<unknown> {
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
export async function inOneBlock(bench: Bench, during: () => Promise<void>, tries = 5): Promise<void> {
  if (bench.ground) return bench.ground.inOneBlock(during)
  await node(bench, 'evm_setAutomine', false)
  await node(bench, 'evm_setIntervalMining', 0)
  try {
    const before = await node(bench, 'eth_blockNumber')
    await during()
    const wasHeld = (await node(bench, 'eth_blockNumber')) === before
    await node(bench, 'evm_mine')
    if (!wasHeld && tries > 1) await inOneBlock(bench, during, tries - 1)
  } finally {
    await node(bench, 'evm_setIntervalMining', 1)
    await node(bench, 'evm_setAutomine', true)
  }
}

/** Smallest units of a decimal string that is padded to the token's decimals. */
export const raw = (padded: string) => BigInt(padded.replace('.', ''))
