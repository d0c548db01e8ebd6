import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect } from 'chai'
import { noteLeftOut } from '../../../core/contracts/answers/contract.ts'
import { bookWithdrawal, collateralWithdrawal, quoteExposure } from '../../../core/handlers/perp/exposure.ts'
import { readBookWorth, readPositions } from '../../../core/handlers/perp/worth.ts'
import { rejection } from '../../transactions/site.ts'

type Arguments = Parameters<typeof quoteExposure>

describe('what a wallet has open in perpetuals before an order', () => {
  /** What the account is worth to limits, in whole dollars. */
  const worth = (valueRaw: bigint, collateralRaw: bigint, profitsRaw: readonly bigint[] = []) => {
    const market = { baseDecimals: 0, quoteDecimals: 0 }
    const positions = profitsRaw.map((unrealizedProfitRaw) => ({ market, unrealizedProfitRaw }))
    const quote = { order: { side: 'LONG', sizeRaw: 1n }, market, prices: { mark: { numerator: 1n, denominator: 1n } } }
    const account = { decimals: 0, valueRaw, collateralRaw, notionalRaw: 0n }
    const { valueMicros } = quoteExposure(
      { account: 'a', lastRequest: undefined } as unknown as Arguments[0],
      quote as unknown as Arguments[1],
      { account, position: { sizeRaw: 0n }, positions, boundRaw: 1n } as unknown as Arguments[2],
    )
    return Number(valueMicros) / 1e6
  }

  it('is not worth more by gains that are not realized, which a pushed mark makes, and is worth less by losses', () => {
    expect(worth(100n, 100n)).to.equal(100)
    expect(worth(5_000n, 100n)).to.equal(100)
    expect(worth(40n, 100n)).to.equal(40)
    expect(worth(-40n, 100n)).to.equal(0)
  })

  it('is worth less by the loss of each position, which no gain of another one hides', async () => {
    expect(worth(100n, 100n, [60n, -60n])).to.equal(39)
    expect(worth(5_000n, 100n, [4_960n, -30n, -30n])).to.equal(38)
    const readOf = (profits: readonly string[], accountValue: string) => {
      const account = { accountValue, collateral: '100', notional: '500' }
      const positions = profits.map((unrealizedProfit) => ({ unrealizedProfit }))
      const perp = { account: async () => account, positions: async () => positions } as unknown as Parameters<typeof readBookWorth>[0]
      return readBookWorth(perp, 'owner', { signal: AbortSignal.timeout(1_000) })
    }
    expect(await readOf(['60.5', '-60.5'], '100')).to.deep.equal({ worth: '39.5', notional: '500' })
    expect(await readOf(['-10', '-20'], '70')).to.deep.equal({ worth: '70', notional: '500' })
    expect((await readOf(['20', '30'], '150')).worth).to.equal('100')
  })

  it('is worth less by the loss of a position also where that is closed while it is read', async () => {
    // A gain of 50 hides the loss of 50 in the value of the account.
    const positions = [{ unrealizedProfit: '50' }, { unrealizedProfit: '-50' }]
    let collateral = '100'
    const closedAfter = <T>(answer: T): T => {
      positions.splice(1)
      collateral = '50'
      return answer
    }
    const perp = {
      account: async () => closedAfter({ accountValue: '100', collateral, notional: '500' }),
      positions: async () => {
        await nextTurn()
        return closedAfter([...positions])
      },
    } as unknown as Parameters<typeof readBookWorth>[0]
    const { worth: least } = await readBookWorth(perp, 'owner', { signal: AbortSignal.timeout(1_000) })
    expect(Number(least)).to.be.at.most(50)
  })

  it('is worth less by the loss of a position on a chain also where that is closed while it is read', async () => {
    const market = { quoteDecimals: 6 }
    let losses = [50_000_000n]
    // A gain of another one hides it.
    let collateralRaw = 100_000_000n
    const closedAfter = <T>(answer: T): T => {
      losses = []
      collateralRaw = 50_000_000n
      return answer
    }
    const perp = {
      listMarkets: async () => ({ settlement: { address: '0xUsd' } }),
      account: async () => closedAfter({ account: { valueRaw: 100_000_000n, collateralRaw, notionalRaw: 0n, decimals: 6 } }),
      async funding() {
        await nextTurn()
        return closedAfter({ funding: losses.map((lossRaw) => ({ market: { ...market, lossRaw } })) })
      },
      position: async (_owner: string, of: { lossRaw: bigint }) => ({ position: { market, unrealizedProfitRaw: -of.lossRaw } }),
    }
    const context = {
      venue: { impl: { PERP_AMM: perp } },
      caller: { id: 'bot' },
      network: {},
      services: { limitsOn: () => ({ maxLeverage: '2' }) },
    }
    const [turn, withdrawal, of] = [{ account: 'a' }, { token: { address: '0xUsd', decimals: 6 }, amountRaw: 0n }, context] as unknown as [
      Parameters<typeof collateralWithdrawal>[0],
      Parameters<typeof collateralWithdrawal>[1],
      Parameters<typeof collateralWithdrawal>[3],
    ]
    const exposure = await collateralWithdrawal(turn, withdrawal, 'owner', of)
    expect(Number(exposure?.valueMicros)).to.be.at.most(50_000_000)
  })

  it('is not told where a position cannot be read', async () => {
    const at = { signal: AbortSignal.timeout(1_000) }
    const account = { accountValue: '1', collateral: '1', notional: '1' }
    const positions = noteLeftOut([], [{ name: 'X', reason: 'unknown' }])
    const book = { account: async () => account, positions: async () => positions } as unknown as Parameters<typeof readBookWorth>[0]
    const chain = { funding: async () => ({ funding: [], unread: [{ market: 'X', reason: 'unknown' }] }) } as unknown as Parameters<
      typeof readPositions
    >[0]
    for (const read of [readBookWorth(book, 'owner', at), readPositions(chain, 'owner', at)])
      expect((await rejection(read)).name).to.equal('PRICE_FAILED')
  })

  it('is worth nothing more after a withdrawal of another token than dollars, whose value nobody tells', async () => {
    const perp = {
      account: async () => ({ accountValue: '100', collateral: '100', notional: '50' }),
      positions: async () => [],
      orders: async () => [],
    }
    const context = {
      venue: { impl: { PERP_CLOB: perp } },
      caller: { id: 'bot' },
      network: {},
      services: { limitsOn: () => ({ maxLeverage: '2' }), settings: { limits: { referenceTokens: ['USDC'] } } },
    }
    const worthAfter = async (symbol: string) => {
      const [turn, of] = [{ account: 'a', lastRequest: undefined }, context] as unknown as [
        Parameters<typeof bookWithdrawal>[0],
        Parameters<typeof bookWithdrawal>[3],
      ]
      return (await bookWithdrawal(turn, { type: 'PERP_CLOB', symbol, amount: '20' }, 'owner', of))?.valueMicros
    }
    expect(await worthAfter('USDC')).to.equal(80_000_000n)
    expect(await worthAfter('USD')).to.equal(80_000_000n)
    expect(await worthAfter('WBTC')).to.equal(0n)
  })

  it('counts an order that is filled while it is read, once at least', async () => {
    // Its maker may take it at any moment.
    const orders: object[] = [{ state: 'OPEN', price: '10', amount: '5', filledAmount: '0' }]
    let notional = '0'
    const filledAfter = <T>(answer: T): T => {
      if (orders.length > 0) notional = '50'
      orders.length = 0
      return answer
    }
    const perp = {
      account: async () => filledAfter({ accountValue: '100', collateral: '100', notional }),
      positions: async () => [],
      orders: async () => {
        await nextTurn()
        return filledAfter([...orders])
      },
    }
    const context = {
      venue: { impl: { PERP_CLOB: perp } },
      caller: { id: 'bot' },
      network: {},
      services: { limitsOn: () => ({ maxLeverage: '2' }), settings: { limits: { referenceTokens: ['USDC'] } } },
    }
    const [turn, of] = [{ account: 'a' }, context] as unknown as [
      Parameters<typeof bookWithdrawal>[0],
      Parameters<typeof bookWithdrawal>[3],
    ]
    const exposure = await bookWithdrawal(turn, { type: 'PERP_CLOB', symbol: 'USDC', amount: '20' }, 'owner', of)
    expect(Number(exposure?.openMicros)).to.be.at.least(50_000_000)
  })

  it('is opened by what turns it over, also where less is left than before', () => {
    const of = (side: 'LONG' | 'SHORT', sizeRaw: bigint, heldRaw: bigint) => {
      const market = { baseDecimals: 0, quoteDecimals: 0 }
      const { opens, addedMicros } = quoteExposure(
        { account: 'a' } as unknown as Arguments[0],
        { order: { side, sizeRaw }, market, prices: { mark: { numerator: 1n, denominator: 1n } } } as unknown as Arguments[1],
        {
          account: { decimals: 0, valueRaw: 100n, collateralRaw: 100n, notionalRaw: 5n },
          position: { sizeRaw: heldRaw },
          positions: [],
          boundRaw: 1n,
        } as unknown as Arguments[2],
      )
      return [opens === true, addedMicros > 0n]
    }
    expect(of('LONG', 1n, 0n)).to.deep.equal([true, true])
    expect(of('LONG', 1n, 5n)).to.deep.equal([true, true])
    expect(of('SHORT', 4n, 5n)).to.deep.equal([false, false])
    expect(of('SHORT', 5n, 5n)).to.deep.equal([false, false])
    // From LONG 5 to SHORT 4, and back.
    expect(of('SHORT', 9n, 5n)).to.deep.equal([true, false])
    expect(of('LONG', 9n, -5n)).to.deep.equal([true, false])
    expect(of('SHORT', 11n, 5n)).to.deep.equal([true, true])
  })

  it('is nothing before any position, and rounded up to a millionth where an exchange has more decimals', () => {
    const openOf = (notionalRaw: bigint) =>
      quoteExposure(
        { account: 'a' } as unknown as Arguments[0],
        {
          order: { side: 'LONG', sizeRaw: 1n },
          market: { baseDecimals: 0, quoteDecimals: 18 },
          prices: { mark: { numerator: 1n, denominator: 1n } },
        } as unknown as Arguments[1],
        {
          account: { decimals: 18, valueRaw: 0n, collateralRaw: 0n, notionalRaw },
          position: { sizeRaw: 0n },
          positions: [],
          boundRaw: 1n,
        } as unknown as Arguments[2],
      ).openMicros
    expect(openOf(0n)).to.equal(0n)
    expect(openOf(2n * 10n ** 18n)).to.equal(2_000_000n)
    expect(openOf(1n)).to.equal(1n)
  })
})
