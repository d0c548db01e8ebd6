import { Signature } from 'ethers/crypto'
import { Transaction } from 'ethers/transaction'
import { getBytes, hexlify } from 'ethers/utils'
import type { Prepared, Sealed, Signable } from '../../../contracts/index.ts'
import type { EvmFees } from '../../../../kits/evm/fees.ts'
import type { EvmIntent } from '../../../../kits/evm/types.ts'

/** The unsigned bytes of a transaction of type 2 (EIP-1559), or 0 where the network has no base fee. */
export function draft({ step, fees }: Pick<Prepared<EvmIntent, EvmFees>, 'step' | 'fees'>, nonce: number, chainId: number): Signable {
  const { to, data, value } = step
  const { gasLimit, maxFeePerGas, maxPriorityFeePerGas, legacy = false } = fees
  const price = legacy ? { type: 0, gasPrice: maxFeePerGas } : { type: 2, maxFeePerGas, maxPriorityFeePerGas }
  const tx = Transaction.from({ chainId, nonce, to, data, value, gasLimit, ...price })
  return { scheme: 'evm-transaction', bytes: getBytes(tx.unsignedSerialized) }
}

/** @param signature 65 bytes: r, s, v */
export function seal({ bytes }: Signable, signature: Uint8Array): Sealed {
  const tx = Transaction.from(hexlify(bytes))
  tx.signature = Signature.from(hexlify(signature))
  if (tx.hash === null) throw new Error('A signed transaction has no hash: ethers could not serialize it.')
  return { id: tx.hash, raw: getBytes(tx.serialized) }
}
