import { type At, type Rail, type Token, SluiceError, type Checked, type FeeOverrides, type Need } from '../../core/contracts/index.ts'
import { insufficientBalance, fundsInPendingTransactions, insufficientGasFunds } from '../nodes/rails.ts'
import { invalidAnswer, resultOf, type Rpc } from '../nodes/rpc.ts'
import type { RpcAnswer } from '../nodes/dialect.ts'
import { accountsCalls, readAccounts } from './accounts.ts'
import {
  costOf,
  maxFees,
  type FeeLimits,
  type SolanaFees,
  paidFees,
  baseFeeLamports,
  gasOf,
  priceFees,
  readRecentFees,
  refuseFeeOverrides,
  computeUnitsFor,
} from './fees.ts'
import { changedTable } from './lookup-tables.ts'
import { draft, seal, send, readSimulation, simulationCall, usesTables, wouldFail } from './message.ts'
import { lamportsOf, outlineOf } from './outline.ts'
import { createPoll, type PollOptions } from './poll.ts'
import { confirmed, integerOf } from './rpc.ts'
import {
  claimSequences,
  durableNonceSequences,
  mergeSyncState,
  sequenceStatus,
  type SolanaSequence,
  type SolanaSyncState,
  sync,
  lifetimeCalls,
  readDurable,
  readLifetime,
  syncStateOf,
} from './sequence.ts'
import { type createAssociatedAddresses, accountsPerHolding, heldIn, holdingAccounts, holdingIn, noMint, tokenOptions } from './tokens.ts'
import { tipRawOf, type SolanaTip } from './tips.ts'
import { canonicalAddress, type SolanaExpectation, type SolanaIntent, nativeAddress, type SolanaAccount } from './types.ts'

interface SolanaRailOptions extends FeeLimits, PollOptions {
  nativeCurrency: Token
  associated: ReturnType<typeof createAssociatedAddresses>
  /** Symbol and decimals, for errors that name a token. */
  token: (address: string, at: At) => Promise<Token | undefined>
  /** A transaction of this wallet would fail. */
  refused(wallet: string): void
  /** The tip of the next private transaction. */
  nextTip: () => SolanaTip | undefined
}

/** The sequence of a transaction is a blockhash or a durable nonce. Nothing replaces the transaction while it may land. */
type SolanaRail = Rail<SolanaIntent, string, SolanaSequence, SolanaSyncState, SolanaFees>

export function solanaRail(options: SolanaRailOptions): SolanaRail {
  const { rpc, durableNonces } = options
  return {
    sequences: 'independent',
    outline: outlineOf,
    check: (steps, needs, from, price, at) => check(options, steps, needs, from, price, at),
    cost: costOf,
    maxFee: maxFees,
    paidFees,
    sync: (from, at) => sync(rpc, from, durableNonces[from] ?? [], at),
    merge: mergeSyncState,
    needsSync: () => false,
    claim: claimSequences,
    sequencesFrom: durableNonceSequences,
    nonceOf: ({ number }) => number,
    sequenceStatus: sequenceStatus,
    gaps: () => [],
    draft,
    seal,
    sendsPrivately: rpc.hasRelays,
    send: (sealed, at) => send(rpc, sealed, at),
    poll: createPoll(options),
  }
}

/** https://solana.com/docs/rpc/http/getrecentprioritizationfees: "up to a maximum of 128". */
const maxFeeAccounts = 128

type BalanceNeed = Extract<Need, { is: 'balance' }>

