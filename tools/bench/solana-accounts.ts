// 1,000 pools of Solana, as the process that follows them and the one that stands for their node both make them.
import { createHash } from 'node:crypto'
import { addressFrom, tokenProgram, type SolanaImageData } from '../../kits/solana/index.ts'
import { constantProductPools, dammPools } from '../../kits/solana/amm/index.ts'
import { authority, constantProductProgram } from '../../kits/solana/amm/constant-product/accounts.ts'
import { dammAuthority, dammProgram } from '../../kits/solana/amm/damm/accounts.ts'
import type { FollowedPool } from '../../kits/solana/amm/followed.ts'
import { programVersions } from '../../kits/solana/amm/program-versions.ts'
import { config, cpmmConfig, cpmmPool, dammPool, image, mint, vault } from '../../test/kits/solana/amm/pool-bytes.ts'

export const raydium = constantProductPools({ programVersion: 'creator-fees', classes: [0] })
export const meteora = dammPools({ configs: [] })

const key = (name: string) => addressFrom(createHash('sha256').update(name).digest())

/** The beginnings of the accounts that have the programs' bytes: each slot tells whether they are others. */
const headers = [constantProductProgram, dammProgram].map((program) => programVersions(program, {}).header)

/**
 * So many pools, half of them of each kind. Each has its own account, two vaults and two mints: of 1,000 that is 5,000 accounts, more than real ones
 * have, which share mints. Beside them are the configuration of Raydium's pools and the headers of both programs.
 */
export function manyPools(count: number): {
  readonly accounts: Map<string, SolanaImageData | null>
  readonly pools: readonly FollowedPool[]
} {
  const accounts = new Map<string, SolanaImageData | null>([[config, image(constantProductProgram, cpmmConfig())]])
  for (const header of headers) accounts.set(header, image(constantProductProgram, new Uint8Array(45)))
  const pools = Array.from({ length: count }, (_, index): FollowedPool => {
    const [own, first, second] = ['own', 'first', 'second'].map((name) => key(`${name} ${index}`)) as [string, string, string]
    const [vaultA, vaultB] = [key(`vault a ${index}`), key(`vault b ${index}`)]
    accounts.set(first, mint()).set(second, mint())
    const protocol = index % 2 === 0 ? raydium : meteora
    if (protocol === raydium) {
      const data = cpmmPool([72, vaultA], [104, vaultB], [168, first], [200, second])
      accounts.set(own, image(constantProductProgram, data))
    } else accounts.set(own, image(dammProgram, dammPool(0, [168, first], [200, second], [232, vaultA], [264, vaultB])))
    const owner = protocol === raydium ? authority() : dammAuthority
    for (const [at, of] of [[vaultA, first] as const, [vaultB, second] as const])
      accounts.set(at, image(tokenProgram, vault(of, 1_000_000n, 1, owner)))
    const image0 = accounts.get(own) ?? null
    const parts = (image0 && protocol.parts(own, image0)) ?? []
    const of = new Map([own, ...parts].map((each) => [each, accounts.get(each) ?? null]))
    const decoded = protocol.decode(own, of)
    if (!decoded) throw new Error('A pool was not decoded.')
    return { protocol, pool: decoded, accounts: of }
  })
  return { accounts, pools }
}

/** What swaps of a slot change, of so many pools: their own accounts, and what is in their vaults. */
export function swapped(
  { accounts, pools }: ReturnType<typeof manyPools>,
  { slot, changed }: { readonly slot: number; readonly changed: number },
): ReadonlyMap<string, SolanaImageData> {
  const after = new Map<string, SolanaImageData>()
  for (let index = 0; index < changed; index += 1) {
    const place = (slot * changed + index) % pools.length
    const kind = place % 2 === 0 ? ({ owed: 341, vaults: [2, 3] } as const) : ({ owed: 392, vaults: [1, 2] } as const)
    const own = [...(pools[place]?.accounts.keys() ?? [])]
    for (const [which, at] of [[0, kind.owed] as const, ...kind.vaults.map((vaultAt) => [vaultAt, 64] as const)]) {
      const before = accounts.get(own[which] ?? '')
      const data = Buffer.from(before?.base64 ?? '', 'base64')
      // What the pool owes, and what is in a vault, are numbers of eight bytes.
      data.writeBigUInt64LE(BigInt(1_000_000 + slot), at)
      after.set(own[which] ?? '', image(before?.owner ?? '', data))
    }
  }
  return after
}
