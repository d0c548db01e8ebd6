import type { Json } from '../../../contracts/index.ts'
import { isObject } from '../../nodes/is-object.ts'
import { quoteNode } from '../../nodes/quote-node.ts'
import { callsIn } from '../reading/decode-logs.ts'
import { knownPrograms } from '../reading/instructions.ts'

const failed = /^Program \w{32,44} failed: (.+)$/
const complaint = /^Program log: (?:Error: |AnchorError )?(.+)$/

/**
 * Why a transaction failed, for people: the program that gave up first with its last words, else what the runtime says.
 * @param err as the node writes it: https://docs.rs/solana-transaction-error, TransactionError and InstructionError
 */
export function whyFailed(err: Json, logs: readonly string[]): string {
  const call = callsIn(logs).findLast(({ lines }) => lines.some((line) => failed.test(line)))
  const why = call?.lines.map((line) => failed.exec(line)?.[1]).find((found) => found !== undefined)
  if (!call || why === undefined) return wordsOf(err)
  const said = call.lines.map((line) => complaint.exec(line)?.[1]).findLast((found) => found !== undefined)
  const program = knownPrograms.get(call.program)?.name ?? call.program
  return quoteNode(`${program}: ${why}${said === undefined ? '' : ` (${said})`}`)
}

/** `{ InstructionError: [2, { Custom: 1 }] }` → "instruction error 2 custom 1". */
function wordsOf(err: Json): string {
  if (typeof err === 'string') return spaced(err)
  if (Array.isArray(err)) return err.map(wordsOf).join(' ')
  if (isObject(err))
    return quoteNode(
      Object.entries(err)
        .map(([name, detail]) => `${spaced(name)} ${wordsOf(isJson(detail) ? detail : null)}`.trim())
        .join(', '),
    )
  return typeof err === 'number' || typeof err === 'boolean' ? String(err) : ''
}

const isJson = (value: unknown): value is Json => value !== undefined
const spaced = (name: string) => quoteNode(name.replaceAll(/(?<=[a-z0-9])(?=[A-Z])|_/g, ' ').toLowerCase())

/** Errors of the runtime for a payer who has too little, or nothing at all. */
const unfunded: ReadonlySet<string> = new Set(['AccountNotFound', 'InsufficientFundsForFee', 'InsufficientFundsForRent'])

export function isUnfunded(err: Json): boolean {
  return typeof err === 'string' ? unfunded.has(err) : isObject(err) && Object.keys(err).some((name) => unfunded.has(name))
}
