import { expect } from 'chai'
import { expectOk } from './expect.ts'
import { createLpFixture, inOrderOf, isClose, rawLike, raws, type LpFixture, type MinedChange } from './lp-fixture.ts'
import {
  addCards,
  advanceTime,
  atNode,
  highPriorityFields,
  lowPriorityFields,
  mineAfterDeadline,
  minedInOneBlock,
  toRaw,
  venueFields,
  withoutAllowance,
} from './venue.ts'
import type { AddCard, Card, TestVenue } from './venue.ts'

/**
 * What every exchange of the trading type AMM_RANGE must do.
 * @param versions its further versions that have positions
 */
export function lpCards(venue: TestVenue, add: AddCard, versions: readonly string[] = []): void {
  const cards = [...changeCards, ...priceCards, ...refusalCards, ...onChainCards]
  addCards(cards, () => createLpFixture(venue), add)
  for (const version of versions)
    addCards(
      cards.map(([title, run]): Card<LpFixture> => [`${title} (${version})`, run]),
      () => createLpFixture(venue, version),
      add,
    )
}

const changeCards: readonly Card<LpFixture>[] = [
  [
    'LP-01 an added position has the quoted amounts, and shows them',
    async ({ around, add, position, owner, pool, venue }) => {
      const { answer, fill } = await add(await around(0.9, 1.1))
      expect(fill).to.include({ amount0: answer.amount0, amount1: answer.amount1, liquidity: answer.liquidity })
      const shown = await position(fill.tokenId)
      expect(shown).to.include({
        tokenId: fill.tokenId,
        liquidity: fill.liquidity,
        inRange: true,
        owner,
        pool: pool.address,
        fee: pool.fee,
      })
      const held = raws(inOrderOf(answer, shown, [shown.amount0, shown.amount1]))
      for (const [i, paid] of raws([fill.amount0, fill.amount1]).entries()) {
        // The contracts round deposits up and withdrawals down.
        const lostRaw = paid - (held[i] ?? 0n)
        expect(lostRaw === 0n || lostRaw === 1n, JSON.stringify({ fill, shown })).to.equal(true)
      }
      expect(raws([shown.unclaimedToken0, shown.unclaimedToken1])).to.deep.equal([0n, 0n])

      const { body } = await venue.client.get('/amm/liquidity/positions', { ...venueFields(venue), address: owner })
      const isIt = (each: { tokenId: string; version: string }) => each.tokenId === fill.tokenId && each.version === shown.version
      const listed = body.positions.filter(isIt)
      const { blockNumber, timestamp, latency, network: on, ...alone } = shown
      expect([on, blockNumber > 0, timestamp > 0, latency > 0]).to.deep.equal([venue.network, true, true, true])
      expect(listed).to.deep.equal([alone])
    },
  ],
  [
    'LP-02 adding never takes more than was offered, and nearly all of one token',
    async ({ around, add }) => {
      for (const amount0 of ['0.1', '0.5', '2']) {
        // Room for the price may have to be left of what is offered: here is none.
        const request = await around(0.8, 1.05, { amount0, allowedSlippage: '0/1' })
        const { fill } = await add(request)
        const left = (['amount0', 'amount1'] as const).map((each) => {
          const offered = rawLike(request[each], fill[each])
          expect(toRaw(fill[each]) <= offered, JSON.stringify({ request, fill })).to.equal(true)
          return Number(offered - toRaw(fill[each])) / Number(offered)
        })
        expect(Math.min(...left), JSON.stringify({ request, fill })).to.be.below(1e-5)
      }
    },
  ],
  [
    'LP-03 removing a whole position returns what it showed, to the unit',
    async ({ around, add, position, remove, balances, pool: { token0, token1 } }) => {
      const request = await around(0.9, 1.1)
      const { fill: added, answer: adding } = await add(request)
      const shown = await position(added.tokenId)
      const before = await balances([token0, token1])
      const { answer, fill } = await remove({ tokenId: added.tokenId })
      const got = (await balances([token0, token1])).map((after, i) => after - (before[i] ?? 0n))
      expect([answer.liquidity, fill.liquidity]).to.deep.equal([shown.liquidity, shown.liquidity])
      expect(fill).to.include({ tokenId: added.tokenId, amount0: shown.amount0, amount1: shown.amount1 })
      expect(got).to.deep.equal(inOrderOf(adding, shown, [toRaw(fill.amount0), toRaw(fill.amount1)]))
      expect(await position(added.tokenId)).to.include({ liquidity: '0', inRange: true })
    },
  ],
  [
    'LP-04 unclaimed fees are its share of the fees of swaps, and collecting returns exactly those',
    async ({ around, add, position, price, sellMined, collect, balances, pool: { fee, token0, token1 } }) => {
      const { fill: added, answer } = await add(await around(0.9, 1.1))
      const { liquidity } = await price()
      const { amountInRaw } = await sellMined('0.01')
      expect((await price()).liquidity).to.equal(liquidity, 'the swap was too large for this card')
      const shown = await position(added.tokenId)
      const [earned, nothing] = inOrderOf(answer, shown, [shown.unclaimedToken0, shown.unclaimedToken1])
      // The exchange may keep a part of the fee, but less than half.
      const share = (amountInRaw * BigInt(fee) * BigInt(added.liquidity)) / (1_000_000n * BigInt(liquidity))
      expect(toRaw(earned) <= share + 1n && toRaw(earned) * 2n >= share - 2n, `${earned} of a share of ${share}`).to.equal(true)
      expect(toRaw(nothing)).to.equal(0n)

      const before = await balances([token0, token1])
      const { fill } = await collect({ tokenId: added.tokenId })
      const got = (await balances([token0, token1])).map((after, i) => after - (before[i] ?? 0n))
      const { tokenId, unclaimedToken0: amount0, unclaimedToken1: amount1 } = shown
      const { fees0 = amount0, fees1 = amount1, ...rest } = fill
      expect(rest).to.deep.equal({ tokenId, liquidity: '0', amount0, amount1 })
      // Where the receipt tells which part is fees, it is all of it.
      expect([fees0, fees1]).to.deep.equal([amount0, amount1])
      expect(got).to.deep.equal([toRaw(earned), 0n])
      const after = await position(tokenId)
      expect(after.liquidity).to.equal(added.liquidity)
      expect(raws([after.unclaimedToken0, after.unclaimedToken1])).to.deep.equal([0n, 0n])
    },
  ],
  [
    'LP-05 a range on one side of the price takes one token only',
    async ({ around, add, position, refused }) => {
      for (const [below, above, taken, left] of [
        [1.1, 1.2, 'amount0', 'amount1'],
        [0.8, 0.9, 'amount1', 'amount0'],
      ] as const) {
        const request = await around(below, above)
        const { fill, answer } = await add({ ...request, [left]: '0' })
        expect([toRaw(fill[taken]) > 0n, toRaw(fill[left])]).to.deep.equal([true, 0n])
        expect(answer).to.include({ amount0: fill.amount0, amount1: fill.amount1 })
        expect((await position(fill.tokenId)).inRange).to.equal(false)
        // The unused token stays in the wallet.
        expect((await add(request)).fill).to.include({ amount0: fill.amount0, amount1: fill.amount1 })
        await refused('add', { ...request, [taken]: '0' }, '400 INCOMPLETE_PARAMS', taken)
      }
    },
  ],
  [
    'LP-06 liquidity can be added to a position, and removed in part',
    async ({ around, add, remove, position }) => {
      const { fill: first, answer } = await add(await around(0.9, 1.1))
      const request = await around(0.9, 1.1, { tokenId: first.tokenId, lowerPrice: undefined, upperPrice: undefined })
      const { fill: second, answer: again } = await add(request)
      expect(second.tokenId).to.equal(first.tokenId)
      const { lowerPrice, upperPrice, pool } = answer
      expect(again).to.include({ tokenId: first.tokenId, lowerPrice, upperPrice, pool })
      const whole = BigInt(first.liquidity) + BigInt(second.liquidity)
      expect((await position(first.tokenId)).liquidity).to.equal(String(whole))
      // The position's own bounds are accepted.
      await add({ ...request, lowerPrice, upperPrice })
      const { liquidity } = await position(first.tokenId)
      const { fill: part } = await remove({ tokenId: first.tokenId, decreasePercent: '12.5' })
      expect(BigInt(part.liquidity)).to.equal((BigInt(liquidity) * 125n) / 1000n)
      expect(BigInt((await position(first.tokenId)).liquidity)).to.equal(BigInt(liquidity) - BigInt(part.liquidity))
    },
  ],
  [
    'LP-07 an emptied position can be burned, and is unknown afterwards',
    async ({ around, add, remove, position, refused, owner }) => {
      const { fill: burnt } = await add(await around(0.9, 1.1))
      const { fill } = await remove({ tokenId: burnt.tokenId, burn: true })
      expect(fill.liquidity).to.equal(burnt.liquidity)
      const { fill: emptied } = await add(await around(0.9, 1.1))
      await remove({ tokenId: emptied.tokenId })
      expect((await position(emptied.tokenId)).liquidity).to.equal('0')
      await refused('remove', { address: owner, tokenId: emptied.tokenId }, '422 TRADE_FAILED')
      await refused('collect_fees', { address: owner, tokenId: emptied.tokenId }, '422 TRADE_FAILED')
      await remove({ tokenId: emptied.tokenId, burn: true })
      for (const { tokenId } of [burnt, emptied]) {
        await refused('position', { tokenId }, '404 UNKNOWN_POSITION')
        for (const endpoint of ['remove', 'collect_fees']) await refused(endpoint, { address: owner, tokenId }, '404 UNKNOWN_POSITION')
      }
    },
  ],
]

