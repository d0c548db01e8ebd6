import { getBase58Decoder } from '@solana/kit'
import type { InnerInstructions } from '../../ledger/block.ts'
import type { Message, Wire } from '../../ledger/read-wire.ts'
import type { Answer } from '../answer.ts'

type Form = 'json' | 'jsonParsed'

interface Instruction {
  programIdIndex: number
  accounts: readonly number[]
  data: Uint8Array
  stackHeight: number
}

/** The instructions that the transaction names. */
export const outerInstructions = (message: Message, form: Form): readonly Answer[] =>
  message.instructions.map(({ programAddressIndex, accountIndices = [], data = [] }) =>
    encode(message, form, {
      programIdIndex: programAddressIndex,
      accounts: [...accountIndices],
      data: Uint8Array.from(data),
      stackHeight: 1,
    }),
  )

/** The instructions that programs called on the way. */
export const innerInstructions = ({ message }: Wire, inner: readonly InnerInstructions[], form: Form): readonly Answer[] =>
  inner.map(({ index, instructions }) => ({ index, instructions: instructions.map((each) => encode(message, form, each)) }))

/** In their parsed form nodes give instructions of programs that they do not know half decoded; all of them are, here. */
function encode({ staticAccounts }: Message, form: Form, { programIdIndex, accounts, data: bytes, stackHeight }: Instruction): Answer {
  const data = getBase58Decoder().decode(bytes)
  if (form === 'json') return { accounts, data, programIdIndex, stackHeight }
  const address = (index: number): string => staticAccounts[index] ?? ''
  return { accounts: accounts.map(address), data, programId: address(programIdIndex), stackHeight }
}
