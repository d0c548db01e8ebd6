// What fields of a request mean: moments, and amounts in a token's smallest units.
import { maxRaw, toRaw } from '../base/decimal.ts'
import { badFields } from '../base/errors.ts'
import type { Token } from '../contracts/index.ts'

/** Nobody plans further ahead. */
const maxAheadSeconds = 100 * 31_556_952
/** What is shorter was meant as a duration. */
const maxDurationSeconds = 10 * 31_556_952

/**
 * A moment to come, in seconds since the Unix epoch. One in milliseconds is thousands of years ahead, and a duration ended in 1970.
 * @throws SluiceError INCOMPLETE_PARAMS, which names the unit
 */
export function readMoment(seconds: number, field: string, nowMs = Date.now()): number {
  const now = Math.floor(nowMs / 1000)
  if (seconds > now && seconds <= now + maxAheadSeconds) return seconds
  const inSeconds = Math.floor(seconds / 1000)
  const problem =
    seconds > now
      ? inSeconds <= now + maxAheadSeconds
        ? `is in milliseconds: give it in seconds since 1970, ${inSeconds}`
        : 'is more than a hundred years ahead: give a time in seconds since 1970'
      : seconds <= maxDurationSeconds
        ? `is a duration: give a time in seconds since 1970, ${now + seconds}`
        : `is in the past: give a later time, in seconds since 1970 (now ${now})`
  throw badFields([{ field, problem }])
}

/** An amount of a request in smallest units. @throws SluiceError INCOMPLETE_PARAMS if it has too many decimals or is too large */
export function readRaw(text: string, token: Token, field: string): bigint {
  const raw = toRaw(text, token.decimals)
  if (raw === undefined) throw badFields([{ field, problem: `${text} has more decimals than ${token.symbol} (${token.decimals})` }])
  if (raw >= maxRaw) throw badFields([{ field, problem: 'is more than any token can hold' }])
  return raw
}

/** `readRaw` for an amount that must be more than 0. */
export function readPositiveRaw(text: string, token: Token, field: string): bigint {
  const raw = readRaw(text, token, field)
  if (raw === 0n) throw badFields([{ field, problem: 'must be more than 0' }])
  return raw
}