const priceCards: readonly Card<LpFixture>[] = [
  [
    'LP-08 the tokens in reverse order give the mirrored answer',
    async ({ around, add, price, position, pool: { token0, token1, fee } }) => {
      const [there, back] = [await price(), await price({ token0: token1, token1: token0 })]
      expect([back.token0, back.token1]).to.deep.equal([there.token1, there.token0])
      expect(isClose(Number(there.price) * Number(back.price), 1), `${there.price} ${back.price}`).to.equal(true)
      for (const own of ['pool', 'tick', 'sqrtPriceX96', 'liquidity'] as const) expect(back[own], own).to.equal(there[own])

      const request = await around(0.9, 1.1)
      const one = await add(request)
      const other = await add({
        ...request,
        token0: token1,
        token1: token0,
        fee,
        amount0: request.amount1,
        amount1: request.amount0,
        lowerPrice: String(1 / Number(request.upperPrice)),
        upperPrice: String(1 / Number(request.lowerPrice)),
      })
      expect(other.fill).to.include({ amount0: one.fill.amount1, amount1: one.fill.amount0, liquidity: one.fill.liquidity })
      expect(isClose(Number(other.answer.lowerPrice) * Number(one.answer.upperPrice), 1)).to.equal(true)
      expect(isClose(Number(other.answer.upperPrice) * Number(one.answer.lowerPrice), 1)).to.equal(true)
      const { lowerPrice, upperPrice, poolPrice } = await position(one.fill.tokenId)
      expect(await position(other.fill.tokenId)).to.include({ lowerPrice, upperPrice, poolPrice })
    },
  ],
  [
    'LP-09 bounds are rounded outward, and the used bounds give the same range again, in either order',
    async ({ around, add, pool: { token0, token1 } }) => {
      const request = await around(0.93, 1.04)
      const { answer } = await add(request)
      expect(Number(answer.lowerPrice)).to.be.at.most(Number(request.lowerPrice))
      expect(Number(answer.upperPrice)).to.be.at.least(Number(request.upperPrice))
      const { lowerPrice, upperPrice } = answer
      expect((await add({ ...request, lowerPrice, upperPrice })).answer).to.include({ lowerPrice, upperPrice })

      const { answer: mirrored } = await add({
        ...request,
        token0: token1,
        token1: token0,
        amount0: request.amount1,
        amount1: request.amount0,
        lowerPrice: String(1 / Number(request.upperPrice)),
        upperPrice: String(1 / Number(request.lowerPrice)),
      })
      const turned = { token0: token1, token1: token0, amount0: request.amount1, amount1: request.amount0 }
      const used = { lowerPrice: mirrored.lowerPrice, upperPrice: mirrored.upperPrice }
      expect((await add({ ...request, ...turned, ...used })).answer).to.include(used)
    },
  ],
  [
    'LP-10 the series of prices has the requested length, and an error says how far back the oracle reaches',
    async ({ venue, price, sellMined, refused, version, pool: { token0, token1, fee } }) => {
      await sellMined('0.001')
      await advanceTime(venue, 3)
      const request = { token0, token1, fee }
      // No series goes back further.
      const tenYears = 315_360_000
      const far = await refused('price', { ...request, period: tenYears, interval: 1_000_000 }, '422 PRICE_FAILED')
      const { holdsSeconds } = far.body.details
      // Pools of a further version may have no oracle: they say so.
      if (version !== undefined && holdsSeconds === undefined) {
        expect(far.body.message).to.contain('no past prices')
        return
      }
      expect(holdsSeconds).to.be.within(1, tenYears)
      expect(far.body.message).to.contain(String(holdsSeconds))

      const period = Math.min(holdsSeconds, 10)
      const series = await price({ period, interval: 1 })
      expect(series).to.include({ period, interval: 1 })
      expect(series.prices).to.have.length(period)
      // Without trades the mean is the price of a whole tick, and ticks are a factor of 1.0001 apart.
      const last = Number(series.prices.at(-1))
      expect(Math.abs(last / Number(series.price) - 1)).to.be.below(0.00011)
      expect((await price({ period, interval: period })).prices).to.have.length(1)
      expect((await price()).prices).to.deep.equal([])

      await refused('price', { ...request, period: 60, interval: 61 }, '400 INCOMPLETE_PARAMS', 'interval')
      await refused('price', { ...request, period: 60 }, '400 INCOMPLETE_PARAMS', 'interval')
      await refused('price', { ...request, interval: 60 }, '400 INCOMPLETE_PARAMS', 'period')
      await refused('price', { ...request, period: 1_000_000, interval: 1 }, '400 INCOMPLETE_PARAMS', 'interval')
    },
  ],
]

