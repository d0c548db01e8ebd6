import {
  SpotSendRequest,
  SpotSendResponse,
  SpotSendTypes,
  UsdClassTransferRequest,
  UsdClassTransferResponse,
  UsdClassTransferTypes,
  UsdSendRequest,
  UsdSendResponse,
  UsdSendTypes,
  Withdraw3Request,
  Withdraw3Response,
  Withdraw3Types,
} from '@nktkas/hyperliquid/api/exchange'
import { fromUnits, toUnits, fromUsd, toUsd } from '../amounts.ts'
import { accountOf, noteUpdate, type Engine } from '../engine.ts'
import { balanceOf, type Account } from '../account.ts'
import { usdOf } from '../margin/portfolio.ts'
import { withdrawableUsd } from '../margin/perp-account.ts'
import { defineAction, done, failed, type Answer } from './action.ts'

const perUsd = 100n

/** An amount with the decimals that there are, above 0; or undefined. */
function amountOf(text: string, decimals: number): bigint | undefined {
  try {
    const amount = toUnits(text, decimals)
    return amount > 0n ? amount : undefined
  } catch {
    return undefined
  }
}

/** Spot USDC that no order took. */
const freeSpot = (account: Account, token: number) => balanceOf(account, token).total - balanceOf(account, token).hold

/** Where there is one balance for everything there is nothing to move. */
const unified = (account: Account): Answer | undefined =>
  account.mode === 'portfolioMargin' ? failed('Action disabled when unified account is active') : undefined

export const usdClassTransfer = defineAction({
  request: UsdClassTransferRequest,
  response: UsdClassTransferResponse,
  types: UsdClassTransferTypes,
  run: (engine, account, { amount, toPerp }) => {
    const usd = amountOf(amount, 6)
    if (usd === undefined) return failed('Invalid decimal number')
    const refused = unified(account)
    if (refused) return refused
    if (usd > (toPerp ? freeSpot(account, 0) / perUsd : withdrawableUsd(engine, account)))
      return failed('Insufficient balance for spot transfer.')
    account.crossUsd += toPerp ? usd : -usd
    balanceOf(account, 0).total -= (toPerp ? usd : -usd) * perUsd
    noteUpdate(engine, account, { type: 'accountClassTransfer', usdc: fromUsd(usd), toPerp })
    return done
  },
})

export const usdSend = defineAction({
  request: UsdSendRequest,
  response: UsdSendResponse,
  types: UsdSendTypes,
  run: (engine, account, { amount, destination }) => {
    const usd = amountOf(amount, 6)
    if (usd === undefined) return failed('Invalid decimal number')
    const refused = unified(account)
    if (refused) return refused
    const to = accountOf(engine, destination)
    if (to === account) return failed('Invalid send')
    const fee = to.exists ? 0n : toUsd('1')
    if (usd + fee > withdrawableUsd(engine, account)) return failed('Insufficient balance for withdrawal.')
    account.crossUsd -= usd + fee
    engine.feesUsd += fee
    to.crossUsd += usd
    to.exists = true
    const delta = { type: 'internalTransfer', usdc: fromUsd(usd), user: account.address, destination: to.address, fee: fromUsd(fee) }
    for (const each of [account, to]) noteUpdate(engine, each, delta)
    return done
  },
})

export const spotSend = defineAction({
  request: SpotSendRequest,
  response: SpotSendResponse,
  types: SpotSendTypes,
  run: (engine, account, { token: named, amount, destination, time }) => {
    const token = engine.listing.tokens.find(({ name, tokenId }) => named.toLowerCase() === `${name}:${tokenId}`.toLowerCase())
    if (!token) return failed(`Unknown token ${named}`)
    const wei = amountOf(amount, token.weiDecimals)
    if (wei === undefined) return failed('Invalid decimal number')
    const to = accountOf(engine, destination)
    if (to === account) return failed('Invalid send')
    // Who has never had anything is made known by a dollar of who sends.
    const fee = to.exists ? 0n : toUnits('1', 8)
    if (wei > freeSpot(account, token.index)) return failed('Insufficient balance for token transfer')
    if (fee > freeSpot(account, 0) - (token.index === 0 ? wei : 0n))
      return failed('Insufficient quote token (e.g., 1 USDC or USDT) balance for token transfer gas.')
    move(engine, account, to, token.index, wei, fee)
    const delta = {
      type: 'spotTransfer',
      token: token.name,
      amount: fromUnits(wei, token.weiDecimals),
      usdcValue: fromUsd(usdOf(engine, token, wei)),
      user: account.address,
      destination: to.address,
      fee: fromUnits(fee, 8),
      nativeTokenFee: '0.0',
      nonce: time,
      feeToken: fee > 0n ? 'USDC' : '',
    }
    for (const each of [account, to]) noteUpdate(engine, each, delta)
    return done
  },
})

function move(engine: Engine, from: Account, to: Account, token: number, wei: bigint, fee: bigint) {
  balanceOf(from, token).total -= wei
  balanceOf(to, token).total += wei
  balanceOf(from, 0).total -= fee
  engine.fees.set(0, (engine.fees.get(0) ?? 0n) + fee)
  to.exists = true
}

export const withdraw3 = defineAction({
  request: Withdraw3Request,
  response: Withdraw3Response,
  types: Withdraw3Types,
  run: (engine, account, { amount, destination, time }) => {
    const usd = amountOf(amount, 6)
    const fee = toUsd(engine.rules.withdrawalFee)
    if (usd === undefined || usd <= fee) return failed('Invalid withdrawal amount.')
    const free = account.mode === 'portfolioMargin' ? freeSpot(account, 0) / perUsd : withdrawableUsd(engine, account)
    if (usd > free) return failed('Insufficient balance for withdrawal.')
    if (account.mode === 'portfolioMargin') balanceOf(account, 0).total -= usd * perUsd
    else account.crossUsd -= usd
    engine.feesUsd += fee
    engine.supply.set(0, (engine.supply.get(0) ?? 0n) - (usd - fee) * perUsd)
    engine.withdrawals.push({
      user: account.address,
      destination,
      usd: usd - fee,
      nonce: time,
      leavesAt: engine.clock.now() + engine.rules.withdrawalMs,
      left: false,
    })
    noteUpdate(engine, account, { type: 'withdraw', usdc: fromUsd(usd - fee), nonce: time, fee: fromUsd(fee) })
    return done
  },
})
