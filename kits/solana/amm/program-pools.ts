// Pools of one program by a table of what it has of its own: its layout, its arithmetic, its instruction of a swap.
import { formatRaw } from '../../../core/base/decimal.ts'
import type { Passage, Pair, Pool } from '../../pools/protocol.ts'
import { getOrCreate } from '../../pools/routing/graph.ts'
import type { MintRefusal, MintTerms } from '../mint-extensions.ts'
import type { SolanaAccount, SolanaInstruction } from '../types.ts'
import { accountOf } from './account-data.ts'
import type { Accounts, AccountPools, PoolClasses } from './protocol.ts'
import type { ProgramVersion, ProgramVersions } from './program-versions.ts'
import { maxU64, type Clock, type Swap, type SwapRefusal, type SwapResult } from './swap-quote.ts'

/** Why there is no state, and the mint that it is for. */
export interface LeftOutState {
  readonly refused: 'no-pool' | 'no-config' | 'no-vault' | MintRefusal
  readonly mint?: string
}

/** The program has other bytes than those that the arithmetic was held against. */
interface LeftOutProgram {
  readonly refused: 'unknown-program'
  readonly program: Extract<ProgramVersion<never>, { is: 'unknown' | 'gone' | 'unread' }>
}

type OneOf<T> = readonly [T, T]
type Which = 0 | 1

/** What one program has of its own. Pure. */
export interface PoolTable<
  Own extends { readonly mints: OneOf<string> },
  State extends { readonly mints: OneOf<MintTerms> },
  Version extends string = string,
> {
  readonly version: string
  readonly program: string
  readonly slippageErrors: readonly number[]
  /** What a swap uses, the transfers of both tokens with it. */
  readonly computeUnits: bigint
  /** Where the program puts pools of these two mints by itself. */
  derived(pair: Pair): readonly string[]
  /** The classes of pools that there may be beside those. */
  readonly classes?: PoolClasses
  /** What its account says; undefined where it is no pool's. */
  decode(account: SolanaAccount | undefined): Own | undefined
  /** The accounts that a state is read from, beside its own. */
  accountsOf(own: Own): readonly string[]
  /** Of which bytes of the program the arithmetic is. */
  readonly programVersion: Version | ProgramVersions<Version>
  stateOf(own: SolanaAccount | undefined, others: readonly (SolanaAccount | undefined)[], version: Version): State | LeftOutState
  quote(state: State, clock: Clock, swap: Swap): SwapResult
  /** The part of what is paid that the exchange keeps, in units of 10^-9. */
  feeE9(state: State, clock: Clock, pays: Which): bigint
  /** The marginal price without fees: of the second token for the first. */
  spot(state: State): { readonly numerator: bigint; readonly denominator: bigint }
  /** What swaps can take out. */
  reserves(state: State): OneOf<bigint>
  /** The most that a swap may pay, where it is known. */
  mostIn?(state: State, pays: Which): bigint | undefined
  instruction(
    place: { readonly address: string; readonly own: Own },
    swap: Swap,
    terms: { readonly boundRaw: bigint; readonly owner: string; readonly from: string; readonly to: string },
  ): SolanaInstruction
}

interface PoolAtMoment<Own, State> {
  readonly own: Own
  readonly state: State
  readonly clock: Clock
}

/** Addresses are derived, a tenth of a millisecond for each, so they are kept for so many pairs. */
const mostPairs = 5_000
const beginning: Clock = { slot: 0n, epoch: 0n, unixTime: 0n }

/** @param listed pools of any pair that are at addresses of their own */
export function programPools<
  Own extends { readonly mints: OneOf<string> },
  State extends { readonly mints: OneOf<MintTerms> },
  Version extends string,
