// Pools as sets of accounts: read at a slot, and kept in memory by images of them.
import type { At, Followed, Head } from '../../../core/contracts/index.ts'
import type { CachedPool } from '../../pools/pricing.ts'
import type { Solana, SolanaAccount, SolanaImageData, SolanaReader } from '../types.ts'
import { isSameImage } from './account-data.ts'
import type { Accounts, AccountPools } from './protocol.ts'

/** A pool in memory, with the accounts that it was decoded from. */
export interface FollowedPool extends CachedPool<AccountPools> {
  readonly accounts: Accounts
}

export type PoolReader = Pick<SolanaReader, 'accounts'>

export function followedPools(protocol: AccountPools, reader: PoolReader): Followed<Solana, FollowedPool> {
  return {
    follow: [],
    followOf: (key, state) => (state ? [...state.accounts.keys()] : [key]),
    aliases: ({ accounts }) => [...accounts.keys()],
    keysOf: ({ address }) => [address],
    async load(keys, after, at, known) {
      const inMemory = (key: string) => {
        const state = known?.get(key)?.state
        return isFollowedPool(state) ? [...state.accounts.keys()] : undefined
      }
      const { number, pools } = await readPools(
        protocol,
        reader,
        keys.map((key) => ({ address: key, accounts: inMemory(key) })),
        at,
        after,
      )
      return { head: { ...after, number }, states: pools }
    },
    apply(state, { address, data }) {
      const before = state.accounts.get(address)
      if (before === undefined || isSameImage(before, data)) return state
      const [own = ''] = state.accounts.keys()
      const accounts = new Map(state.accounts).set(address, data)
      if (address === own && !hasParts(protocol, own, accounts)) return 'reload'
      return { protocol, pool: protocol.decode(own, accounts), accounts }
    },
  }
}

/** What the server gives back of what `Followed.load` and `apply` made. */
export const isFollowedPool = (state: unknown): state is FollowedPool => typeof state === 'object' && state !== null && 'accounts' in state

/** Whether the accounts are those that the pool's own names now. What is gone, or is no pool any more, has none that are read. */
function hasParts(protocol: AccountPools, own: string, accounts: Accounts): boolean {
  const image = accounts.get(own)
  const parts = image ? (protocol.parts(own, image) ?? []) : []
  return parts.every((part) => accounts.has(part))
}

interface PlaceOfPool {
  readonly address: string
  /** What the pool is made of, its own account first; undefined where that is not known yet. */
  readonly accounts?: readonly string[] | undefined
}

/**
 * Pools as they are after a slot, by their addresses: in one round trip, in two where it is not known of one which accounts it is made of. What is no
 * pool of the kind is there with none.
 */
export async function readPools(
  protocol: AccountPools,
  reader: PoolReader,
  places: readonly PlaceOfPool[],
  at: At,
  after?: Pick<Head, 'number'>,
): Promise<{ readonly number: bigint; readonly pools: ReadonlyMap<string, FollowedPool> }> {
  const unknown = places.filter(({ accounts }) => !accounts).map(({ address }) => address)
  const first = unknown.length > 0 ? await read(reader, unknown, at, after) : undefined
  const sets = places.map(({ address, accounts }): readonly string[] => {
    if (accounts) return accounts
    const own = first?.accounts.get(address)
    return [address, ...((own && protocol.parts(address, own)) ?? [])]
  })
  const { number, accounts } = await read(reader, [...new Set(sets.flat())], at, after)
  const pools = places.map(({ address }, index): readonly [string, FollowedPool] => {
    const own = new Map((sets[index] ?? [address]).map((each) => [each, accounts.get(each) ?? null]))
    const isWhole = hasParts(protocol, address, own)
    return [address, { protocol, pool: isWhole ? protocol.decode(address, own) : null, accounts: own }]
  })
  return { number, pools: new Map(pools) }
}

/** More than a program can make an account of by its own instructions (agave, MAX_PERMITTED_DATA_INCREASE): no pool's own is as long. */
const maxPoolBytes = 10_240 + 1

/** What a pool at this address is made of, its own account first. Undefined where there is none of the kind; nothing that is longer is read whole. */
export async function accountsOfPool(
  protocols: readonly AccountPools[],
  reader: Pick<SolanaReader, 'start'>,
  address: string,
  at: At,
): Promise<{ readonly protocol: AccountPools; readonly accounts: readonly string[] } | undefined> {
  const own = imageOf(await reader.start(address, maxPoolBytes, at))
  for (const protocol of own ? protocols : []) {
    const parts = own && protocol.parts(address, own)
    if (parts) return { protocol, accounts: [address, ...parts] }
  }
  return undefined
}

async function read(reader: PoolReader, addresses: readonly string[], at: At, after: Pick<Head, 'number'> | undefined) {
  const { head, accounts } = await reader.accounts(addresses, at, after)
  return { number: head.number, accounts: new Map(addresses.map((address, index) => [address, imageOf(accounts[index])])) }
}

/** As the changes of a slot have it, so that both are compared. */
function imageOf(account: SolanaAccount | undefined): SolanaImageData | null {
  if (!account) return null
  const { owner, lamportsRaw, data } = account
  return { owner, lamports: lamportsRaw.toString(), base64: Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('base64') }
}
