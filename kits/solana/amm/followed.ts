// Pools as sets of accounts: read at a slot, and kept in memory by images of them.
import { SluiceError, type At, type Followed, type Head } from '../../../core/contracts/index.ts'
import type { CachedPool } from '../../pools/pricing.ts'
import type { Solana, SolanaAccount, SolanaImageData, SolanaReader } from '../types.ts'
import { isSameImage } from '../images.ts'
import type { Accounts, AccountPools } from './protocol.ts'

/** A pool in memory, with the accounts that it was decoded from. */
export interface FollowedPool extends CachedPool<AccountPools> {
  readonly accounts: Accounts
}

export type PoolReader = Pick<SolanaReader, 'accounts' | 'sets' | 'start'>

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
      const places = keys.map((key) => ({ protocol, address: key, accounts: inMemory(key) }))
      const { number, pools } = await readPools(reader, places, at, after)
      return { head: { ...after, number }, states: new Map(keys.map((key, index) => [key, pools[index] ?? none(protocol, key)])) }
    },
    apply(state, { address, data }) {
      const before = state.accounts.get(address)
      if (before === undefined || isSameImage(before, data)) return state
      const [own = ''] = state.accounts.keys()
      const accounts = new Map(state.accounts).set(address, data)
      if (address === own && !hasParts(protocol, own, accounts)) return 'reload'
      // What replaces a program is read once, before anything is quoted by it.
      if (address === protocol.versions?.header && protocol.versions.of(data).is === 'unread') return 'reload'
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

const none = (protocol: AccountPools, address: string): FollowedPool => ({ protocol, pool: null, accounts: new Map([[address, null]]) })

export interface PlaceOfPool {
  readonly protocol: AccountPools
  readonly address: string
  /** What the pool is made of, its own account first; undefined where that is not known yet. */
  readonly accounts?: readonly string[] | undefined
}

/**
 * Pools as they are after a slot, each of one slot, in the order of their places: in one round trip, in two where it is not known of one which accounts
 * it is made of. What is no pool of the kind is there with none.
 * @param beside an account that is read together with each of them
 */
export async function readPools(
  reader: PoolReader,
  places: readonly PlaceOfPool[],
  at: At,
  after?: Pick<Head, 'number'>,
  beside?: string,
): Promise<{ readonly number: bigint; readonly pools: readonly FollowedPool[]; readonly beside: readonly SolanaAccount[] }> {
  const unknown = [...new Set(places.filter(({ accounts }) => !accounts).map(({ address }) => address))]
  const own = new Map<string, SolanaImageData | null>()
  if (unknown.length > 0) {
    const { accounts } = await reader.accounts(unknown, at, after)
    for (const [index, address] of unknown.entries()) own.set(address, imageOf(accounts[index]))
  }
  const wanted = places.map(({ protocol, address, accounts }): readonly string[] => {
    if (accounts) return accounts
    const image = own.get(address)
    return [address, ...((image && protocol.parts(address, image)) ?? [])]
  })
  const { head, sets } = await reader.sets(beside === undefined ? wanted : wanted.map((set) => [...set, beside]), at, after)
  const images = new Map<SolanaAccount | undefined, SolanaImageData | null>()
  const allAccounts = wanted.map((keys, index): Accounts => {
    const set = sets[index] ?? []
    // Many pools share accounts of tokens and of settings.
    for (const each of set) if (!images.has(each)) images.set(each, imageOf(each))
    return new Map(keys.map((each, place) => [each, images.get(set[place]) ?? null]))
  })
  await readPrograms(reader, places, allAccounts, at)
  const pools = places.map(({ protocol, address }, index): FollowedPool => {
    const accounts = allAccounts[index] ?? new Map()
    const isWhole = hasParts(protocol, address, accounts)
    return { protocol, pool: isWhole ? protocol.decode(address, accounts) : null, accounts }
  })
  return { number: head.number, pools, beside: beside === undefined ? [] : sets.flatMap((set) => set.at(-1) ?? []) }
}

/**
 * The bytes of programs that were replaced, or are read for the first time.
 * @throws SluiceError NETWORK where nodes tell of another deployment than that of the pools: some are behind others
 */
async function readPrograms(reader: PoolReader, places: readonly PlaceOfPool[], all: readonly Accounts[], at: At): Promise<void> {
  const unread = () =>
    new Set(
      places.flatMap(({ protocol: { versions } }, index) =>
        versions?.of(all[index]?.get(versions.header)).is === 'unread' ? versions : [],
      ),
    )
  // A reading that others began may be of the bytes before.
  for (let tries = 0; tries < 2 && unread().size > 0; tries += 1) await Promise.all([...unread()].map((each) => each.read(reader, at)))
  if (unread().size > 0)
    throw new SluiceError('NETWORK', 'A program was replaced, and not all nodes have its new bytes yet. Try again.', {
      retryAfterSeconds: 1,
    })
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

/** As the changes of a slot have it, so that both are compared. */
export function imageOf(account: SolanaAccount | undefined): SolanaImageData | null {
  if (!account) return null
  const { owner, lamportsRaw, data } = account
  return { owner, lamports: lamportsRaw.toString(), base64: Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('base64') }
}
