// Holds the fills of perpetuals of order books against the positions that exchanges have: what they liquidated, and what others than this server traded,
// is in no order of the journal.
import { formatDecimal, type DecimalParts } from '../base/decimal.ts'
import type { Book } from './book.ts'
import { maxWallets, type ExchangeWallet } from './funding.ts'
import { plus } from './trades.ts'

/** By market, of base, below 0 for a short one; or why nobody knows. */
export type ExchangePositions = { readonly held: ReadonlyMap<string, DecimalParts> } | { readonly unknown: string }

export type PositionReader = (of: ExchangeWallet, signal: AbortSignal) => Promise<ExchangePositions>

const tooMany = { unknown: `positions of ${maxWallets} wallets are read at most: take one wallet` }

const noAmount: DecimalParts = { digits: 0n, scale: 0 }

/** Of a book of all time and of all clients: only then the fills of a wallet are its position. */
export async function comparePositions(book: Book, read: PositionReader, signal: AbortSignal): Promise<void> {
  const known = new Map<string, ExchangePositions>()
  for (const perpetual of book.perpetuals.values()) {
    const { chain, network, connector, market, wallets } = perpetual
    for (const [address, { net }] of wallets) {
      const wallet = JSON.stringify([chain, network, connector, address])
      const found = known.get(wallet) ?? (known.size < maxWallets ? await read({ chain, network, connector, address }, signal) : tooMany)
      known.set(wallet, found)
      if ('unknown' in found) perpetual.lacksFills = `they are not held against the positions of ${connector}: ${found.unknown}`
      else {
        const held = found.held.get(market) ?? noAmount
        if (plus(held, { ...net, digits: -net.digits }).digits === 0n) continue
        perpetual.lacksFills = `${connector} has a position of ${formatDecimal(held)} for ${address}, and the fills make ${formatDecimal(net)}: it liquidated some, others traded, or some are not read yet`
      }
    }
  }
}
