import { AbiCoder, Interface, ZeroAddress } from 'ethers'
import artifact from '../../../../kits/amm/artifacts/TransferProbe.json' with { type: 'json' }
import type { Loan } from '../../../../kits/amm/protocol.ts'

const coder = AbiCoder.defaultAbiCoder()
const selectorBytes = 4
const wordBytes = 32

/** How pools of a kind send tokens first and call back for what is due. */
export interface Lending {
  /** The signature of the pool's function. */
  readonly lends: string
  /** Which of its arguments says whom the tokens go to. */
  readonly recipient: number
}

/** Borrows from a pool by its own call, whose `recipient` is filled in: contracts/TransferProbe.sol. */
export function lender({ lends, recipient }: Lending) {
  const abi = new Interface([`function ${lends}`])
  const recipientAt = selectorBytes + recipient * wordBytes
  return (pool: string, token: string, sentRaw: bigint, args: readonly unknown[]): Loan => {
    const lend = abi.encodeFunctionData(lends, args.toSpliced(recipient, 0, ZeroAddress))
    const parameters = coder.encode(['address', 'address', 'bytes', 'uint256'], [pool, token, lend, recipientAt])
    return { code: artifact.bytecode + parameters.slice(2), sentRaw }
  }
}
