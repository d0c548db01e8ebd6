import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { OrderRequest, ScheduleCancelRequest, UsdSendTypes, Withdraw3Types } from '@nktkas/hyperliquid/api/exchange'
import { createL1ActionHash } from '@nktkas/hyperliquid/signing'
import { parse } from 'valibot'
import { fromRate, toSize, toUsd, toUnits } from './exchange/amounts.ts'
import { createClock, accountOf, createEngine } from './exchange/engine.ts'
import { positionOf } from './exchange/info/accounts.ts'
import { borrowable } from './exchange/margin/portfolio.ts'
import { borrowRateOf, supplyRateOf, utilizationOf } from './exchange/margin/reserves.ts'
import { balanceOf, type Position } from './exchange/account.ts'
import { maintenanceLines, maintenanceUsd } from './exchange/margin/perp-account.ts'
import { defaultRules } from './exchange/rules.ts'
import { recoverSigner } from './exchange/signing.ts'

const fixture = (name: string) => JSON.parse(readFileSync(new URL(`../../test/fixtures/hyperliquid/${name}.json`, import.meta.url), 'utf8'))

/** Some of the published ones lack the zeros that they begin with. */
const padded = ({ r, s, v }: { r: string; s: string; v: number }) => ({
  r: `0x${r.slice(2).padStart(64, '0')}`,
  s: `0x${s.slice(2).padStart(64, '0')}`,
  v,
})

const newEngine = (testnet = false) => createEngine(testnet, defaultRules, createClock())

describe('what the exchange and those around it published of its answers', () => {
  const { address, actionHash, signed, userSigned } = fixture('signatures')

  it('is the hash of an action', () => {
    expect(createL1ActionHash(actionHash)).to.equal(actionHash.hash)
  })

  for (const { what, request, mainnet, testnet } of signed) {
    it(`is who signed ${what}, on mainnet and on testnet`, () => {
      for (const [isTestnet, signature] of [
        [false, mainnet],
        [true, testnet],
      ] as const) {
        const whole = { ...request, signature: padded(signature) }
        const read = parse(request.action.type === 'order' ? OrderRequest : ScheduleCancelRequest, whole)
        expect(recoverSigner(read, isTestnet)).to.equal(address)
        expect(recoverSigner(read, !isTestnet)).to.be.a('string').that.does.not.equal(address)
      }
    })
  }

  for (const { what, action, signature } of userSigned) {
    it(`is who signed ${what}`, () => {
      const types = what === 'usdSend' ? UsdSendTypes : Withdraw3Types
      expect(recoverSigner({ action, nonce: action.time, signature: padded(signature) }, true, types)).to.equal(address)
    })
  }

  for (const recorded of fixture('positions').positions) {
    it(`is what ${recorded.user} has of ${recorded.coin}, with its price of liquidation`, () => {
      const engine = newEngine()
      const account = accountOf(engine, recorded.user)
      // A market with the same lots and leverage where that one is not listed here.
      const market = engine.listing.perps.find(({ coin, maxLeverage }) => coin === recorded.coin || maxLeverage === recorded.maxLeverage)!
      engine.states.get(market.coin)!.markPx = toSize(recorded.markPx)
      account.leverages.set(market.coin, { isCross: false, value: recorded.leverage.value })
      const [worth, pnl] = [toUsd(recorded.positionValue), toUsd(recorded.unrealizedPnl)]
      const szi = toSize(recorded.szi)
      const position: Position = {
        market,
        szi,
        entryNtl: szi > 0n ? worth - pnl : worth + pnl,
        isolatedUsd: toUsd(recorded.leverage.rawUsd),
        funding: { allTime: 0n, sinceOpen: 0n, sinceChange: 0n },
      }
      const { user: _user, markPx: _markPx, returnOnEquity, coin: _coin, ...told } = recorded
      const shown = positionOf(engine, account, position)
      expect(shown).to.deep.include(told)
      // They round the last digit of it, here it is dropped.
      if (returnOnEquity) expect(shown.returnOnEquity.slice(0, -1)).to.equal(returnOnEquity.slice(0, -1))
    })
  }

  it('is a maintenance margin that grows without a jump from tier to tier, by the formula with deductions', () => {
    const { testnetBtc } = fixture('margin-tiers')
    const btc = newEngine(true).listing.perps[0]!
    expect(btc.tiers.map(({ lowerBoundUsd, maxLeverage }) => [Number(lowerBoundUsd / 1_000_000n), maxLeverage])).to.deep.equal(testnetBtc)
    for (const dollars of [1n, 9_999n, 10_000n, 10_001n, 60_000n, 250_000n, 1_000_000n]) {
      const ntl = dollars * 1_000_000n
      const line = maintenanceLines(btc).findLast(({ from }) => ntl >= from)!
      const byFormula = (ntl * line.rate) / line.one - line.deductionUsd
      expect(Number(maintenanceUsd(btc, ntl) - byFormula), `${dollars}`).to.be.within(0, 3)
    }
  })

  it('are the rates of a reserve', () => {
    const { reserve } = fixture('lending')
    const engine = newEngine()
    const usdc = { ...engine.reserves.get(0)!, supplied: toUnits(reserve.totalSupplied, 10), borrowed: toUnits(reserve.totalBorrowed, 10) }
    const tenth = (rate: bigint) => Number(fromRate(rate)).toFixed(10)
    expect(tenth(utilizationOf(usdc))).to.equal(reserve.utilization)
    expect(tenth(borrowRateOf(usdc))).to.equal('0.0500000000')
    expect(tenth(supplyRateOf(usdc))).to.equal(reserve.supplyYearlyRate)
  })

  it('is what may be borrowed against a collateral', () => {
    const { borrowable: example } = fixture('lending')
    const engine = newEngine()
    const account = accountOf(engine, address)
    account.mode = 'portfolioMargin'
    balanceOf(account, 150).total = toUnits(example.held, 8)
    for (const coin of ['HYPE', '@107']) engine.states.get(coin)!.markPx = toSize(example.price)
    const usdc = { ...engine.reserves.get(0)!, balance: toUnits('1000000', 8) }
    expect(borrowable(engine, account, usdc)).to.equal(toUnits(example.borrowableUsdc, 8))
  })
})
