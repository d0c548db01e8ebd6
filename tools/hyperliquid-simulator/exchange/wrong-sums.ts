import { balanceOf } from './account.ts'
import type { Order } from './book.ts'
import { accountOf, type Engine } from './engine.ts'

/** What does not add up: money, positions, loans, what orders hold back, books and fills. Empty where all of it does. */
export function wrongSums(engine: Engine): string[] {
  const accounts = [...engine.accounts.values()]
  const sum = (values: Iterable<bigint>) => [...values].reduce((total, value) => total + value, 0n)
  const perps = sum(
    accounts.map(({ crossUsd, positions }) => crossUsd + sum([...positions.values()].map(({ isolatedUsd = 0n }) => isolatedUsd))),
  )
  const money = engine.listing.tokens.map(({ index, name }) => {
    const there = sum(accounts.map((account) => balanceOf(account, index).total)) + (engine.reserves.get(index)?.balance ?? 0n)
    const ofPerps = index === 0 ? (perps + engine.feesUsd) * 100n : 0n
    const lost = (engine.supply.get(index) ?? 0n) - there - (engine.fees.get(index) ?? 0n) - ofPerps
    return lost === 0n ? [] : [`${lost} of ${name} is lost`]
  })
  const positions = engine.listing.perps.map(({ coin }) => {
    const net = sum(accounts.map((account) => account.positions.get(coin)?.szi ?? 0n))
    return net === 0n ? [] : [`positions of ${coin} come to ${net}`]
  })
  const lent = [...engine.reserves.values()].map(({ token, balance, borrowed, supplied, buffer }) => {
    const loans = accounts.flatMap((account) => account.loans.get(token.index) ?? [])
    const holds = balance + borrowed === supplied + buffer && balance >= 0n
    const agrees = sum(loans.map((loan) => loan.supplied)) === supplied && sum(loans.map((loan) => loan.borrowed)) === borrowed
    return holds && agrees ? [] : [`the reserve of ${token.name}: ${balance} + ${borrowed} against ${supplied} + ${buffer}`]
  })
  const holds = accounts.flatMap((account) =>
    engine.listing.tokens.map(({ index, name }) => {
      const { total, hold } = balanceOf(account, index)
      const pays = ({ market, isBuy }: Order) => market.kind === 'spot' && (isBuy ? market.quote : market.base).index === index
      const held = sum([...account.open.values()].filter(pays).map((each) => each.held))
      const covered = account.mode === 'portfolioMargin' || hold <= total
      return held === hold && total >= 0n && covered ? [] : [`${account.address} holds ${hold} of ${total} ${name} for ${held}`]
    }),
  )
  const books = [...engine.books].map(([coin, { bids, asks }]) => {
    const open = [...bids, ...asks].flatMap(({ orders }) => orders)
    const crossed = bids[0] && asks[0] && bids[0].px >= asks[0].px
    const right = open.every((each) => each.status === 'open' && each.sz > 0n && accountOf(engine, each.owner).open.get(each.oid) === each)
    return !crossed && right ? [] : [`the book of ${coin}`]
  })
  const filled = accounts.flatMap((account) =>
    account.orders.map((each) => {
      const fills = sum(account.fills.filter(({ oid }) => oid === each.oid).map(({ sz }) => sz))
      return fills === each.origSz - each.sz ? [] : [`${fills} filled of order ${each.oid}, and it says ${each.origSz - each.sz}`]
    }),
  )
  return [money, positions, lent, holds, books, filled].flat(2)
}
