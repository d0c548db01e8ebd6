import { expect } from 'chai'
import type { AMM, Quote, Swap, Token } from '../../../../core/contracts/index.ts'
import { partsOf } from '../../../../kits/amm/index.ts'
import { at } from '../devnet-fixture.ts'
import { givenOrRefused } from './given-or-refused.ts'
import { ownQuoter } from './own-quoter.ts'
import type { WalkFixture } from './walk-fixture.ts'
import { routesBetween, type WalkRoute } from './walk-pools.ts'

export type Choice = Parameters<AMM['quote']>[1]
const mostCompared = 40

/** Compares the connector's quotes with the exchange's own contracts at the same block. */
export function walkChecker(fixture: WalkFixture, pick: <T>(from: readonly T[]) => T) {
  const ask = ownQuoter(fixture.contracts, fixture.rpc)
  const counted = { quotes: 0, refusals: 0, compared: 0, v2: 0, v3: 0, mixed: 0, split: 0, hops: [0, 0, 0] }
  const onChain = ({ native, address }: Token) => (native ? fixture.wrapped : address)

  const routesOf = (quote: Quote) =>
    partsOf(quote).map(({ route, exactRaw, otherRaw }) => ({
      exactRaw,
      otherRaw,
      tokens: [...route.slice(0, 1).map(({ tokenIn }) => tokenIn), ...route.map(({ tokenOut }) => tokenOut)],
      pools: route.map(({ pool }) => {
        const known = fixture.pools.find(({ address }) => address === pool)
        if (!known) throw new Error(`The factories know no pool ${pool}.`)
        return known
      }),
    }))

  /** Some of the routes that the connector may take. */
  const others = ({ tokenIn, tokenOut, exact }: Swap, choice: Choice, most: number): readonly WalkRoute[] => {
    const all = routesBetween(fixture.pools, onChain(tokenIn), onChain(tokenOut), fixture.between, versionsAllowed(exact, choice))
    return all.length <= most ? all : Array.from({ length: most }, () => pick(all))
  }

  const versionsAllowed =
    (exact: 'in' | 'out', { version }: Choice) =>
    (versions: readonly string[]): boolean =>
      version === undefined ? exact === 'in' || new Set(versions).size === 1 : versions.every((each) => each === version)

  /**
   * A route that a pool takes only because an earlier pool gave less than another would. No connector uses it: with more than the pool takes, a
   * smaller input is better.
   */
  const isDetour = async ({ tokens, pools }: WalkRoute, { exact, amountRaw }: Swap, choice: Choice, block: bigint): Promise<boolean> => {
    if (exact === 'out') return false
    const [tokenIn = ''] = tokens
    for (let hops = 1; hops < pools.length; hops += 1) {
      const ways = routesBetween(fixture.pools, tokenIn, tokens[hops] ?? '', fixture.between, versionsAllowed(exact, choice))
      const short = ways.filter((way) => way.pools.length <= 3 - (pools.length - hops))
      let maxRaw = 0n
      for (const way of short) {
        const raw = (await ask(way, exact, amountRaw, block)) ?? 0n
        if (raw > maxRaw) maxRaw = raw
      }
      if ((await ask({ tokens: tokens.slice(hops), pools: pools.slice(hops) }, exact, maxRaw, block)) === undefined) return true
    }
    return false
  }

  const latest = async () => BigInt(String(await fixture.rpc('eth_blockNumber')))

  const quoteAlike = (swap: Swap, choice: Choice, what: string) =>
    holdAlike(() => fixture.amm.quote(swap, choice, at()), swap, choice, what)

  /** The quote on which connector and exchange agree; undefined where both refuse. */
  const holdAlike = async (give: () => Promise<Quote>, swap: Swap, choice: Choice, what: string): Promise<Quote | undefined> => {
    const quote = await givenOrRefused(give())
    counted.quotes += 1
    if (!quote) {
      counted.refusals += 1
      const block = await latest()
      for (const route of others(swap, choice, mostCompared)) {
        const given = ((await ask(route, swap.exact, swap.amountRaw, block)) ?? 0n) > 0n && !(await isDetour(route, swap, choice, block))
        expect(given, `${what} was refused: ${show(route)}`).to.equal(false)
      }
      return undefined
    }
    const routes = routesOf(quote)
    let [exactRaw, otherRaw] = [0n, 0n]
    for (const route of routes) {
      expect(route.otherRaw, `${what}: ${show(route)}`).to.equal(await ask(route, swap.exact, route.exactRaw, quote.head.number))
      exactRaw += route.exactRaw
      otherRaw += route.otherRaw
      const versions = new Set(route.pools.map((pool) => pool.version))
      counted[versions.size > 1 ? 'mixed' : versions.has('v2') ? 'v2' : 'v3'] += 1
      counted.hops[route.pools.length - 1] = (counted.hops[route.pools.length - 1] ?? 0) + 1
    }
    expect([exactRaw, otherRaw], what).to.deep.equal([swap.amountRaw, quote.amountRaw])
    const passed = quote.route.map(({ pool }) => pool)
    expect(new Set(passed).size, `${what} meets a pool twice`).to.equal(passed.length)
    counted.split += routes.length > 1 ? 1 : 0
    return quote
  }

  /** Checks that no other route is better by the exchange's own quotes, if gas is free. */
  const noneBetter = async (swap: Swap, choice: Choice, what: string): Promise<void> => {
    const quote = await givenOrRefused(fixture.gasless.quote(swap, choice, at()))
    if (!quote) return
    counted.compared += 1
    for (const route of others(swap, choice, mostCompared)) {
      const otherRaw = await ask(route, swap.exact, swap.amountRaw, quote.head.number)
      const gives = otherRaw !== undefined && (swap.exact === 'in' ? otherRaw > quote.amountRaw : otherRaw < quote.amountRaw)
      const better = gives && !(await isDetour(route, swap, choice, quote.head.number))
      expect(
        better,
        `${what}: ${routesOf(quote).map(show).join(' and ')} gives ${quote.amountRaw}, and ${show(route)} ${otherRaw}`,
      ).to.equal(false)
    }
  }

  return { counted, onChain, quoteAlike, holdAlike, noneBetter }
}

const show = ({ tokens, pools }: WalkRoute) =>
  tokens
    .flatMap((token, index) => [...(index === 0 ? [] : [`${pools[index - 1]?.version}/${pools[index - 1]?.fee}`]), token.slice(0, 6)])
    .join(' ')
