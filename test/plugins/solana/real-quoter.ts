import type { Address } from '@solana/kit'
import { getTokenDecoder } from '@solana-program/token'
import type { Quoter, QuoterHop } from '../../../core/contracts/devnet.ts'
import { tokenAccountOf, type SolanaImageData } from '../../../kits/solana/index.ts'
import { toKit } from '../../../kits/solana/types.ts'
import type { AccountPools } from '../../../kits/solana/amm/protocol.ts'
import { maxU64 } from '../../../kits/solana/amm/swap-quote.ts'
import { tokenSize } from '../../../tools/solana-node/ledger/tokens.ts'
import { tryUnsigned } from '../../../tools/solana-node/programs/unsigned.ts'
import type { Solana } from '../../../tools/solana-node/start-solana.ts'

/** A real program, asked what it would do for a wallet that has both tokens: by running its swap and keeping nothing. */
export function realQuoter({ svm }: Solana, pools: AccountPools, wallet: string): Quoter {
  const imageOf = (address: string): SolanaImageData | null => {
    const found = svm.getAccount(address as Address)
    return found.exists
      ? { owner: found.programAddress, lamports: String(found.lamports), base64: Buffer.from(found.data).toString('base64') }
      : null
  }
  const heldIn = (data: Uint8Array) => getTokenDecoder().decode(data.subarray(0, tokenSize)).amount
  const accountFor = (mint: string) => tokenAccountOf(wallet, mint, imageOf(mint)?.owner)

  /** What leaves and what arrives. */
  function swapped([hop]: readonly QuoterHop[], exact: 'in' | 'out', amountRaw: bigint): readonly [bigint, bigint] {
    const { pool: address, tokenIn, tokenOut } = hop ?? { pool: '', tokenIn: '', tokenOut: '' }
    const own = imageOf(address)
    const parts = (own && pools.parts(address, own)) ?? []
    const pool = pools.decode(address, new Map([address, ...parts].map((each) => [each, imageOf(each)])))
    if (!pool) throw new Error(`The route has no pool of the program: ${address}.`)
    const [from, to] = [accountFor(tokenIn), accountFor(tokenOut)]
    const boundRaw = exact === 'in' ? 1n : maxU64
    const instruction = pools.instruction(pool, { tokenIn, tokenOut, exact, amountRaw, boundRaw, owner: wallet, from, to })
    const after = tryUnsigned(svm, wallet, [toKit(instruction)])
    if (typeof after === 'string') return [0n, 0n]
    const change = (of: string) => {
      const then = after.find((each) => each.address === of)
      const now = svm.getAccount(of as Address)
      return (then ? heldIn(Uint8Array.from(then.data)) : 0n) - (now.exists ? heldIn(Uint8Array.from(now.data)) : 0n)
    }
    return [-change(from), change(to)]
  }
  return {
    exactIn: async (route, amountRaw) => swapped(route, 'in', amountRaw)[1],
    exactOut: async (route, amountRaw) => swapped(route, 'out', amountRaw)[0],
  }
}
