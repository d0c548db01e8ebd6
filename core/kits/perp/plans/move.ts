import type { Plan, Token } from '../../../contracts/index.ts'
import type { Evm } from '../../../../kits/evm/types.ts'
import { curieAbi } from '../../../../kits/perp/abi.ts'
import type { Contracts } from '../../../../kits/perp/curie.ts'

/** Into the wallet's own account, or out of it to the wallet: Vault knows nobody else here. */
export function planMove({ vault }: Contracts, { address }: Token, amountRaw: bigint, how: 'deposit' | 'withdraw'): Plan<Evm> {
  const step = { to: vault, data: curieAbi.encodeFunctionData(how, [address, amountRaw]), value: '0' }
  if (how === 'withdraw') return { steps: [step], needs: [], memo: null }
  return {
    steps: [step],
    needs: [
      { is: 'balance', token: address, amountRaw },
      { is: 'allowance', token: address, spender: vault, amountRaw },
    ],
    memo: null,
  }
}
