import { Wallet, id as hashOf, parseUnits, toBeHex, type Contract, type TransactionReceipt } from 'ethers'
import type { BookOperator, DevnetSite, ExchangeOrder } from '../../../contracts/devnet.ts'
import { amountText, priceText } from '../../../../kits/oasis/decimal.ts'
import { actAs } from './act-as.ts'
import { offer, quoteOf } from './books.ts'
import { marketAt } from './market.ts'
import { sortedOffers, type SortedOffer } from './sorted-offers.ts'
import { balanceOf, give, tokenAt, type OperatorToken } from './tokens.ts'

type Side = 'buys' | 'sells'
type Level = Awaited<ReturnType<BookOperator['book']>>['buys'][number]
interface Named {
  readonly base: OperatorToken
  readonly quote: OperatorToken
}

/** Who else trades on the market, and what the market itself says. */
export async function operatorOf(site: DevnetSite, pairs: readonly (readonly [string, string])[]): Promise<BookOperator> {
  const market = await marketAt(site)
  const address = await market.getAddress()
  const trader = new Wallet(hashOf('sluice devnet: another trader')).address
  const markets: Named[] = []
  for (const [base, quote] of pairs) markets.push({ base: await tokenAt(site, base), quote: await tokenAt(site, quote) })
  const find = (name: string): Named => {
    const found = markets.find(({ base, quote }) => name === `${base.symbol}-${quote.symbol}`)
    if (!found) throw new Error(`There is no market ${name} on the devnet.`)
    return found
  }
  const sideOf = ({ base, quote }: Named, side: Side, blockTag: number | 'latest' = 'latest') =>
    side === 'sells'
      ? sortedOffers(market, base.address, quote.address, blockTag)
      : sortedOffers(market, quote.address, base.address, blockTag)
  const act = (from: string, method: string, ...args: readonly unknown[]) =>
    actAs(site, from, { to: address, data: market.interface.encodeFunctionData(method, [...args]) })

  return {
    async book(name, blockNumber) {
      const named = find(name)
      return {
        buys: levels(named, 'buys', await sideOf(named, 'buys', blockNumber)),
        sells: levels(named, 'sells', await sideOf(named, 'sells', blockNumber)),
      }
    },
    async clear(name, wallets) {
      for (const side of ['buys', 'sells'] as const)
        for (const { id, owner } of await sideOf(find(name), side)) if (!wallets.includes(owner)) await act(owner, 'cancel', id)
    },
    async place(name, { side, price, amount }) {
      const { base, quote } = find(name)
      const baseRaw = parseUnits(amount, base.decimals)
      const quoteRaw = quoteOf(baseRaw, price, base.decimals, quote.decimals)
      if (side === 'BUY') {
        await give(site, quote, trader, quoteRaw, address)
        return madeIn(market, await act(trader, offer, quoteRaw, quote.address, baseRaw, base.address, 0n, true))
      }
      await give(site, base, trader, baseRaw, address)
      // An offer of base ends with the quote that it asks for, and would sell less of it at better prices: those are taken before.
      const soldRaw = crossedRaw(await sideOf(find(name), 'buys'), baseRaw, quoteRaw)
      if (soldRaw > 0n) await act(trader, 'sellAllAmount', base.address, soldRaw, quote.address, 0n)
      const leftRaw = baseRaw - soldRaw
      if (leftRaw === 0n) return {}
      return madeIn(market, await act(trader, offer, leftRaw, base.address, (quoteRaw * leftRaw) / baseRaw, quote.address, 0n, true))
    },
    async cancel(_name, orderId) {
      const { owner } = await market.getFunction('offers').staticCall(orderId)
      await act(owner, 'cancel', orderId)
    },
    async open(name, owner) {
      const named = find(name)
      const own: { id: bigint; order: ExchangeOrder }[] = []
      for (const side of ['buys', 'sells'] as const)
        for (const offered of (await sideOf(named, side)).filter((each) => each.owner === owner)) {
          const made = baseAndQuote(side, await madeAs(market, offered.id))
          const left = baseAndQuote(side, offered)
          const order: ExchangeOrder = {
            orderId: String(offered.id),
            side: side === 'buys' ? 'BUY' : 'SELL',
            price: priceOf(named, side, made),
            amount: amountText(made.baseRaw, named.base.decimals),
            filledAmount: amountText(made.baseRaw - left.baseRaw, named.base.decimals),
          }
          own.push({ id: offered.id, order })
        }
      return own.toSorted((a, b) => Number(a.id - b.id)).map(({ order }) => order)
    },
    async funds(owner, symbol) {
      const token = markets.flatMap(({ base, quote }) => [base, quote]).find((each) => each.symbol === symbol)
      if (!token) throw new Error(`No market of the devnet trades ${symbol}.`)
      let lockedRaw = 0n
      for (const named of markets)
        for (const [side, pays] of [
          ['sells', named.base],
          ['buys', named.quote],
        ] as const)
          if (pays.address === token.address)
            for (const offered of await sideOf(named, side)) if (offered.owner === owner) lockedRaw += offered.payRaw
      return { free: amountText(await balanceOf(site, token, owner), token.decimals), locked: amountText(lockedRaw, token.decimals) }
    },
    // Its flags are the whole exchange's. That one is chosen which leaves the lists as they are: what is cancelled while matching is off stays in them.
    async setStatus(_name, status) {
      if (status === 'closed') await act(site.signer.address, 'stop')
      else await act(site.signer.address, 'setBuyEnabled', status === 'open')
    },
  }
}