const bad = '400 INCOMPLETE_PARAMS'

const refusalCards: readonly Card<LpFixture>[] = [
  [
    'LP-11 bounds that are not a range are refused, naming the field',
    async ({ around, refused }) => {
      const request = await around(0.9, 1.1)
      const { lowerPrice, upperPrice } = request
      await refused('add', { ...request, lowerPrice: upperPrice, upperPrice: lowerPrice }, bad, 'lowerPrice')
      await refused('add', { ...request, upperPrice: lowerPrice }, bad, 'lowerPrice')
      await refused('add', { ...request, lowerPrice: '0' }, bad, 'lowerPrice')
      await refused('add', { ...request, lowerPrice: '1e-90' }, bad, 'lowerPrice')
      await refused('add', { ...request, upperPrice: '1e90' }, bad, 'upperPrice')
      await refused('add', { ...request, lowerPrice: '1e89', upperPrice: '1e90' }, bad, 'lowerPrice')
      await refused('add', { ...request, lowerPrice: undefined }, bad, 'lowerPrice')
      await refused('add', { ...request, lowerPrice: undefined, upperPrice: undefined }, bad, 'lowerPrice')
    },
  ],
  [
    'LP-12 amounts without liquidity are refused, naming the field',
    async ({ around, refused, venue, owner, pool: { token0 } }) => {
      const request = await around(0.9, 1.1)
      await refused('add', { ...request, amount0: '0', amount1: '0' }, bad, 'amount0')
      await refused('add', { ...request, amount0: '0' }, bad, 'amount0')
      await refused('add', { ...request, amount1: '0' }, bad, 'amount1')
      await refused('add', { ...request, amount0: '1e75' }, bad, 'amount0')
      await refused('add', { ...request, amount0: '1.1234567890123456789' }, bad, 'amount0')
      const rich = await refused('add', { ...request, amount0: '1e12', amount1: '1e15' }, '422 INSUFFICIENT_BALANCE')
      expect(rich.body.details).to.include.keys('token', 'current', 'needed')
      await withoutAllowance(venue, owner, token0, () => refused('add', request, '422 INSUFFICIENT_ALLOWANCE'))
    },
  ],
  [
    'LP-13 an unknown fee tier is refused with the known ones',
    async ({ around, refused, price, pool: { fee } }) => {
      const request = await around(0.9, 1.1)
      for (const wrong of ['HUGE', '1234567'])
        expect((await refused('add', { ...request, fee: wrong }, bad, 'fee')).body.message).to.contain(String(fee))
      await refused('price', { token0: request.token0, token1: request.token1, fee: '0.3%' }, bad, 'fee')
      expect((await price({ fee: String(fee) })).fee).to.equal(fee)
    },
  ],
  [
    'LP-14 a position of another wallet, or an unknown one, is refused',
    async ({ around, add, refused, position, owner, other }) => {
      const request = await around(0.9, 1.1)
      const { fill } = await add(request)
      const { tokenId } = fill
      const before = await position(tokenId)
      for (const [endpoint, fields] of [
        ['remove', {}],
        ['collect_fees', {}],
        ['add', request],
      ] as const) {
        const refusal = await refused(endpoint, { ...fields, address: other, tokenId }, '404 UNKNOWN_POSITION')
        expect(refusal.body.message).to.contain(owner)
        for (const unknown of ['0', '999999999999', String(2n ** 256n), '9'.repeat(78)])
          await refused(endpoint, { ...fields, address: owner, tokenId: unknown }, '404 UNKNOWN_POSITION')
      }
      await refused('position', { tokenId: '999999999999' }, '404 UNKNOWN_POSITION')
      const { liquidity, amount0, amount1 } = before
      expect(await position(tokenId)).to.include({ liquidity, amount0, amount1, owner })
    },
  ],
  [
    'LP-15 fields that contradict the position are refused, naming the field',
    async ({ around, add, refused, owner, pool: { token0, fee } }) => {
      const request = await around(0.9, 1.1)
      const { tokenId } = (await add(request)).fill
      await refused('add', { ...request, tokenId, lowerPrice: String(Number(request.lowerPrice) / 2) }, bad, 'lowerPrice')
      await refused('add', { ...request, tokenId, fee: String(fee + 1) }, bad, 'fee')
      const stranger = ['WETH', 'USDC', 'DAI', 'WBTC', 'USDT'].find((each) => each !== token0 && each !== request.token1)
      await refused('add', { ...request, tokenId, token1: stranger }, bad, 'token0')
      await refused('add', { ...request, token1: token0 }, bad, 'token1')
      for (const decreasePercent of ['0', '100.000001', '1000'])
        await refused('remove', { address: owner, tokenId, decreasePercent }, bad, 'decreasePercent')
      await refused('remove', { address: owner, tokenId, decreasePercent: '50', burn: true }, bad, 'burn')
      await refused('remove', { address: owner, tokenId, allowedSlippage: '99/100' }, bad, 'allowedSlippage')
    },
  ],
]

