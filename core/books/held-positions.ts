// Compares positions of liquidity that are open by the book with the chain: other software may have emptied or burnt one, or given it to another wallet.
import { addressKey } from '../base/addresses.ts'
import type { Book, LiquidityBook } from './book.ts'
import type { OnNetwork } from './book-lines.ts'

/** Positions of one version of an exchange. */
export interface AskedPositions extends OnNetwork {
  readonly connector: string
  readonly version: string | undefined
  readonly ids: readonly string[]
}

/** `gone`: it is final that there is no such position. */
export type PositionOnChain = { readonly owner: string; readonly isEmpty: boolean } | 'gone'

/** By the ids that the chain told; or why it told none. */
export type HeldReading = { readonly found: ReadonlyMap<string, PositionOnChain> } | { readonly unknown: string }

export type HeldReader = (of: AskedPositions, signal: AbortSignal) => Promise<HeldReading>

/** @param isOwn whether the book is also of that wallet */
export async function compareHeld(
  book: Book,
  read: HeldReader,
  isOwn: (chain: string, address: string) => boolean,
  signal: AbortSignal,
): Promise<void> {
  const asked = new Map<string, LiquidityBook[]>()
  for (const each of book.liquidity.values()) {
    if (!each.isPosition || each.liquidity.digits === 0n) continue
    const name = JSON.stringify([each.chain, each.network, each.connector, each.version ?? ''])
    asked.set(name, [...(asked.get(name) ?? []), each])
  }
  for (const positions of asked.values()) {
    const [{ chain, network, connector, version } = { chain: '', network: '', connector: '', version: undefined }] = positions
    const reading = await read({ chain, network, connector, version, ids: positions.map(({ id }) => id) }, signal)
    for (const position of positions) {
      if ('unknown' in reading) position.notCompared = reading.unknown
      else
        Object.assign(
          position,
          standing(position, reading.found.get(position.id), (owner) => isOwn(chain, owner)),
        )
    }
  }
}

/** Who gave a position away has nothing of it any more, however much is in it. */
function standing(
  { wallets }: LiquidityBook,
  found: PositionOnChain | undefined,
  isOwn: (address: string) => boolean,
): Pick<LiquidityBook, 'ended' | 'notCompared'> {
  if (found === undefined) return { notCompared: 'the newest block does not have it, and that is not final yet' }
  if (found === 'gone') return { ended: 'burnt' }
  if (!wallets.has(addressKey(found.owner)) && !isOwn(found.owner)) return { ended: `given to ${found.owner}` }
  return found.isEmpty ? { ended: 'emptied' } : {}
}
