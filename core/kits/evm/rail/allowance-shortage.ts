import { SluiceError } from '../../../contracts/index.ts'
import type { Token } from '../../../contracts/index.ts'
import { shortage } from '../../../../kits/nodes/rails.ts'

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