>(table: PoolTable<Own, State, Version>, listed: readonly string[] = []): AccountPools<PoolAtMoment<Own, State>> {
  const derived = new Map<string, readonly string[]>()
  const moments = new WeakMap<Pool<PoolAtMoment<Own, State>>, { readonly moment: string; readonly pool: Pool<PoolAtMoment<Own, State>> }>()
  type Here = Pool<PoolAtMoment<Own, State>>
  const gasUnits = table.computeUnits
  const { programVersion } = table
  const versions = typeof programVersion === 'string' ? undefined : programVersion

  function readState(address: string, accounts: Accounts): { own: Own; read: State | LeftOutState | LeftOutProgram } | undefined {
    const account = accountOf(accounts.get(address))
    const own = table.decode(account)
    if (!own) return undefined
    const program: ProgramVersion<Version> =
      typeof programVersion === 'string' ? { is: 'known', version: programVersion } : programVersion.of(accounts.get(programVersion.header))
    if (program.is !== 'known') return { own, read: { refused: 'unknown-program', program } }
    const others = table.accountsOf(own).map((each) => accountOf(accounts.get(each)))
    return { own, read: table.stateOf(account, others, program.version) }
  }

  return {
    version: table.version,
    program: table.program,
    slippageErrors: table.slippageErrors,
    ...(versions && { versions }),
    ...(table.classes && { classes: table.classes }),
    places(pairs) {
      const found = pairs.flatMap((pair) => {
        if (derived.size > mostPairs) derived.clear()
        return getOrCreate(derived, pair.toSorted().join(), () => table.derived(pair))
      })
      return [...new Set([...found, ...listed])]
    },
    parts: (_address, own) => {
      const decoded = table.decode(accountOf(own))
      return decoded && [...table.accountsOf(decoded), ...(versions ? [versions.header] : [])]
    },
    decode(address, accounts) {
      const found = readState(address, accounts)
      if (!found || 'refused' in found.read) return null
      const { own, read: state } = found
      return { address, tokens: own.mints, state: { own, state, clock: beginning } }
    },
    asOf(pool, clock) {
      const { state } = pool.state
      if (closedBy(table, state, clock) !== undefined) return null
      const moment = `${epochOf(state, clock)} ${table.feeE9(state, clock, 0)} ${table.feeE9(state, clock, 1)}`
      const known = moments.get(pool)
      if (known?.moment === moment) return known.pool
      const now: Here = { ...pool, state: { ...pool.state, clock } }
      moments.set(pool, { moment, pool: now })
      return now
    },
    leftOut(address, accounts, clock) {
      const found = readState(address, accounts)
      if (!found) return undefined
      const { own, read } = found
      if ('refused' in read) return { tokens: own.mints, why: wordsOf(read) }
      const closed = closedBy(table, read, clock)
      return closed === undefined ? undefined : { tokens: own.mints, why: closed }
    },
    pass(pool, passage, exact, amountRaw) {
      const { state, clock } = pool.state
      const result = table.quote(state, clock, { pays: paysOf(pool, passage), exact, amountRaw })
      if (!('refused' in result)) return { amountRaw: exact === 'in' ? result.outRaw : result.inRaw, gasUnits }
      return exact === 'in' && result.refused === 'too-little' ? { amountRaw: 0n, gasUnits } : undefined
    },
    spot(pool, passage) {
      const { numerator, denominator } = table.spot(pool.state.state)
      return paysOf(pool, passage) === 0 ? { numerator, denominator } : { numerator: denominator, denominator: numerator }
    },
    fee: (pool, passage) => formatRaw(table.feeE9(pool.state.state, pool.state.clock, paysOf(pool, passage)), 9),
    spotIsBest: true,
    leastGasUnits: gasUnits,
    mostIn: (pool, passage) => table.mostIn?.(pool.state.state, paysOf(pool, passage)),
    holds(pool, passage) {
      const [first, second] = table.reserves(pool.state.state)
      const [reserveInRaw, reserveOutRaw] = paysOf(pool, passage) === 0 ? [first, second] : [second, first]
      return { reserveInRaw, reserveOutRaw }
    },
    instruction(pool, { tokenIn, tokenOut, exact, amountRaw, ...terms }) {
      const swap = { pays: paysOf(pool, { tokenIn, tokenOut }), exact, amountRaw }
      return table.instruction({ address: pool.address, own: pool.state.own }, swap, terms)
    },
  }
}

const paysOf = ({ tokens }: Pool, { tokenIn }: Passage): Which => (tokenIn === tokens[0] ? 0 : 1)

/** The epoch, where a token's own fee changes with it. */
const epochOf = ({ mints }: { readonly mints: OneOf<MintTerms> }, { epoch }: Clock): string =>
  mints.some(({ transferFee }) => transferFee) ? String(epoch) : ''

/** An amount that is neither tiny nor more than any pool takes: what refuses it by one of these kinds refuses every amount. */
const anyAmountRaw = 1_000_000n
const closedWords: Partial<Record<SwapRefusal, string>> = {
  disabled: 'its swaps are switched off',
  'not-open': 'it has not opened yet',
  'no-reserves': 'it holds nothing but what it owes to others',
  'unknown-fees': 'it takes fees in a way that is not known here',
}

function closedBy<State extends { readonly mints: OneOf<MintTerms> }>(
  table: Pick<PoolTable<never, State>, 'quote'>,
  state: State,
  clock: Clock,
): string | undefined {
  const result = table.quote(state, clock, { pays: 0, exact: 'in', amountRaw: anyAmountRaw })
  return 'refused' in result ? closedWords[result.refused] : undefined
}

const mintWords: Record<MintRefusal, string> = {
  'no-mint': 'is no mint',
  'malformed-mint': 'has extensions that cannot be read',
  'transfer-hook': 'calls a program of its own in every transfer (a transfer hook)',
  'frozen-accounts': 'freezes new accounts',
  confidential: 'has confidential transfers',
  'interest-bearing': 'bears interest',
  'scaled-amount': 'scales its amounts',
  paused: 'is paused',
  'non-transferable': 'cannot be transferred',
  'unknown-extension': 'has an extension that is not known here',
}

function wordsOf(left: LeftOutState | LeftOutProgram): string {
  if (left.refused === 'unknown-program') return programWords(left.program)
  const { refused, mint } = left
  switch (refused) {
    case 'no-pool':
      return 'its account says what is not known here'
    case 'no-config':
      return 'its configuration is not there'
    case 'no-vault':
      return 'a vault of it is not there, not its own, or frozen'
    default:
      return `the token ${mint ?? ''} ${mintWords[refused]}`
  }
}

function programWords(program: LeftOutProgram['program']): string {
  switch (program.is) {
    case 'gone':
      return 'its program is closed, or cannot be told by its bytes'
    case 'unread':
      return 'its program was replaced, and its bytes are being read'
    default:
      return `its program has bytes that it is not quoted by here (sha256 ${program.sha256}, since the slot ${program.slot}). Who knows that they are of a version that is, writes programs: { ${program.sha256}: <version> } in the connector's file in conf/connectors (docs/bots/connectors.md has the versions)`
  }
}

/** An account of tokens counts to 2^64 − 1. */
export const roomIn = (heldRaw: bigint): bigint => maxU64 - heldRaw
