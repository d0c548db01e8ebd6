import { SluiceError, type At, type Head } from '../../core/contracts/index.ts'
import { revertReason } from '../evm/reverts.ts'
import type { Call, CallResult, EvmReader, Probe } from '../evm/types.ts'
import { curieAbi, meaningOf } from './abi.ts'

/** A part of a batch: calls, and how their results are decoded. */
export interface BatchRead<T> {
  readonly calls: readonly (Call | Probe)[]
  answer(results: readonly CallResult[]): T
}

type AnswerOf<A> = A extends BatchRead<infer T> ? T : never

/** Combines several reads by name. */
export function combine<P extends Readonly<Record<string, BatchRead<unknown>>>>(parts: P): BatchRead<{ [K in keyof P]: AnswerOf<P[K]> }> {
  const entries = Object.entries(parts)
  return {
    calls: entries.flatMap(([, { calls }]) => calls),
    answer(results) {
      let from = 0
      const answers = entries.map(([name, part]) => [name, part.answer(results.slice(from, (from += part.calls.length)))])
      // The names are those of the parts.
      const named: unknown = Object.fromEntries(answers)
      return named as { [K in keyof P]: AnswerOf<P[K]> }
    },
  }
}

/** Combines a list of reads of one kind. */
export function combineAll<T>(parts: readonly BatchRead<T>[]): BatchRead<readonly T[]> {
  return {
    calls: parts.flatMap(({ calls }) => calls),
    answer(results) {
      let from = 0
      return parts.map((part) => part.answer(results.slice(from, (from += part.calls.length))))
    },
  }
}

export const mapRead = <T, U>({ calls, answer }: BatchRead<T>, make: (answer: T) => U): BatchRead<U> => ({
  calls,
  answer: (results) => make(answer(results)),
})

/** Decoded only when it is called, since a result that is not needed may be a revert. */
export const deferred = <T>({ calls, answer }: BatchRead<T>): BatchRead<() => T> => ({ calls, answer: (results) => () => answer(results) })

export async function runRead<T>(reader: EvmReader, { calls, answer }: BatchRead<T>, at: At): Promise<{ head: Head; answer: T }> {
  const { head, results } = await reader.read(calls, at)
  return { head, answer: answer(results) }
}

// Reads of one view function of the exchange's contracts.

export const readNumber = view(([value]) => BigInt(String(value)))
export const readFlag = view(([value]) => value === true)
export const readText = view(([value]) => String(value))
export const readTexts = view(([values]) => (Array.isArray(values) ? values.map(String) : []))
export const readNumbers = view((values) => values.map((value) => BigInt(String(value))))

/** Undefined where a call reverts, or where there is nothing that answers it. */
export const orUndefined = <T>({ calls, answer }: BatchRead<T>): BatchRead<T | undefined> => ({
  calls,
  answer(results) {
    if (!results.every(({ ok }) => ok)) return undefined
    try {
      return answer(results)
    } catch (error) {
      if (error instanceof SluiceError) return undefined
      throw error
    }
  },
})

function view<T>(make: (values: readonly unknown[]) => T) {
  return (to: string, method: string, ...args: readonly unknown[]): BatchRead<T> => ({
    calls: [{ to, data: curieAbi.encodeFunctionData(method, [...args]) }],
    answer([result]) {
      const values = result?.ok ? decoded(method, result.data) : undefined
      if (!values) throw unanswered(to, method, result)
      return make(values)
    },
  })
}

/** Of an answer, in hexadecimal digits: lists of the exchange are far shorter, and to decode a megabyte takes a tenth of a second. */
const maxDigits = 200_000

function decoded(method: string, data: string): readonly unknown[] | undefined {
  if (data.length > maxDigits) return undefined
  try {
    const values: readonly unknown[] = curieAbi.decodeFunctionResult(method, data).toArray()
    return values
  } catch {
    return undefined
  }
}

/** A view reverts, for example without price history, or is not there, where the contract is another one. */
export function unanswered(to: string, method: string, result: CallResult | undefined): SluiceError {
  const reason = result && !result.ok && result.data !== '0x' ? revertReason(result.data) : `${to} does not answer ${method}`
  return new SluiceError('PRICE_FAILED', `The exchange does not return its figures now: ${meaningOf(reason)}.`, { details: { reason } })
}
