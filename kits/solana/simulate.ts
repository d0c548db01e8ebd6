// What a step would do to a wallet: a node simulates it, and tells the accounts that it writes as they would be. Evidence, not proof: a program may do
// something else in a block.
import { AccountState, getTokenDecoder, getTokenSize, type Token as TokenAccount } from '@solana-program/token'
import { isNone, isSome } from '@solana/kit'
import { SluiceError, type At, type Grant, type SimulatedOutcome } from '../../core/contracts/index.ts'
import { isObject } from '../../core/base/json.ts'
import { invalidAnswer, resultOf, type Rpc } from '../nodes/rpc.ts'
import { accountsCalls, maxPerCall, readAccount, readAccounts, tryDecode } from './accounts.ts'
import { tokenAccountOf } from './addresses.ts'
import { baseFeeLamports } from './fees.ts'
import { simulationCall } from './message.ts'
import { confirmed, contextSlotOf, integerOf, jsonOfNode, valueOf } from './rpc.ts'
import { wrappedMint } from './swap-accounts.ts'
import { tokenPrograms } from './tokens.ts'
import { failureReason } from './transactions.ts'
import { nativeAddress, type SolanaAccount, type SolanaIntent } from './types.ts'

type Outcome = SimulatedOutcome | 'unavailable'
type Accounts = readonly (SolanaAccount | undefined)[]

/** Within one batch nodes may answer by two slots: what came in between would count as the step's. */
const maxReadings = 3

export const createSimulation =
  (rpc: Rpc) =>
  async (steps: readonly SolanaIntent[], wallet: string, { tokens }: { tokens: readonly string[] }, at: At): Promise<Outcome> => {
    const [step, ...others] = steps
    if (!step || others.length > 0) return { is: 'failed', reason: 'it is not one transaction' }
    const written = writtenBy(step, wallet)
    if (written.length > maxPerCall)
      return { is: 'failed', reason: `it writes ${written.length} accounts, and ${maxPerCall} at most are looked at` }
    const { method, params } = simulationCall(step)
    const [wire, options] = params
    const simulation = { method, params: [wire, { ...Object(options), accounts: { encoding: 'base64', addresses: written } }] }
    for (let reading = 1; reading <= maxReadings; reading += 1) {
      const [simulated, ...read] = await rpc.batch([simulation, ...accountsCalls(written, confirmed)], at)
      const result = resultOf(rpc, 'simulateTransaction', simulated)
      const before = readAccounts(rpc, read)
      if (contextSlotOf(result) !== before.slot || before.slot !== before.newestSlot) continue
      const value = valueOf(result)
      if (!isObject(value)) throw invalidAnswer(rpc, 'did not answer simulateTransaction with a simulation')
      const err = jsonOfNode(value['err'])
      if (err !== null) return { is: 'failed', reason: failureReason(err, textsOf(value['logs'])) }
      const after = Array.isArray(value['accounts']) ? value['accounts'].map((each) => readAccount(each)) : []
      if (after.length !== written.length || after.includes(null)) return 'unavailable'
      const feeRaw = integerOf(value['fee']) ?? baseFeeLamports * BigInt(1 + (step.signers?.length ?? 0))
      return outcomeOf({ wallet, written, before: before.accounts, after: after.map((each) => each ?? undefined), feeRaw, tokens, step })
    }
    throw new SluiceError('NETWORK', 'The node simulates by another slot than it reads. Try again.', { retryAfterSeconds: 1 })
  }

/** The wallet first. What a transaction does not write, it does not change. */
function writtenBy({ instructions }: SolanaIntent, wallet: string): readonly string[] {
  const used = instructions.flatMap(({ accounts }) => accounts.flatMap((each) => (each.writable ? each.address : [])))
  return [...new Set([wallet, ...used])]
}

interface Observation {
  readonly wallet: string
  readonly written: readonly string[]
  readonly before: Accounts
  readonly after: Accounts
  readonly feeRaw: bigint
  readonly tokens: readonly string[]
  readonly step: SolanaIntent
}

/**
 * SOL is what the wallet and its token accounts have of lamports together, wrapped SOL and rent with them, so that only what leaves them counts. Where a
 * request is about the wrapped token, that is told apart. The rent of a new account leaves the wallet where the request does not name its token.
 */