const baseAndQuote = (side: Side, { payRaw, buyRaw }: Pick<SortedOffer, 'payRaw' | 'buyRaw'>) =>
  side === 'sells' ? { baseRaw: payRaw, quoteRaw: buyRaw } : { baseRaw: buyRaw, quoteRaw: payRaw }

const priceOf = ({ base, quote }: Named, side: Side, { baseRaw, quoteRaw }: { baseRaw: bigint; quoteRaw: bigint }) =>
  priceText({ numerator: quoteRaw, denominator: baseRaw }, quote.decimals - base.decimals, side === 'sells' ? 'up' : 'down')

function levels(named: Named, side: Side, offers: readonly SortedOffer[]): readonly Level[] {
  const summed = new Map<string, bigint>()
  const worst = side === 'sells' ? 1 : -1
  const sorted = offers
    .map((each) => baseAndQuote(side, each))
    .toSorted((a, b) => (a.quoteRaw * b.baseRaw < b.quoteRaw * a.baseRaw ? -worst : worst))
  for (const each of sorted) {
    const price = priceOf(named, side, each)
    summed.set(price, (summed.get(price) ?? 0n) + each.baseRaw)
  }
  return [...summed].map(([price, baseRaw]) => ({ price, quantity: amountText(baseRaw, named.base.decimals) }))
}

/** How much of an amount of base the bids take that pay what it asks for, or more. */
function crossedRaw(bids: readonly SortedOffer[], baseRaw: bigint, quoteRaw: bigint): bigint {
  const takenRaw = bids.reduce((sum, bid) => (bid.payRaw * baseRaw >= bid.buyRaw * quoteRaw ? sum + bid.buyRaw : sum), 0n)
  return takenRaw < baseRaw ? takenRaw : baseRaw
}

/** What an offer was when it was made: the market keeps what is left. */
async function madeAs(market: Contract, id: bigint): Promise<Pick<SortedOffer, 'payRaw' | 'buyRaw'>> {
  const [made] = await market.queryFilter(market.filters['LogMake']?.(toBeHex(id, 32)) ?? 'LogMake')
  if (!made || !('args' in made)) throw new Error(`The market did not log that offer ${id} was made.`)
  return { payRaw: made.args['pay_amt'], buyRaw: made.args['buy_amt'] }
}

function madeIn(market: Contract, { logs }: TransactionReceipt): { orderId?: string } {
  const made = logs.map((log) => market.interface.parseLog(log)).find((parsed) => parsed?.name === 'LogMake')
  return made ? { orderId: String(BigInt(made.args['id'])) } : {}
}
