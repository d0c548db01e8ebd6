import {
  UpdateIsolatedMarginRequest,
  UpdateIsolatedMarginResponse,
  UpdateLeverageRequest,
  UpdateLeverageResponse,
} from '@nktkas/hyperliquid/api/exchange'
import { ceilDiv } from '../amounts.ts'
import { leverageOf } from '../account.ts'
import { tierOf, freeUsd, marginUsedBy, worthOf } from '../margin/perp-account.ts'
import { defineAction, done, failed } from './action.ts'

export const updateLeverage = defineAction({
  request: UpdateLeverageRequest,
  response: UpdateLeverageResponse,
  run: (engine, account, { asset, isCross, leverage: value }) => {
    const market = engine.listing.byAsset(asset)
    if (market?.kind !== 'perp') return failed('Invalid asset')
    if (isCross && market.onlyIsolated) return failed('Cross margin is not allowed for this asset.')
    const before = leverageOf(account, market)
    const position = account.positions.get(market.coin)
    if (position && before.isCross !== isCross) return failed('Cannot switch leverage type with open position.')
    const most = position ? tierOf(market, worthOf(engine, position)).maxLeverage : market.maxLeverage
    if (value > most) return failed('Invalid leverage value')
    const behind = position?.isolatedUsd === undefined ? undefined : marginUsedBy(engine, account, position)
    if (position && behind !== undefined && behind < ceilDiv(worthOf(engine, position), BigInt(value)))
      return failed(
        'Isolated position does not have sufficient margin available to decrease leverage. To decrease leverage, add margin to the position.',
      )
    account.leverages.set(market.coin, { isCross, value })
    if (value < before.value && freeUsd(engine, account) < 0n) {
      account.leverages.set(market.coin, before)
      return failed(
        'Cross position does not have sufficient margin available to decrease leverage. To decrease leverage, deposit more collateral.',
      )
    }
    engine.outbox.users.add(account.address)
    return done
  },
})

export const updateIsolatedMargin = defineAction({
  request: UpdateIsolatedMarginRequest,
  response: UpdateIsolatedMarginResponse,
  run: (engine, account, { asset, ntli }) => {
    const market = engine.listing.byAsset(asset)
    const position = market && account.positions.get(market.coin)
    if (market?.kind !== 'perp' || position?.isolatedUsd === undefined) return failed('No isolated position for this asset.')
    const usd = BigInt(ntli)
    if (usd < 0n && market.onlyIsolated) return failed('Margin cannot be removed from this position.')
    const kept = ceilDiv(worthOf(engine, position), BigInt(leverageOf(account, market).value))
    if (usd > freeUsd(engine, account) || marginUsedBy(engine, account, position) + usd < kept)
      return failed('Insufficient margin available.')
    position.isolatedUsd += usd
    account.crossUsd -= usd
    engine.outbox.users.add(account.address)
    return done
  },
})