function outcomeOf({ wallet, written, before, after, feeRaw, tokens, step }: Observation): Outcome {
  const gains = new Map<string, bigint>([[nativeAddress, feeRaw]])
  const grants: Grant[] = []
  const add = (token: string, raw: bigint) => void gains.set(token, (gains.get(token) ?? 0n) + raw)
  const isApart = tokens.includes(wrappedMint)
  const isNamed = (mint: string) => mint === wrappedMint || tokens.includes(mint)
  const ofWrapping = tokenAccountOf(wallet, wrappedMint)
  for (const [index, was] of before.entries()) {
    const is = after[index]
    if (index === 0) {
      if (is && was && is.owner !== was.owner) return { is: 'failed', reason: 'it gives the wallet itself to a program' }
      add(nativeAddress, (is?.lamportsRaw ?? 0n) - (was?.lamportsRaw ?? 0n))
      continue
    }
    const [held, holds] = [ownedBy(wallet, was), ownedBy(wallet, is)]
    if (held) count(held, was, -1n)
    const isNew = !held && holds !== undefined
    // Who froze a new account, or may freeze it, keeps its rent, and takes a price for it.
    const isKept = !isNew || (isNamed(holds.mint) && holds.state !== AccountState.Frozen)
    if (holds) count(holds, is, 1n, isKept)
    // What was nobody's token account, and has lamports that anybody sent, is the wallet's from now on: these are no gain of the step.
    // Where SOL is wrapped, an account may come and go within the step, with such lamports.
    const isOfWrapping = written[index] === ofWrapping
    if (was && (isNew ? isKept : isOfWrapping && !held)) add(nativeAddress, -was.lamportsRaw)
    if (is && isOfWrapping && !holds) add(nativeAddress, is.lamportsRaw)
    grants.push(...grantsOf(held, holds, is))
  }
  for (const [token, raw] of gains) if (raw === 0n && token !== nativeAddress) gains.delete(token)
  return { is: 'done', gains, grants, sent: sentBy(gains, step) }

  function count(account: TokenAccount, { lamportsRaw } = { lamportsRaw: 0n }, sign: bigint, withLamports = true): void {
    const isWrapped = account.mint === wrappedMint
    if (!isWrapped || isApart) add(account.mint, sign * account.amount)
    if (withLamports) add(nativeAddress, sign * (isWrapped && isApart ? lamportsRaw - account.amount : lamportsRaw))
  }
}

function ownedBy(wallet: string, account: SolanaAccount | undefined): TokenAccount | undefined {
  const read = tokenAccountIn(account)
  return read?.owner === wallet ? read : undefined
}

function tokenAccountIn(account: SolanaAccount | undefined): TokenAccount | undefined {
  if (!account || !tokenPrograms.includes(account.owner) || account.data.length < getTokenSize()) return undefined
  const read = tryDecode(getTokenDecoder(), account.data.subarray(0, getTokenSize()))
  return read && read.state !== AccountState.Uninitialized ? read : undefined
}

/** Whoever may move what is in an account afterwards, and could not before: another owner, a delegate, one who may close it. */
function grantsOf(held: TokenAccount | undefined, holds: TokenAccount | undefined, is: SolanaAccount | undefined): readonly Grant[] {
  const grants: Grant[] = []
  if (held && !holds) {
    const given = tokenAccountIn(is)
    if (given) grants.push({ token: held.mint, spender: given.owner })
  }
  if (!holds) return grants
  const { mint: token, delegate, delegatedAmount, closeAuthority } = holds
  if (isSome(delegate)) {
    const isSame = held && isSome(held.delegate) && held.delegate.value === delegate.value
    if (!isSame || delegatedAmount > held.delegatedAmount) grants.push({ token, spender: delegate.value, amountRaw: delegatedAmount })
  }
  if (isSome(closeAuthority) && (!held || isNone(held.closeAuthority))) grants.push({ token, spender: closeAuthority.value })
  return grants
}

/** What leaves, and what new accounts may take whatever they take in the simulation. */
function sentBy(gains: ReadonlyMap<string, bigint>, { instructions, signers = [] }: SolanaIntent): Map<string, bigint> {
  const sent = new Map([...gains].flatMap(([token, raw]) => (raw < 0n ? [[token, -raw] as const] : [])))
  if (signers.length === 0) return sent
  for (const { program, accounts, data } of instructions) {
    const bytes = Buffer.from(data, 'base64')
    const [, mint, delegate] = accounts
    if (!tokenPrograms.includes(program) || bytes[0] !== approveChecked || bytes.length < 9 || !mint || !delegate) continue
    if (!signers.includes(delegate.address)) continue
    const token = mint.address === wrappedMint && !gains.has(wrappedMint) ? nativeAddress : mint.address
    const amountRaw = bytes.readBigUInt64LE(1)
    if (amountRaw > (sent.get(token) ?? 0n)) sent.set(token, amountRaw)
  }
  return sent
}

/** solana-program/token, TokenInstruction: ApproveChecked. */
const approveChecked = 13

const textsOf = (value: unknown): readonly string[] => (Array.isArray(value) ? value.filter((line) => typeof line === 'string') : [])
