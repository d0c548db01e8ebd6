import { ZeroAddress } from 'ethers'
import { SluiceError, type At, type PerpCollateral, type Token } from '../../../contracts/index.ts'
import { asFlag, askAt, asNumber, late, together } from '../../../../kits/perp/batch-read.ts'
import type { Curie } from '../../../../kits/perp/curie.ts'

/** What a wallet has of a token in the exchange: accounts are kept in the settlement token, and others may stand behind them. */
export async function collateralOf({ reader, contracts, settlement }: Curie, owner: string, token: Token, at: At): Promise<PerpCollateral> {
  const { vault, collateralManager } = contracts
  const isSettlement = token.address === settlement.address
  if (!isSettlement && (token.native || collateralManager === ZeroAddress)) throw notTaken(token, settlement)
  const { head, answer } = await askAt(
    reader,
    together({
      deposited: asNumber(vault, 'getBalanceByToken', owner, token.address),
      free: late(asNumber(vault, 'getFreeCollateralByToken', owner, token.address)),
      ...(!isSettlement && { isTaken: asFlag(collateralManager, 'isCollateral', token.address) }),
    }),
    at,
  )
  const { deposited, free, isTaken } = answer
  if (isTaken === false) throw notTaken(token, settlement)
  // Of the settlement token a loss may have left less than nothing.
  return { head, token, depositedRaw: deposited > 0n ? deposited : 0n, withdrawableRaw: free() }
}

const notTaken = ({ symbol, native }: Token, settlement: Token) =>
  new SluiceError(
    'TOKEN_NOT_SUPPORTED',
    `The exchange does not take ${symbol} as collateral${native ? ': wrap it first, where it takes the wrapped token' : ''}. It keeps its accounts in ${settlement.symbol}.`,
  )
