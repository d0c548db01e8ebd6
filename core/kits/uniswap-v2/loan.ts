import { AbiCoder } from 'ethers'
import { trialAmount, type Loan } from '../pools/index.ts'
import artifact from './artifacts/TransferProbe.json' with { type: 'json' }

/** A pair lends by `swap`: contracts/TransferProbe.sol. */
export function loanOf(pair: string, token: string, reserveRaw: bigint): Loan | undefined {
  const sentRaw = trialAmount(reserveRaw)
  if (sentRaw === undefined) return undefined
  const parameters = AbiCoder.defaultAbiCoder().encode(['address', 'address', 'uint256'], [pair, token, sentRaw])
  return { code: artifact.bytecode + parameters.slice(2), sentRaw }
}
