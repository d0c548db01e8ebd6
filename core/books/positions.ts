// Holds the fills of perpetuals against the positions that exchanges have: what they liquidated, and what others than this server traded, is in no
// transaction of the journal.
import { formatDecimal, type DecimalParts } from '../base/decimal.ts'
import type { Book } from './book.ts'
import type { PerpetualBook } from './perpetuals.ts'
import { maxWallets, type ExchangeWallet } from './funding.ts'
import { plus } from './trades.ts'

/** By market, of base, below 0 for a short one; or why nobody knows. */
export type ExchangePositions = { readonly held: ReadonlyMap<string, DecimalParts> } | { readonly unknown: string }

/** Of these markets at least. */
export type PositionReader = (
  of: ExchangeWallet & { readonly markets: readonly string[] },
  signal: AbortSignal,
) => Promise<ExchangePositions>

const tooMany = { unknown: `positions of ${maxWallets} wallets are read at most: take one wallet` }

const noAmount: DecimalParts = { digits: 0n, scale: 0 }

/** Of a book of all time and of all clients: only then the fills of a wallet are its position. */
export async function comparePositions(book: Book, read: PositionReader, signal: AbortSignal): Promise<void> {
  const known = new Map<string, ExchangePositions>()
  const all = [...book.perpetuals.values()]
  for (const perpetual of all) {
    const { chain, network, connector, market } = perpetual
    for (const [address, net] of netsOf(perpetual)) {
      if (!net) continue
      const wallet = JSON.stringify([chain, network, connector, address])
      const marketsOf = () => all.filter((each) => isAt(each, perpetual) && hasWallet(each, address)).map((each) => each.market)
      const of = { chain, network, connector, address }
      const found = known.get(wallet) ?? (known.size < maxWallets ? await read({ ...of, markets: marketsOf() }, signal) : tooMany)
      known.set(wallet, found)
      if ('unknown' in found) perpetual.lacksFills ??= `they are not held against the positions of ${connector}: ${found.unknown}`
      else {
        const held = found.held.get(market) ?? noAmount
        if (plus(held, { ...net, digits: -net.digits }).digits === 0n) {
          const wallet = perpetual.changed.get(address)
          if (wallet) wallet.unsearched = undefined
          const filled = perpetual.wallets.get(address)
          if (filled) filled.unknownLiquidations = undefined
          continue
        }
        perpetual.lacksFills ??= `${connector} has a position of ${formatDecimal(held)} for ${address}, and the fills make ${formatDecimal(net)}: it liquidated some, others traded, or some are not read yet`
      }
    }
  }
}

/** By wallet, of base, bought less sold; undefined where nobody knows. */
const netsOf = ({ wallets, changed }: PerpetualBook): ReadonlyMap<string, DecimalParts | undefined> =>
  new Map([...changed, ...wallets].map(([address, { net }]) => [address, net]))

const hasWallet = ({ wallets, changed }: PerpetualBook, address: string): boolean => wallets.has(address) || changed.has(address)

const isAt = (one: PerpetualBook, other: PerpetualBook): boolean =>
  one.chain === other.chain && one.network === other.network && one.connector === other.connector
