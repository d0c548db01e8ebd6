import type { Address, EncodedAccount } from '@solana/kit'
import { FailedTransactionMetadata, type LiteSVM, type SimulatedTransactionInfo } from 'litesvm'
import type { Block, Outcome } from '../ledger/block.ts'
import { lifetimeOf } from '../ledger/durable-nonce.ts'
import { balances, missingProgram } from '../ledger/execute.ts'
import { feeOf } from '../ledger/fee.ts'
import { onBlockhash } from '../ledger/on-blockhash.ts'
import { outcomeOf, outcomeWithoutRun } from '../ledger/outcome.ts'
import type { Wire } from '../ledger/read-wire.ts'
import { isSigned } from '../ledger/verify-signatures.ts'
import type { Answer } from './answer.ts'
import type { View } from './view.ts'

export interface Simulation {
  outcome: Outcome
  /** It came as far as its first instruction. */
  ran: boolean
  preBalances: readonly bigint[]
  preTokenBalances: readonly Answer[]
  /** What the accounts would be; those that it does not touch are not among them. */
  after: ReadonlyMap<Address, EncodedAccount>
}

export interface SimulationWish {
  verifySignatures: boolean
  anyBlockhash: boolean
}

/** What would become of a transaction on top of a block. */
export function simulate({ ledger }: View, block: Block, wire: Wire, wish: SimulationWish): Simulation {
  return ledger.asOf(block, (svm) => {
    const { balances: preBalances, tokens: preTokenBalances } = balances(svm, wire)
    const refusal = refusalOf(svm)
    const result = refusal ? undefined : svm.simulateTransaction(onBlockhash(wire, block.blockhash))
    const outcome = result ? outcomeOf(result, feeOf(wire.message)) : outcomeWithoutRun(refusal ?? null, feeOf(wire.message))
    const ran = result !== undefined && (outcome.error === null || outcome.logs.length > 0)
    return { outcome, ran, preBalances, preTokenBalances, after: result ? accountsAfter(result) : new Map<never, never>() }
  })

  function refusalOf(svm: LiteSVM): string | undefined {
    const isRecent = wish.anyBlockhash || ledger.isRecent(wire.message.lifetimeToken, block)
    const found = ledger.find(wire.signature)
    if (wish.verifySignatures && !isSigned(wire)) return 'SignatureFailure'
    if (!lifetimeOf(svm, wire.message, isRecent, block.blockhash)) return 'BlockhashNotFound'
    if (!wish.anyBlockhash && found && found.block.height <= block.height) return 'AlreadyProcessed'
    if (!svm.getAccount(wire.payer).exists) return 'AccountNotFound'
    return missingProgram(svm, wire) && 'ProgramAccountNotFound'
  }
}

const accountsAfter = (result: FailedTransactionMetadata | SimulatedTransactionInfo): ReadonlyMap<Address, EncodedAccount> =>
  new Map(result instanceof FailedTransactionMetadata ? [] : result.postAccounts().map((each) => [each.address, each]))
