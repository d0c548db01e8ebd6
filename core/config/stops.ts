// What may still be signed while an operator has stopped something: the rule, without the places that a stop is set in.
import { stopModes, type StopMode } from '../api/limits.ts'
import { command } from '../base/layout.ts'
import { SluiceError } from '../base/errors.ts'
import { addressKey } from '../base/addresses.ts'

/** What a transaction does, as far as a stop asks: it cancels another or an order, it takes back what is at stake, or anything else. */
export type Effect = 'cancels' | 'reduces' | 'other'

/** What a stop holds: everything, one wallet, or one client by its id. */
export type StopScope = { readonly of: 'all' } | { readonly of: 'wallet' | 'client'; readonly subject: string }

/** A stop in force. */
export interface Stop {
  readonly mode: StopMode
  /** A wallet by `addressKey`. */
  readonly scope: StopScope
  /** The client's id, or the file. */
  readonly setBy: string
  /** Milliseconds since the Unix epoch. */
  readonly since: number
  readonly reason?: string
  /** The name of the file in the data folder that says it. */
  readonly file?: string
}

/** The modes that keep such a transaction from being signed. */
export const modesAgainst = (effect: Effect): readonly StopMode[] =>
  effect === 'cancels' ? [] : effect === 'reduces' ? ['stop'] : stopModes

/** Who and what a transaction is of. */
export interface StopSubjects {
  /** The wallet, and the address that signs for it. */
  readonly wallets: readonly string[]
  readonly clients: readonly string[]
}

export function isHeldBy({ scope }: Stop, { wallets, clients }: StopSubjects): boolean {
  if (scope.of === 'all') return true
  if (scope.of === 'client') return clients.includes(scope.subject)
  return wallets.some((each) => addressKey(each) === addressKey(scope.subject))
}

/** The stop by which nothing is signed for it; the strictest first. */
export const findStop = (stops: readonly Stop[], effect: Effect, subjects: StopSubjects): Stop | undefined =>
  modesAgainst(effect)
    .flatMap((mode) => stops.filter((stop) => stop.mode === mode && isHeldBy(stop, subjects)))
    .at(0)

/** "all", "the wallet 0x…", "the client bot". */
export const scopeWords = (scope: StopScope): string => (scope.of === 'all' ? 'all' : `the ${scope.of} ${scope.subject}`)

const optionOf = (scope: StopScope): string => (scope.of === 'all' ? '' : ` --${scope.of} ${scope.subject}`)

const whatGoesThrough: Readonly<Record<StopMode, string>> = {
  stop: 'only cancels go through',
  'reduce-only': 'only what cancels, closes, removes, repays or revokes goes through',
}

/** The refusal of a request that a stop holds. */
export function stoppedError(stop: Stop): SluiceError {
  const { mode, scope, setBy, since, reason, file } = stop
  const who = file === undefined ? `by "${setBy}"` : `by the file ${file} in the data folder`
  const why = reason === undefined ? '' : `: "${reason}"`
  const lift =
    file === undefined
      ? `A certificate with the permission resume lifts it: \`${command} resume${optionOf(scope)}\`, or DELETE /stops.`
      : `An operator lifts it on the server's machine: \`${command} resume${optionOf(scope)}\`, or by removing the file.`
  return new SluiceError(
    'STOPPED',
    `${mode} is set for ${scopeWords(scope)} ${who} since ${new Date(since).toISOString()}${why}. Nothing was signed: ${whatGoesThrough[mode]}. ${lift}`,
    { details: { ...showStop(stop) } },
  )
}

/** A stop as callers see it. */
export function showStop({ mode, scope, setBy, since, reason, file }: Stop) {
  return {
    mode,
    of: scope.of,
    ...(scope.of === 'wallet' && { address: scope.subject }),
    ...(scope.of === 'client' && { client: scope.subject }),
    setBy,
    since,
    ...(reason !== undefined && { reason }),
    ...(file !== undefined && { file }),
  }
}