/** Reads everything that signing needs in one JSON-RPC batch. Errors are reported in the order in which a person would solve them. */
async function check(
  options: SolanaRailOptions,
  steps: readonly SolanaIntent[],
  needs: readonly Need[],
  from: string,
  { feeOverrides, privateOnly }: { feeOverrides: FeeOverrides; privateOnly?: true },
  at: At,
): Promise<Checked<SolanaIntent, SolanaSyncState, SolanaFees>> {
  const { rpc, nativeCurrency, associated } = options
  refuseFeeOverrides(feeOverrides)
  const step = onlyStep(steps, from)
  const noTable = step.tables?.find((each) => canonicalAddress(each.address) === undefined)
  if (noTable) throw defect(`names the lookup table ${noTable.address}, which is not an address`)
  const tip = privateOnly && options.nextTip()
  const held = needs.map(asBalanceNeed).filter(({ token }) => token !== nativeAddress)
  const durable = options.durableNonces[from] ?? []
  const { expects = [] } = step
  const holdings = (await Promise.all(held.map(({ token }) => holdingAccounts(associated, from, token)))).flat()
  const read = [from, ...durable, ...expects.map(({ account }) => account), ...holdings]
  const reading = accountsCalls(read, tokenOptions)
  const calls = [
    ...lifetimeCalls,
    { method: 'getMinimumBalanceForRentExemption', params: [0] },
    { method: 'getRecentPrioritizationFees', params: [writable(step)] },
    simulationCall(step, tip),
    ...reading,
  ]
  const [[latest, epoch, spare, recent, simulated, ...accountAnswers], changed] = await Promise.all([
    rpc.batch(calls, at),
    usesTables(step, tip) ? changedAnywhere(rpc, step, at) : undefined,
  ])

  const lifetime = readLifetime(rpc, [latest, epoch])
  const { accounts, newestSlot } = readAccounts(rpc, accountAnswers)
  const [payer, ...others] = accounts
  const nativeRaw = payer?.lamportsRaw ?? 0n
  const otherwise = expects.find(({ mint, isThere }, index) => {
    return isThere !== (heldIn(others[durable.length + index], { mint, owner: from }) !== undefined)
  })
  if (otherwise) throw notAsPlanned(options, otherwise, from)
  await checkBalances(options, held, others.slice(durable.length + expects.length), from, at)
  // The rest of the balance must keep the wallet's own account rent-exempt.
  const spareRaw = integerOf(resultOf(rpc, 'getMinimumBalanceForRentExemption', spare))
  if (spareRaw === undefined) throw invalidAnswer(rpc, 'did not tell the rent')
  const { valueRaw, rentRaw } = lamportsOf(step)
  const sentRaw = needs.reduce(
    (most, need) => (need.token === nativeAddress && need.amountRaw > most ? need.amountRaw : most),
    valueRaw + rentRaw,
  )
  // Accounts that are closed again need their rent for the transaction alone: it is in `needs`, and not in the step.
  const keptRaw = sentRaw - valueRaw
  if (nativeRaw < sentRaw) throw insufficientBalance(nativeCurrency, nativeRaw, sentRaw, keptRaw)
  // This needs no simulation, whose error would be less clear.
  const signatures = 1 + (step.signers?.length ?? 0)
  const leastRaw = sentRaw + baseFeeLamports * BigInt(signatures) + tipRawOf(tip) + spareRaw
  if (nativeRaw < leastRaw) throw insufficientGasFunds(nativeCurrency, nativeRaw, leastRaw, keptRaw + spareRaw)
  if (changed !== undefined) throw wouldFail(changed)
  const units = computeUnitsFor(unitsOf(options, simulated, from))
  // Without recent fees from the node, the minimum of the policy is offered.
  const paid = recent?.error ? [] : readRecentFees(recent?.result)
  if (!paid) throw invalidAnswer(rpc, 'did not answer getRecentPrioritizationFees with a list of fees')
  const fees = { ...priceFees(units, paid, options), ...(signatures > 1 && { signatures }), ...(tip && { tip }) }
  const neededRaw = costOf(step, fees) + spareRaw
  if (nativeRaw < neededRaw) throw insufficientGasFunds(nativeCurrency, nativeRaw, neededRaw, rentRaw + spareRaw)

  const checkFunds = (committedRaw: bigint) =>
    nativeRaw < committedRaw + neededRaw
      ? fundsInPendingTransactions(nativeCurrency, nativeRaw, committedRaw, neededRaw, rentRaw + spareRaw)
      : undefined
  return {
    prepared: [{ step, fees, gas: { ...gasOf(fees), rentRaw } }],
    synced: syncStateOf(lifetime, readDurable(from, durable, others, newestSlot)),
    checkFunds,
  }
}

/** What the plan was made by is read again for the next. */
function notAsPlanned({ refused }: SolanaRailOptions, { account, mint, isThere }: SolanaExpectation, from: string): SluiceError {
  refused(from)
  return wouldFail(
    `the wallet's account ${account} of the token ${mint} ${isThere ? 'was there when it was planned, and is not now' : 'is there, and was not when it was planned'}`,
  )
}

/** @throws SluiceError TRADE_FAILED where it would fail */
function unitsOf({ rpc, refused }: SolanaRailOptions, simulated: RpcAnswer | undefined, from: string): number {
  try {
    return readSimulation(rpc, simulated)
  } catch (error) {
    refused(from)
    throw error
  }
}

/** By every node that answers: what the signed message takes from a table is only what that says, and one node alone could have a stranger paid. */
async function changedAnywhere(rpc: Rpc, step: SolanaIntent, at: At): Promise<string | undefined> {
  const addresses = (step.tables ?? []).map((each) => each.address)
  const { told } = await rpc.onEveryNode((ask) => ask(accountsCalls(addresses, confirmed)), at)
  if (told.length === 0) throw new SluiceError('NETWORK', 'No node told the lookup tables of the transaction: try again.')
  return told.map((each) => changedTable(step, readAccounts(rpc, each).accounts)).find((each) => each !== undefined)
}

/** Instructions that belong together must be one transaction: two would land in any order, or only one of them. */
function onlyStep(steps: readonly SolanaIntent[], from: string): SolanaIntent {
  const [step, ...others] = steps
  if (!step || others.length > 0) throw defect('has several steps: instructions that belong together are one')
  if (step.payer !== from) throw defect('is paid by another wallet')
  // A node is put aside that refuses what is no address.
  const wrong = step.expects?.find(({ account }) => canonicalAddress(account) === undefined)
  if (wrong) throw defect(`expects something of the account ${wrong.account}, which is not an address`)
  return step
}

function asBalanceNeed(need: Need): BalanceNeed {
  if (need.is === 'balance') return need
  throw defect('needs an allowance, which Solana does not have')
}

async function checkBalances(
  { token }: SolanaRailOptions,
  held: readonly BalanceNeed[],
  accounts: readonly (SolanaAccount | undefined)[],
  from: string,
  at: At,
): Promise<void> {
  for (const [index, need] of held.entries()) {
    const own = accounts.slice(index * accountsPerHolding, (index + 1) * accountsPerHolding)
    const currentRaw = holdingIn(own, from, need.token) ?? noMint({ symbol: 'The token', address: need.token })
    if (currentRaw >= need.amountRaw) continue
    const named = (await token(need.token, at)) ?? { symbol: need.token, address: need.token, decimals: 0 }
    throw insufficientBalance(named, currentRaw, need.amountRaw)
  }
}

/** The accounts that the transaction writes. Priority fees are paid for these. */
function writable({ payer, instructions }: SolanaIntent): readonly string[] {
  const used = instructions.flatMap(({ accounts }) => accounts.flatMap((each) => (each.writable ? each.address : [])))
  return [...new Set([payer, ...used])].slice(0, maxFeeAccounts)
}

const defect = (what: string) => new SluiceError('UNKNOWN_ERROR', `The plan ${what}: nothing was signed. This is a defect of the plugin.`)
