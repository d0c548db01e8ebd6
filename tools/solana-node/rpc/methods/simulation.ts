import type { EncodedAccount } from '@solana/kit'
import type { Block } from '../../ledger/block.ts'
import { largestAge } from '../../ledger/ledger.ts'
import type { Maybe } from '../../ledger/maybe-account.ts'
import type { Wire } from '../../ledger/read-wire.ts'
import { tokenBalances } from '../../ledger/token-balances.ts'
import type { Answer } from '../answer.ts'
import { encodeMaybe, encodingOf } from '../encode/account.ts'
import { innerInstructions } from '../encode/instructions.ts'
import { returnDataOf } from '../encode/return-data.ts'
import { addressOf, configOf, flagOf, listOf } from '../params.ts'
import { simulate, type Simulation } from '../simulate.ts'
import { invalidParams } from '../rpc-error.ts'
import { blockFor, inContext, type View } from '../view.ts'
import { givenWire } from './given-wire.ts'
import type { Methods } from './method.ts'

export const simulationMethods: Methods = {
  simulateTransaction(view, [text, config]) {
    const given = configOf(config)
    const wire = givenWire(text, given)
    const [verifySignatures, anyBlockhash] = [flagOf(given['sigVerify']), flagOf(given['replaceRecentBlockhash'])]
    if (verifySignatures && anyBlockhash) throw invalidParams('sigVerify may not be used with replaceRecentBlockhash')
    const block = blockFor(view, given)
    const simulation = simulate(view, block, wire, { verifySignatures, anyBlockhash })
    return inContext(block, {
      ...simulationResult(view, block, wire, simulation),
      accounts: wantedAccounts(view, block, simulation, given['accounts']),
      innerInstructions: flagOf(given['innerInstructions'])
        ? innerInstructions(wire, simulation.outcome.innerInstructions, 'jsonParsed')
        : null,
      replacementBlockhash: anyBlockhash ? { blockhash: block.blockhash, lastValidBlockHeight: block.height + largestAge } : null,
    })
  },
}

/** All that is said of every simulation, wanted or as the preflight of a transaction. */
export function simulationResult(view: View, block: Block, wire: Wire, simulation: Simulation): { [key: string]: Answer } {
  const { outcome, ran, preBalances, preTokenBalances, after } = simulation
  const accountsAfter = (): readonly Maybe[] =>
    view.ledger.asOf(block, (svm) => wire.message.staticAccounts.map((each) => existing(after.get(each)) ?? svm.getAccount(each)))
  const isDone = outcome.error === null
  return {
    accounts: null,
    err: outcome.error,
    fee: outcome.feeRaw,
    innerInstructions: null,
    loadedAccountsDataSize: 0,
    loadedAddresses: { readonly: [], writable: [] },
    logs: outcome.logs,
    postBalances: isDone ? accountsAfter().map((each) => (each.exists ? each.lamports : 0n)) : ran ? preBalances : null,
    postTokenBalances: isDone ? view.ledger.asOf(block, (svm) => tokenBalances(svm, accountsAfter())) : ran ? preTokenBalances : null,
    preBalances: ran ? preBalances : null,
    preTokenBalances: ran ? preTokenBalances : null,
    replacementBlockhash: null,
    returnData: returnDataOf(outcome),
    unitsConsumed: outcome.unitsConsumed,
  }
}

function wantedAccounts(view: View, block: Block, { outcome, after }: Simulation, wanted: unknown): Answer {
  if (wanted === undefined || wanted === null) return null
  const { addresses, encoding = 'base64' } = configOf(wanted)
  const format = encodingOf({ encoding })
  if (format.encoding === 'binary' || format.encoding === 'base58') throw invalidParams('base58 encoding not supported')
  const all = listOf(addresses, 100).map(addressOf)
  if (outcome.error !== null) return all.map(() => null)
  return view.ledger.asOf(block, (svm) => all.map((each) => encodeMaybe(svm, existing(after.get(each)) ?? svm.getAccount(each), format)))
}

const existing = (account: EncodedAccount | undefined): Maybe | undefined =>
  account && (account.lamports > 0n ? { ...account, exists: true } : { address: account.address, exists: false })
