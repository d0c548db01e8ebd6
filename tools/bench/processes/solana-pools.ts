// Pools of Solana in memory: quotes by one pool's arithmetic, and what a slot costs of all that are followed.
import { createHash } from 'node:crypto'
import { gunzipSync, gzipSync } from 'node:zlib'
import { addressFrom, tokenProgram, type SolanaImage, type SolanaImageData } from '../../../kits/solana/index.ts'
import { constantProductPools, dammPools, type AccountPools } from '../../../kits/solana/amm/index.ts'
import { constantProductProgram } from '../../../kits/solana/amm/constant-product/accounts.ts'
import { dammProgram } from '../../../kits/solana/amm/damm/accounts.ts'
import { followedPools, isFollowedPool, type FollowedPool } from '../../../kits/solana/amm/followed.ts'
import {
  config,
  cpmmAccounts,
  cpmmConfig,
  cpmmPool,
  dammAccounts,
  dammPool,
  image,
  mint,
  mints,
  pool,
  vault,
} from '../../../test/kits/solana/amm/pool-bytes.ts'
import { serve } from '../child.ts'

const raydium = constantProductPools({ programVersion: 'creator-fees', classes: [0] })
const meteora = dammPools({ configs: [] })
const clock = { slot: 9n, epoch: 0n, unixTime: 1_000n }
const head = { number: 9n, timestamp: 1_000 }
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

const key = (name: string) => addressFrom(createHash('sha256').update(name).digest())

/** So many pools, half of them of each kind, each with accounts of its own. */
function manyPools(count: number): { readonly accounts: Map<string, SolanaImageData | null>; readonly pools: readonly FollowedPool[] } {
  const accounts = new Map<string, SolanaImageData | null>([[config, image(constantProductProgram, cpmmConfig())]])
  const pools = Array.from({ length: count }, (_, index): FollowedPool => {
    const [own, first, second] = ['own', 'first', 'second'].map((name) => key(`${name} ${index}`)) as [string, string, string]
    const [vaultA, vaultB] = [key(`vault a ${index}`), key(`vault b ${index}`)]
    accounts.set(first, mint()).set(second, mint())
    const protocol = index % 2 === 0 ? raydium : meteora
    if (protocol === raydium) {
      const data = cpmmPool([72, vaultA], [104, vaultB], [168, first], [200, second])
      accounts.set(own, image(constantProductProgram, data))
      accounts.set(vaultA, image(tokenProgram, vault(first, 1_000_000n))).set(vaultB, image(tokenProgram, vault(second, 1_000_000n)))
    } else accounts.set(own, image(dammProgram, dammPool(0, [168, first], [200, second])))
    const image0 = accounts.get(own) ?? null
    const parts = (image0 && protocol.parts(own, image0)) ?? []
    const of = new Map([own, ...parts].map((each) => [each, accounts.get(each) ?? null]))
    const decoded = protocol.decode(own, of)
    if (!decoded) throw new Error('A pool was not decoded.')
    return { protocol, pool: decoded, accounts: of }
  })
  return { accounts, pools }
}

/** As a node answers: 100 accounts in each, compressed. */
function answersOf(accounts: ReadonlyMap<string, SolanaImageData | null>): readonly Buffer[] {
  const values = [...accounts.values()].map((each) => each && { owner: each.owner, lamports: 1, data: [each.base64, 'base64'] })
  return Array.from({ length: Math.ceil(values.length / 100) }, (_, part) =>
    gzipSync(JSON.stringify({ result: { context: { slot: 10 }, value: values.slice(part * 100, part * 100 + 100) } })),
  )
}

interface FollowedPools {
  readonly pools: number
  /** Of the pools in each slot. */
  readonly changed: number
  readonly slots: number
}

/** Milliseconds of processor time for a slot: its answers unpacked and parsed, and every pool moved by its images. */
function slots({ pools: count, changed, slots: rounds }: FollowedPools): number {
  const { accounts, pools } = manyPools(count)
  const addresses = [...accounts.keys()]
  const followers = new Map([raydium, meteora].map((kind) => [kind, followedPools(kind, noReader)]))
  const byAccount = new Map<string, number[]>()
  for (const [index, each] of pools.entries())
    for (const address of each.accounts.keys()) byAccount.set(address, [...(byAccount.get(address) ?? []), index])
  const states = [...pools]
  const made = Array.from({ length: rounds }, (_, round) => {
    const after = new Map(accounts)
    for (let index = 0; index < changed; index += 1) {
      const place = (round * changed + index) % count
      const own = [...(pools[place]?.accounts.keys() ?? [])][0] ?? ''
      const before = accounts.get(own)
      const data = Buffer.from(before?.base64 ?? '', 'base64')
      // What it owes, which each swap changes: of both kinds the field is a number of eight bytes.
      data.writeBigUInt64LE(BigInt(round + 1), place % 2 === 0 ? 341 : 392)
      after.set(own, image(before?.owner ?? '', data))
    }
    return answersOf(after)
  })
  const before = process.cpuUsage()
  for (const answers of made) {
    let next = 0
    for (const answer of answers) {
      const { result } = JSON.parse(gunzipSync(answer).toString()) as {
        result: { value: readonly { owner: string; lamports: number; data: readonly [string, string] }[] }
      }
      for (const { owner, lamports, data } of result.value) {
        const address = addresses[next++] ?? ''
        const change: SolanaImage = { address, slot: 10, data: { owner, lamports: String(lamports), base64: data[0] } }
        for (const index of byAccount.get(address) ?? []) {
          const state = states[index]
          const moved = state && followers.get(state.protocol)?.apply(state, change, head)
          if (isFollowedPool(moved)) states[index] = moved
        }
      }
    }
  }
  return cpuOf(before) / 1e6 / rounds
}

const noReader = {
  accounts: () => Promise.reject(new Error('Nothing is read.')),
  sets: () => Promise.reject(new Error('Nothing is read.')),
}

export type SolanaPoolsProcess = typeof handlers
const handlers = serve({
  cpmm: (count: number) => quotes(raydium, pool, cpmmAccounts(), count),
  damm: (count: number) => quotes(meteora, dammAddress, dammAccounts(0, dammAddress), count),
  slots,
})
