// Pools of Solana in memory: quotes by one pool's arithmetic, and what a slot costs of all that are followed.
import { createRpc } from '../../../kits/nodes/rpc.ts'
import type { SolanaImageData } from '../../../kits/solana/index.ts'
import type { AccountPools } from '../../../kits/solana/amm/index.ts'
import { followedPools, isFollowedPool } from '../../../kits/solana/amm/followed.ts'
import { createImages } from '../../../kits/solana/images.ts'
import { solanaDialect } from '../../../kits/solana/rpc.ts'
import { cpmmAccounts, dammAccounts, mints, pool } from '../../../test/kits/solana/amm/pool-bytes.ts'
import { serve } from '../child.ts'
import { manyPools, meteora, raydium } from '../solana-accounts.ts'

const clock = { slot: 9n, epoch: 0n, unixTime: 1_000n }
const [dammAddress = ''] = meteora.places([mints])

/** Nanoseconds of processor time. */
function quotes(kind: AccountPools, address: string, accounts: ReadonlyMap<string, SolanaImageData | null>, count: number): number {
  const read = kind.decode(address, accounts)
  const now = read && kind.asOf?.(read, clock)
  if (!now) throw new Error('There is no pool.')
  const before = process.cpuUsage()
  for (let index = 0; index < count; index += 1) {
    const exact = index % 2 === 0 ? 'in' : 'out'
    const [tokenIn, tokenOut] = index % 4 < 2 ? mints : [mints[1], mints[0]]
    if (!kind.pass(now, { tokenIn, tokenOut }, exact, 1_000n + BigInt(index % 1_000))) throw new Error('There was no quote.')
  }
  return cpuOf(before) / count
}

function cpuOf(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before)
  return (user + system) * 1_000
}

interface FollowedPools {
  readonly pools: number
  /** Of the node. */
  readonly port: number
}

/** Follows them on a node, as a network with one URL does: the client of nodes, the images of each slot, and what they make of each pool. */
function follow({ pools: count, port }: FollowedPools): void {
  const { accounts, pools } = manyPools(count)
  const log = { info: () => {}, warn: () => {} }
  const dialect = solanaDialect(undefined)
  const rpc = createRpc({ rpcUrls: [`http://127.0.0.1:${port}`], dialect, meter: { rpc: () => {} }, log, timeoutMs: 8_000 })
  const images = createImages(rpc)
  const interest = { follow: [...accounts.keys()] }
  const followers = new Map([raydium, meteora].map((kind) => [kind, followedPools(kind, noReader)]))
  const byAccount = new Map<string, number[]>()
  for (const [index, each] of pools.entries())
    for (const address of each.accounts.keys()) byAccount.set(address, [...(byAccount.get(address) ?? []), index])
  const states = [...pools]
  pass = async (number) => {
    const head = (at: number) => ({ number: BigInt(at), timestamp: 1_000 })
    const blocks = await images(head(number - 1), head(number), interest, { signal: AbortSignal.timeout(60_000) })
    const moved = new Set<number>()
    for (const change of blocks === 'forked' ? [] : blocks.flatMap(({ changes }) => changes))
      for (const index of byAccount.get(change.address) ?? []) {
        const state = states[index]
        const next = state && followers.get(state.protocol)?.apply(state, change, head(number))
        if (!isFollowedPool(next) || next === state) continue
        states[index] = next
        moved.add(index)
      }
    return moved.size
  }
}

let pass: ((slot: number) => Promise<number>) | undefined

/** Milliseconds of processor time for a slot of the node, and how many pools it moved. */
async function slot(number: number): Promise<{ readonly cpuMs: number; readonly moved: number }> {
  const before = process.cpuUsage()
  const moved = (await pass?.(number)) ?? 0
  return { cpuMs: cpuOf(before) / 1e6, moved }
}

const noReader = {
  accounts: () => Promise.reject(new Error('Nothing is read.')),
  sets: () => Promise.reject(new Error('Nothing is read.')),
  start: () => Promise.reject(new Error('Nothing is read.')),
}

export type SolanaPoolsProcess = typeof handlers
const handlers = serve({
  cpmm: (count: number) => quotes(raydium, pool, cpmmAccounts(), count),
  damm: (count: number) => quotes(meteora, dammAddress, dammAccounts(0, dammAddress), count),
  follow,
  slot,
})
