// What a program itself says of a swap: by simulating it, for the contract tests of connectors.
import {
  address,
  appendTransactionMessageInstructions,
  blockhash,
  compileTransaction,
  createTransactionMessage,
  getBase64EncodedWireTransaction,
  pipe,
  setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash,
} from '@solana/kit'
import { getSetComputeUnitLimitInstruction } from '@solana-program/compute-budget'
import type { ClusterSite, Quoter, QuoterHop } from '../../../core/contracts/devnet.ts'
import { isObject } from '../../../core/base/json.ts'
import { tokenAccountOf } from '../addresses.ts'
import { toKit, type SolanaImageData, type SolanaInstruction } from '../types.ts'
import type { AccountPools } from './protocol.ts'
import { maxU64 } from './swap-quote.ts'

/** The most that a transaction may have: solana-compute-budget, MAX_COMPUTE_UNIT_LIMIT. */
const mostUnits = 1_400_000

/**
 * The quoter of pools in a plugin's `devnet.ts`: each amount is what the program moves in a simulation of its own swap, which nobody signs. A swap
 * that fails gives 0.
 * @param pools whose accounts and instruction are used, and whose arithmetic is not
 */
export function programQuoter({ rpcUrl, payer }: ClusterSite, pools: AccountPools): Quoter {
  const ask = createAsk(rpcUrl)

  async function imagesOf(addresses: readonly string[]): Promise<readonly (SolanaImageData | null)[]> {
    const value = await ask('getMultipleAccounts', [addresses, { commitment: 'processed', encoding: 'base64' }])
    return Array.isArray(value) ? value.map(imageOf) : []
  }

  /** What leaves and what arrives. */
  async function swapped([hop]: readonly QuoterHop[], exact: 'in' | 'out', amountRaw: bigint): Promise<readonly [bigint, bigint]> {
    const { pool: place, tokenIn, tokenOut } = hop ?? { pool: '', tokenIn: '', tokenOut: '' }
    const [own, mintIn, mintOut] = await imagesOf([place, tokenIn, tokenOut])
    const parts = (own && pools.parts(place, own)) ?? []
    const images = await imagesOf(parts)
    const pool = pools.decode(place, new Map([[place, own ?? null], ...parts.map((each, index) => [each, images[index] ?? null] as const)]))
    if (!pool) throw new Error(`The route has no pool of the program: ${place}.`)
    const [from, to] = [tokenAccountOf(payer, tokenIn, mintIn?.owner), tokenAccountOf(payer, tokenOut, mintOut?.owner)]
    const boundRaw = exact === 'in' ? 1n : maxU64
    const instruction = pools.instruction(pool, { tokenIn, tokenOut, exact, amountRaw, boundRaw, owner: payer, from, to })
    const options = { commitment: 'processed', encoding: 'base64', sigVerify: false, replaceRecentBlockhash: true }
    const result = await ask('simulateTransaction', [wireOf(payer, instruction), options])
    if (!isObject(result) || result['err'] !== null) return [0n, 0n]
    const change = (mint: string) => heldIn(result['postTokenBalances'], payer, mint) - heldIn(result['preTokenBalances'], payer, mint)
    return [-change(tokenIn), change(tokenOut)]
  }

  return {
    exactIn: async (route, amountRaw) => (await swapped(route, 'in', amountRaw))[1],
    exactOut: async (route, amountRaw) => (await swapped(route, 'out', amountRaw))[0],
  }
}

/** Gives the `value` of an answer that has a context. */
const createAsk = (rpcUrl: string) => async (method: string, params: readonly unknown[]) => {
  const response = await fetch(rpcUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  const answer: unknown = await response.json()
  const { result, error } = isObject(answer) ? answer : {}
  if (error !== undefined || !isObject(result)) throw new Error(`${method}: ${JSON.stringify(error)}`)
  return result['value']
}

function imageOf(account: unknown): SolanaImageData | null {
  const { owner, lamports, data } = isObject(account) ? account : {}
  const [base64] = Array.isArray(data) ? data : []
  return typeof owner === 'string' && typeof base64 === 'string' ? { owner, lamports: String(lamports), base64 } : null
}

function heldIn(balances: unknown, owner: string, mint: string): bigint {
  const own = Array.isArray(balances)
    ? balances.find((each) => isObject(each) && each['owner'] === owner && each['mint'] === mint)
    : undefined
  const amount = isObject(own) && isObject(own['uiTokenAmount']) ? own['uiTokenAmount']['amount'] : undefined
  return typeof amount === 'string' ? BigInt(amount) : 0n
}

/** Any hash: the node puts its own there. */
const anyHash = blockhash('11111111111111111111111111111111')

function wireOf(payer: string, instruction: SolanaInstruction): string {
  const message = pipe(
    createTransactionMessage({ version: 0 }),
    (empty) => setTransactionMessageFeePayer(address(payer), empty),
    (paid) => setTransactionMessageLifetimeUsingBlockhash({ blockhash: anyHash, lastValidBlockHeight: maxU64 }, paid),
    (timed) => appendTransactionMessageInstructions([getSetComputeUnitLimitInstruction({ units: mostUnits }), toKit(instruction)], timed),
  )
  return getBase64EncodedWireTransaction(compileTransaction(message))
}