const boundMissing =
  'The price moved past what the request allows, and the change was carried out: the call has to have the minimum amounts that follow from terms.slippage, where the contract enforces them.'
const deadlineMissing =
  'The change was mined after its deadline, and carried out: the call has to have terms.deadline, in seconds, where the contract enforces it.'

const onChainCards: readonly Card<LpFixture>[] = [
  [
    'LP-16 a price that moved further than allowed reverts on chain and costs only gas',
    async ({ venue, around, add, send, sell, balances, position, owner, pool: { token0, token1 } }) => {
      const { tokenId } = (await add(await around(0.9, 1.1))).fill
      const strict = { allowedSlippage: '0/1', ...lowPriorityFields(venue) }
      for (const [endpoint, fields] of [
        ['add', { ...(await around(0.99, 1.01)), ...strict }],
        ['remove', { address: owner, tokenId, ...strict }],
      ] as const) {
        let before: unknown
        const { txReceipt, fill } = await minedInOneBlock(venue, async () => {
          before = await balances([token0, token1])
          const { txHash } = expectOk(await send(endpoint, fields))
          await atNode(venue, expectOk(await sell('1', { ...highPriorityFields(venue) })).txHash)
          return txHash
        })
        expect([endpoint, txReceipt.status, fill], boundMissing).to.deep.equal([endpoint, 0, undefined])
        expect(await balances([token0, token1])).to.deep.equal(before)
      }
      expect(BigInt((await position(tokenId)).liquidity) > 0n).to.equal(true)
    },
  ],
  [
    'LP-17 a transaction after its deadline reverts on chain and costs only gas',
    async ({ venue, around, add, send, balances, owner, pool: { token0, token1 } }) => {
      const { tokenId } = (await add(await around(0.9, 1.1))).fill
      for (const [endpoint, fields] of [
        ['add', await around(0.9, 1.1)],
        ['remove', { address: owner, tokenId }],
      ] as const) {
        let before: unknown
        const { txReceipt } = await minedInOneBlock(venue, async () => {
          before = await balances([token0, token1])
          return mineAfterDeadline(venue, expectOk(await send(endpoint, fields)))
        })
        expect([endpoint, txReceipt.status], deadlineMissing).to.deep.equal([endpoint, 0])
        expect(await balances([token0, token1])).to.deep.equal(before)
      }
    },
  ],
  [
    'LP-18 the native coin can be added, its rest is returned, and it is withdrawn where requested',
    async ({ around, add, remove, collect, balances, sellMined, position, coinPool, pool: { token0, token1, address } }) => {
      // Only for a pool with the wrapped coin, which is WETH on the devnet.
      const side = token0 === 'WETH' ? 0 : token1 === 'WETH' ? 1 : undefined
      if (side === undefined) return { notTested: 'the first pool of the devnet that swaps go through has no WETH: fill one in devnet.ts' }
      const symbols = ['ETH', 'WETH']
      const coin = await coinPool()
      const hasCoin = coin.address !== address
      const ofCoin = { [`token${side}`]: 'ETH', [`amount${side}`]: side === 0 ? '2' : '20000', fee: coin.fee }
      const request = await around(0.9, 1.1, ofCoin)
      const changeOf = async (change: () => Promise<{ gasRaw: bigint }>) => {
        const before = await balances(symbols)
        const { gasRaw } = await change()
        const after = await balances(symbols)
        const [coin = 0n, wrapped = 0n] = after.map((each, i) => each - (before[i] ?? 0n))
        return { coin: coin + gasRaw, wrapped }
      }
      let tokenId = ''
      let paid = 0n
      const added = await changeOf(async () => {
        const done = await add(request)
        tokenId = done.fill.tokenId
        paid = toRaw(side === 0 ? done.fill.amount0 : done.fill.amount1)
        expect(side === 0 ? done.answer.token0 : done.answer.token1).to.equal(`0x${'0'.repeat(40)}`)
        return done
      })
      expect(added).to.deep.equal({ coin: -paid, wrapped: 0n })
      const more = await changeOf(async () => {
        const done = await add({ ...request, tokenId, lowerPrice: undefined, upperPrice: undefined })
        paid = toRaw(side === 0 ? done.fill.amount0 : done.fill.amount1)
        return done
      })
      expect(more).to.deep.equal({ coin: -paid, wrapped: 0n })

      const through = hasCoin ? { pool: coin.address } : {}
      await sellMined('0.01', side === 0 ? through : { base: token1, quote: token0, ...through })
      const shown = await position(tokenId)
      // Among the pool's tokens only the coin has 18 decimals, or it comes first.
      const got = async (native: boolean, change: LpFixture['remove'], fields: object = {}) => {
        let amounts: string[] = []
        const moved = await changeOf(async () => {
          const done: MinedChange = await change({ tokenId, native, ...fields })
          amounts = [done.fill.amount0, done.fill.amount1]
          return done
        })
        const expected = toRaw(amounts.find((each) => each.split('.')[1]?.length === 18) ?? '0')
        expect(moved).to.deep.equal(native || hasCoin ? { coin: expected, wrapped: 0n } : { coin: 0n, wrapped: expected })
      }
      expect(BigInt(shown.liquidity) > 0n).to.equal(true)
      await got(true, collect)
      await got(false, remove, { decreasePercent: '50' })
      await got(true, remove)
    },
  ],
]
