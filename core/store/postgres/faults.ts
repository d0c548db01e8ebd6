import { DatabaseError } from 'pg'
import { quoted } from '../../base/printable.ts'
import { maskUrls } from '../../config/mask.ts'
import type { Fault, Faults } from '../store.ts'

/** The connection failed or was lost, or the database does not respond on it. */
export class ConnectionFault extends Error {
  readonly code: string | undefined

  constructor(cause: unknown) {
    super('the connection failed', { cause })
    this.code = cause instanceof Error && 'code' in cause && typeof cause.code === 'string' ? cause.code : undefined
  }
}

/** There is no connection, so no statement was sent. */
export class NotConnectedError extends Error {}

/** A pooler gives each transaction another session of the database, so that nothing of a session lasts. */
export class TransactionPoolingError extends Error {
  override readonly message =
    'store.url leads to a pooler in transaction mode, and leases and time limits need a session (for PgBouncer: pool_mode = session)'
}

/** The database answered a commit with a rollback: an earlier statement had failed and its error was ignored. */
export class RolledBackError extends Error {}

/** By the operating system's error code. */
const connectionReasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'no database listens at its address',
  ENOTFOUND: "its host's name is not known",
  EAI_AGAIN: "its host's name cannot be looked up",
  ENOENT: 'no database listens at its address',
}

/** By SQLSTATE, or its class: https://www.postgresql.org/docs/current/errcodes-appendix.html. */
const reasons: Readonly<Record<string, string>> = {
  '08P01': 'the database, or a pooler before it, refuses the connection',
  '08': 'the connection to the database was lost',
  '25006': 'the database may only be read (is it a standby?)',
  '25': 'the database rolled the transaction back',
  '28': 'the database refuses its user or password',
  '3D': 'the database does not exist',
  '40': 'too many writes collided',
  '42501': "the database's user may not write its tables",
  '42P01': 'its tables are missing',
  '53100': "the database's disk is full",
  '53300': 'the database has too many connections',
  '53': 'the database is short of memory or disk',
  '55P03': 'the database waits for a lock',
  '57014': 'the database is too slow',
  '57': 'the database is shutting down or starting',
  '58': "the database's disk refuses to read or write",
  F0: 'the database is damaged',
  XX001: 'the database is damaged',
  XX002: 'the database is damaged',
}

export const postgresFaults: Faults = {
  of(error): Fault | undefined {
    if (error instanceof NotConnectedError) {
      const fault = postgresFaults.of(error.cause)
      return fault && { ...fault, leavesCommitOpen: false }
    }
    if (error instanceof TransactionPoolingError) return { reason: error.message, leavesCommitOpen: false }
    if (error instanceof RolledBackError) return { reason: 'the database rolled the transaction back', leavesCommitOpen: false }
    if (error instanceof ConnectionFault)
      return {
        reason: connectionReasons[error.code ?? ''] ?? 'the connection to the database was lost, or it does not answer',
        says: saidBy(error.cause),
        leavesCommitOpen: true,
      }
    if (!(error instanceof DatabaseError) || error.code === undefined) return undefined
    const reason = reasons[error.code] ?? reasons[error.code.slice(0, 2)]
    // After an ERROR the database has rolled back. After anything worse (FATAL, PANIC, or a localized word) the commit may already have
    // been on its way to the disk or to a standby.
    return reason === undefined
      ? undefined
      : { reason, says: saidBy(error), leavesCommitOpen: error.severity !== 'ERROR', isFull: error.code === '53100' }
  },
  isCollision: (error) => error instanceof DatabaseError && (error.code === '40001' || error.code === '40P01'),
}

/** Whether waiting cannot help: user, password, rights, the database's name or a pooler's mode are wrong. */
export function isRefusal(error: unknown): boolean {
  if (error instanceof NotConnectedError) return isRefusal(error.cause)
  if (error instanceof TransactionPoolingError) return true
  return error instanceof DatabaseError && ['28', '3D', '42'].includes(error.code?.slice(0, 2) ?? '')
}

/** Whether the error is the connection's, and neither the database's nor the statement's. */
export const isOfConnection = (error: unknown) =>
  !(
    error instanceof DatabaseError ||
    error instanceof RolledBackError ||
    error instanceof TransactionPoolingError ||
    error instanceof TypeError ||
    error instanceof RangeError
  )

/** Classes of errors that depend on the statement and on rows alone: data, constraints, collisions, a transaction that has failed before. */
const classesOfStatements: ReadonlySet<string> = new Set(['22', '23', '40'])
const failedBefore = '25P02'

/**
 * Whether the connection is not used any more. All but the errors of statements may depend on the session: a session keeps the role, the search path,
 * the time limits and whether it may write from when it began, and after a failover these may be those of the standby.
 */
export function breaksConnection(error: unknown): boolean {
  if (!(error instanceof DatabaseError)) return isOfConnection(error)
  const { code = '', severity } = error
  return severity !== 'ERROR' || !(classesOfStatements.has(code.slice(0, 2)) || code === failedBefore)
}

/** Whether a statement was ended since it took, or waited, too long. */
export const isTooSlow = (error: unknown): boolean => error instanceof DatabaseError && (error.code === '57014' || error.code === '55P03')

const maxSaid = 200

/** The other side's own words, with the code where there is one. For the operator: they may name users and tables. */
export function saidBy(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined
  const words = error.message === '' ? undefined : quoted(maskUrls(error.message), maxSaid)
  return words === undefined ? code : code === undefined || words.includes(code) ? words : `${words} (${code})`
}

/** As a sentence behind the reason; empty where it said nothing. */
export const saysIn = ({ says }: Fault): string => (says === undefined ? '' : ` PostgreSQL, or what is before it, says: ${says}.`)
