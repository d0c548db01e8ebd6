import { lamports, getBase58Encoder, getBase64Encoder, type EncodedAccount, type Address } from '@solana/kit'
import { FailedTransactionMetadata, type LiteSVM, type SimulatedTransactionInfo } from 'litesvm'
import type { Block, Outcome } from '../../ledger/block.ts'
import { lifetimeOf } from '../../ledger/durable-nonce.ts'
import { sentenceOf } from '../../ledger/errors.ts'
import { balances, missingProgram, feeOf, outcomeOf, outcomeWithoutRun } from '../../ledger/execute.ts'
import { largestAge } from '../../ledger/ledger.ts'
import { loadTables, type LoadedAccounts } from '../../ledger/lookup-tables.ts'
import { accountKeys, onBlockhash, isSigned, largestWireBytes, readWire, UnreadableWire, type Wire } from '../../ledger/read-wire.ts'
import { tokenBalances, type Maybe } from '../../ledger/tokens.ts'
import { encodeMaybe, encodingOf } from '../encode-account.ts'
import { innerInstructions, loadedAnswer, returnDataOf } from '../encode-transaction.ts'
import { addressOf, configOf, flagOf, slotOf, RpcError, listOf, invalidParams, textOf, type Config, type Answer } from '../protocol.ts'
import { blockFor, inContext, type View, type Methods } from '../view.ts'

export const sendingMethods: Methods = {
  sendTransaction(view, [text, config]) {
    const given = configOf(config)
    const wire = givenWire(text, given)
    if (!flagOf(given['skipPreflight'])) preflight(view, wire, given)
    else tablesAt(view, blockFor(view, { commitment: 'processed', ...minimum(given) }), wire)
    view.ledger.submit(
      wire,
      given['maxRetries'] === undefined || given['maxRetries'] === null ? Infinity : Number(slotOf(given['maxRetries'])),
    )
    return wire.signature
  },
  async requestAirdrop(view, [address, amountRaw]) {
    const wire = await view.faucet.transfer(addressOf(address), lamports(slotOf(amountRaw)))
    view.ledger.submit(wire, Infinity)
    return wire.signature
  },
}

const minimum = ({ minContextSlot }: Config): Config => (minContextSlot === undefined ? {} : { minContextSlot })

/** Nodes refuse what they cannot read the accounts of, also where nothing is tried before: agave, rpc/src/rpc.rs, sanitize_transaction. */
function tablesAt({ ledger }: View, block: Block, { message }: Wire): LoadedAccounts {
  const loaded = ledger.asOf(block, (svm) => loadTables(svm, message, () => ledger.slotsUpTo(block)))
  if (typeof loaded === 'string') throw invalidParams(`invalid transaction: ${sentenceOf(loaded)}`)
  return loaded
}

/** What nodes try before they send, unless they are told not to: they answer the simulation's error, and send nothing. */
function preflight(view: View, wire: Wire, given: Config): void {
  const { preflightCommitment } = given
  const block = blockFor(view, { ...configOf({ commitment: preflightCommitment }), ...minimum(given) })
  const simulation = simulate(view, block, wire, { verifySignatures: true, anyBlockhash: false })
  const { error } = simulation.outcome
  if (error === 'SignatureFailure') throw new RpcError(-32003, 'Transaction signature verification failure')
  if (view.options.slotsBehind !== undefined)
    throw new RpcError(-32005, `Node is behind by ${view.options.slotsBehind} slots`, { numSlotsBehind: view.options.slotsBehind })
  if (error !== null)
    throw new RpcError(-32002, `Transaction simulation failed: ${sentenceOf(error)}`, simulationResult(view, block, wire, simulation))
}

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
        ? innerInstructions(wire, simulation.loaded, simulation.outcome.innerInstructions, 'jsonParsed')
        : null,
      replacementBlockhash: anyBlockhash ? { blockhash: block.blockhash, lastValidBlockHeight: block.height + largestAge } : null,
    })
  },
}

/** All that is said of every simulation, wanted or as the preflight of a transaction. */
function simulationResult(view: View, block: Block, wire: Wire, simulation: Simulation): { [key: string]: Answer } {
  const { loaded, outcome, ran, preBalances, preTokenBalances, after } = simulation
  const accountsAfter = (): readonly Maybe[] =>
    view.ledger.asOf(block, (svm) => accountKeys(wire.message, loaded).map((each) => existing(after.get(each)) ?? svm.getAccount(each)))
  const isDone = outcome.error === null
  return {
    accounts: null,
    err: outcome.error,
    fee: outcome.feeRaw,
    innerInstructions: null,
    loadedAccountsDataSize: 0,
    loadedAddresses: loadedAnswer(loaded),
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

interface Simulation {
  loaded: LoadedAccounts
  outcome: Outcome
  /** It came as far as its first instruction. */
  ran: boolean
  preBalances: readonly bigint[]
  preTokenBalances: readonly Answer[]
  /** What the accounts would be; those that it does not touch are not among them. */
  after: ReadonlyMap<Address, EncodedAccount>
}

interface SimulationWish {
  verifySignatures: boolean
  anyBlockhash: boolean
}

/** What would become of a transaction on top of a block. */
function simulate(view: View, block: Block, wire: Wire, wish: SimulationWish): Simulation {
  const { ledger } = view
  const loaded = tablesAt(view, block, wire)
  return ledger.asOf(block, (svm) => {
    const { balances: preBalances, tokens: preTokenBalances } = balances(svm, wire, loaded)
    const refusal = refusalOf(svm)
    const result = refusal ? undefined : svm.simulateTransaction(onBlockhash(wire, block.blockhash))
    const outcome = result ? outcomeOf(result, feeOf(wire.message)) : outcomeWithoutRun(refusal ?? null, feeOf(wire.message))
    const ran = result !== undefined && (outcome.error === null || outcome.logs.length > 0)
    return { loaded, outcome, ran, preBalances, preTokenBalances, after: result ? accountsAfter(result) : new Map<never, never>() }
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

/** The transaction that a caller sent along; in base58 where nothing else is said. */
function givenWire(value: unknown, { encoding = 'base58' }: Config): Wire {
  const text = textOf(value)
  if (encoding !== 'base58' && encoding !== 'base64')
    throw invalidParams(`unsupported encoding: ${String(encoding)}. Supported encodings: base58, base64`)
  const bytes = decoded(text, encoding)
  if (bytes.length > largestWireBytes)
    throw invalidParams(
      `decoded solana_transaction::versioned::VersionedTransaction too large: ${bytes.length} bytes (max: ${largestWireBytes} bytes)`,
    )
  try {
    return readWire(bytes)
  } catch (error) {
    if (error instanceof UnreadableWire) throw invalidParams(error.message)
    throw error
  }
}

export function decoded(text: string, encoding: 'base58' | 'base64'): Uint8Array {
  try {
    return Uint8Array.from((encoding === 'base64' ? getBase64Encoder() : getBase58Encoder()).encode(text))
  } catch {
    throw invalidParams(`invalid ${encoding} encoding: InvalidByte`)
  }
}
