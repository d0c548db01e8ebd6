import { formatUnits } from 'ethers/utils'
import { SluiceError } from '../../../contracts/index.ts'
import type { Token } from '../../../contracts/index.ts'

/** Padded to the token's decimals, as all amounts in answers are. */
export function amountOf(amountRaw: bigint, { decimals }: Pick<Token, 'decimals'>): string {
  if (decimals === 0) return amountRaw.toString()
  const [whole, fraction = ''] = formatUnits(amountRaw, decimals).split('.')
  return `${whole}.${fraction.padEnd(decimals, '0')}`
}

export function balanceTooSmall(token: Token, currentRaw: bigint, neededRaw: bigint): SluiceError {
  const details = shortage(token, currentRaw, neededRaw)
  return new SluiceError(
    'INSUFFICIENT_BALANCE',
    `The wallet holds ${details.current} ${token.symbol} and needs ${details.needed}: fund it, or trade less.`,
    { details },
  )
}

export function allowanceTooSmall(token: Token, spender: string, currentRaw: bigint, neededRaw: bigint): SluiceError {
  const details = { spender, ...shortage(token, currentRaw, neededRaw) }
  return new SluiceError(
    'INSUFFICIENT_ALLOWANCE',
    `${spender} may move ${details.current} ${token.symbol} of the wallet and needs ${details.needed}: approve it with /evm/approve.`,
    { details },
  )
}

export function allowanceTooLarge({ symbol, address }: Token, spender: string): SluiceError {
  return new SluiceError(
    'TRADE_FAILED',
    `${spender} may move ${symbol} of the wallet, and takes it where the coin that is sent is gone: the code of a token that is on no list could have it take both. Give ${symbol} instead of the coin, or set that allowance to 0 by /evm/approve, or put the token on the network's list if you trust it.`,
    { details: { reason: 'the coin could be taken twice', token: symbol, tokenAddress: address, spender } },
  )
}

/** @param neededRaw the value sent and the most that the gas can cost */
export function gasTooDear(native: Token, currentRaw: bigint, neededRaw: bigint): SluiceError {
  const details = shortage(native, currentRaw, neededRaw)
  return new SluiceError(
    'OUT_OF_GAS',
    `The wallet holds ${details.current} ${native.symbol}, and with the most that the gas can cost it needs ${details.needed}: fund it, or offer lower fees.`,
    { details },
  )
}

/** @param committedRaw what the wallet's transactions that were not mined yet can take: nodes count it, and refuse what goes beyond */
export function fundsCommitted(native: Token, currentRaw: bigint, committedRaw: bigint, neededRaw: bigint): SluiceError {
  const leftRaw = currentRaw > committedRaw ? currentRaw - committedRaw : 0n
  const details = { ...shortage(native, leftRaw, neededRaw), committed: amountOf(committedRaw, native) }
  return new SluiceError(
    'INSUFFICIENT_BALANCE',
    `The wallet's pending transactions can take ${details.committed} of its ${amountOf(currentRaw, native)} ${native.symbol}, and this one needs ${details.needed} beside them: wait until they are mined, fund the wallet, or offer lower fees.`,
    { details },
  )
}

function shortage(token: Token, currentRaw: bigint, neededRaw: bigint) {
  return { token: token.symbol, tokenAddress: token.address, current: amountOf(currentRaw, token), needed: amountOf(neededRaw, token) }
}
