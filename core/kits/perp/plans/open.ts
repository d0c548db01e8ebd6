import { ZeroHash } from 'ethers'
import type { PerpQuote, PerpTerms, Plan } from '../../../contracts/index.ts'
import type { Evm } from '../../../../kits/evm/types.ts'
import { curieAbi } from '../../../../kits/perp/abi.ts'
import type { Contracts } from '../../../../kits/perp/curie.ts'
import { writeMemo } from './memo.ts'

/** Exactly the order's size of base, for no more or no less than the bound: 0 would be no bound. */
export function planOpen({ house }: Contracts, { order: { market, side, sizeRaw } }: PerpQuote, terms: PerpTerms): Plan<Evm> {
  const isShort = side === 'SHORT'
  const params = {
    baseToken: market.id,
    isBaseToQuote: isShort,
    isExactInput: isShort,
    amount: sizeRaw,
    oppositeAmountBound: terms.boundRaw > 0n ? terms.boundRaw : 1n,
    deadline: terms.deadline,
    sqrtPriceLimitX96: 0n,
    referralCode: ZeroHash,
  }
  return {
    steps: [{ to: house, data: curieAbi.encodeFunctionData('openPosition', [params]), value: '0' }],
    needs: [],
    deadline: terms.deadline,
    memo: writeMemo({ house, trader: terms.owner, market }),
  }
}
