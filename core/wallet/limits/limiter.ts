// Holds what is to be signed against the limits of its wallet, and counts it before the signature leaves.
import { addressKey } from '../../base/addresses.ts'
import type { FolderLock } from '../../base/folder-lock.ts'
import { command } from '../../base/layout.ts'
import { formatRaw, parseDecimal } from '../../base/decimal.ts'
import { withdrawalDecimals, type LimitRow, type NetworkLimits, type WalletLimits } from '../../config/wallet-limits.ts'
import { Refusal, type EvmRules, type SolanaRules } from '../policy.ts'
import type { SignRequest } from '../signer-messages.ts'
import type { SigningLimits } from '../signing-networks.ts'
import { createSignerClock, systemTime, type SignerClock, type TimeSources } from './clock.ts'
import { CountError, lockCount } from './count-file.ts'
import { FullDiskError, openCount, type CountWriter } from './count-writer.ts'
import { allGas, createCounts, gasOfTrades, type Bounds, type Counts, type Excess } from './counts.ts'

export interface Limiter {
  /**
   * Settles when it was counted that this is signed; at once for a wallet without limits.
   * @throws Refusal LIMIT_EXCEEDED; OVERLOADED while there is no room for the count; FORBIDDEN where it cannot be used, which lasts until an operator
   * has mended it
   */
  reserve(request: SignRequest, rules: EvmRules | SolanaRules): Promise<void>
  hasLimits(address: string): boolean
  /** Why nothing is signed for wallets with limits now. */
  problem(): string | undefined
  close(): Promise<void>
}

interface LimiterOptions {
  readonly limits: WalletLimits
  readonly dataDir: string
  /** Of tokens, by `chain/network` and address: for people. */
  readonly symbols?: SigningLimits['symbols']
  readonly time?: TimeSources
  /** Called when `problem` has changed since it was opened. */
  readonly onProblem?: (problem: string | undefined) => void
}

export async function openLimiter({ limits, dataDir, symbols = {}, time = systemTime(), onProblem }: LimiterOptions): Promise<Limiter> {
  const byWallet = new Map(Object.entries(limits).map(([address, networks]) => [addressKey(address), networks]))
  const counts: Counts = createCounts()
  let lock: FolderLock | undefined
  let file: CountWriter | undefined
  let clock: SignerClock | undefined
  let unopened: CountError | undefined
  const problem = () => unopened ?? file?.problem()
  // Without limits the readers of calls are not loaded.
  const { spendingOf } = byWallet.size > 0 ? await import('./spending.ts') : {}
  if (byWallet.size > 0) {
    try {
      // Held without a count, too: who begins one stops this signer first, which then goes by it.
      lock = await lockCount(dataDir)
      file = await openCount(dataDir, {
        live: () => counts.charges(clock?.now().ms ?? 0),
        onChange: (now) => onProblem?.(now?.message),
      })
      for (const charge of file.charges) counts.add(charge, charge.ms)
      clock = createSignerClock(file.last, time)
    } catch (error) {
      if (!(error instanceof CountError)) throw error
      unopened = error
    }
  }

  async function reserve(request: SignRequest, rules: EvmRules | SolanaRules): Promise<void> {
    const networks = byWallet.get(addressKey(request.address))
    if (!networks) return
    const unusable = problem()
    if (!file || !clock || !spendingOf || unusable) throw withoutCount(unusable)
    const limit = Object.hasOwn(networks, rules.name) ? networks[rules.name] : undefined
    if (!limit) {
      const details = { limit: `wallets.${request.address}`, file: 'conf/limits.yml', left: '0' }
      throw new Refusal(`the limits of ${request.address} in conf/limits.yml do not name ${rules.name}`, 'LIMIT_EXCEEDED', details)
    }
    const spending = await spendingOf(request, rules, { allowsUnreadable: limit.unreadable === 'allow' })
    if (spending.unreadable !== undefined && limit.unreadable !== 'allow')
      throw new Refusal(
        `it cannot read how much ${spending.unreadable} takes, and the limits of ${request.address} on ${rules.name} do not allow that (unreadable in conf/limits.yml)`,
        'LIMIT_EXCEEDED',
      )
    const now = clock.now()
    const excess = counts.check(spending, (what) => boundsOf(limit, what, rules), now.ms)
    if (excess) throw exceeded(excess, { wallet: request.address, limit, rules, symbols, nowMs: now.ms })
    // Nothing is awaited since it was checked.
    counts.add(spending, now.ms)
    try {
      await file.append(spending, now)
    } catch (error) {
      throw withoutCount(error)
    }
  }

  return {
    reserve,
    hasLimits: (address) => byWallet.has(addressKey(address)),
    problem: () => problem()?.message,
    async close() {
      await file?.close()
      lock?.release()
    },
  }
}

const nothing: Bounds = { perDay: 0n }

/** What is not named is not given away. The number of transactions is bounded by what they may cost where it is not named. */
function boundsOf(limits: NetworkLimits, what: string, rules: EvmRules | SolanaRules): Bounds {
  if (what === 'transactions') {
    const { perHour, perDay } = limits.transactions ?? {}
    return { perHour: perHour === undefined ? undefined : BigInt(perHour), perDay: perDay === undefined ? undefined : BigInt(perDay) }
  }
  const row = rowOf(limits, what)
  if (!row) return nothing
  const decimals = decimalsOf(limits, what, rules)
  const raw = (amount: string | number | undefined) => (amount === undefined ? undefined : roundedDown(String(amount), decimals))
  const bounds = { perTransaction: raw(row.perTransaction), perHour: raw(row.perHour), perDay: raw(row.perDay) }
  return what === gasOfTrades ? { ...bounds, perHour: ofTrades(bounds.perHour), perDay: ofTrades(bounds.perDay) } : bounds
}

/** A fifth of the gas is for cancels and revocations alone: trades cannot use up what these need. */
const ofTrades = (raw: bigint | undefined): bigint | undefined => (raw === undefined ? undefined : (raw * 4n) / 5n)

/** A limit with more digits than the coin has is the next lower one. */
const roundedDown = (text: string, decimals: number): bigint => {
  const { digits, scale } = parseDecimal(text)
  return scale <= decimals ? digits * 10n ** BigInt(decimals - scale) : digits / 10n ** BigInt(scale - decimals)
}

function rowOf(limits: NetworkLimits, what: string): LimitRow | undefined {
  if (what === 'native') return limits.native
  if (what === allGas || what === gasOfTrades) return limits.gasCost
  if (what === 'withdrawals') return limits.withdrawals
  return Object.entries(limits.tokens ?? {}).find(([address]) => `token ${addressKey(address)}` === what)?.[1]
}

const decimalsOf = (limits: NetworkLimits, what: string, rules: EvmRules | SolanaRules): number =>
  what === 'withdrawals' ? withdrawalDecimals : (rowOf(limits, what)?.decimals ?? (rules.keys === 'secp256k1' ? 18 : 9))

/** But for a full disk it does not end by itself: a bot that tries again gets it again. */
function withoutCount(error: unknown): Refusal {
  const problem = error instanceof Error ? error.message : 'there is no count'
  if (error instanceof FullDiskError) return new Refusal(problem, 'OVERLOADED', { reason: 'signer count' })
  return new Refusal(problem, 'FORBIDDEN', { reason: 'signer count', command: `${command} limits reset-count` })
}

interface Where {
  readonly wallet: string
  readonly limit: NetworkLimits
  readonly rules: EvmRules | SolanaRules
  readonly symbols: SigningLimits['symbols']
  readonly nowMs: number
}

function exceeded({ what, limit: window, mostRaw, leftRaw, freesAtMs }: Excess, { wallet, limit, rules, symbols, nowMs }: Where): Refusal {
  const { key, name, symbol } = named(what, symbols[rules.name])
  const on = `of the wallet ${wallet} on ${rules.name}`
  const details = { file: 'conf/limits.yml', ...(symbol !== undefined && { token: symbol }) }
  if (what !== 'transactions' && !rowOf(limit, what))
    return new Refusal(
      `the limits ${on} in conf/limits.yml do not name ${name}, and what they do not name is not given away`,
      'LIMIT_EXCEEDED',
      {
        limit: `wallets.${wallet}.${rules.name}.${key}`,
        left: '0',
        ...details,
      },
    )
  const show = (raw: bigint) => (what === 'transactions' ? raw.toString() : formatRaw(raw, decimalsOf(limit, what, rules)))
  // The count has a clock of its own: for people it is told by the system's.
  const freesAt = freesAtMs === undefined ? undefined : Date.now() + (freesAtMs - nowMs)
  const [most, left] = [show(mostRaw), show(leftRaw)]
  const room = freesAt === undefined ? 'there never is room for this' : `there is room for this at ${new Date(freesAt).toISOString()}`
  const share = what === gasOfTrades && window !== 'perTransaction' ? ' (four fifths: the rest is for cancels and revocations)' : ''
  return new Refusal(
    `the limit ${window} of ${name} ${on} in conf/limits.yml is ${most}${share}, and ${left} is left; ${room}`,
    'LIMIT_EXCEEDED',
    { limit: `wallets.${wallet}.${rules.name}.${key}.${window}`, left, ...details, ...(freesAt !== undefined && { freesAt }) },
  )
}

/** The key in the file, and the name for people. */
function named(
  what: string,
  symbols: Readonly<Record<string, string>> = {},
): { readonly key: string; readonly name: string; readonly symbol?: string } {
  if (what === allGas || what === gasOfTrades) return { key: allGas, name: 'gas (gasCost)' }
  if (what === 'native') return { key: what, name: 'the native coin (native)' }
  if (!what.startsWith(tokenPrefix)) return { key: what, name: what }
  const address = what.slice(tokenPrefix.length)
  const symbol = Object.hasOwn(symbols, address) ? symbols[address] : undefined
  return {
    key: `tokens.${address}`,
    name: symbol === undefined ? `the token ${address}` : `${symbol} (${address})`,
    ...(symbol !== undefined && { symbol }),
  }
}

const tokenPrefix = 'token '
