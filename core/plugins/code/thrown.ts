// What plugins throw, as text within bounds: values of any type and size, whose getters and traps may throw in turn.
import { types } from 'node:util'
import { errorTable } from '../../base/errors.ts'
import { printable } from '../../base/printable.ts'
import { authorsStack, placeInStack } from './source-places.ts'

const maxReason = 600
/** Messages for callers are sentences. Some list what there is. */
const maxMessage = 10_000
const maxStack = 10_000

/** One line about what was thrown. */
export function messageOf(thrown: unknown): string {
  const { name, message } = readableError(thrown)
  // The messages of SluiceErrors are whole sentences. Those of other errors may say less than their name.
  const text = name === 'Error' || Object.hasOwn(errorTable, name) ? message : `${name}: ${message}`
  const line = printable(
    text
      .slice(0, 2 * maxReason)
      .replaceAll(/\s+/g, ' ')
      .trim(),
  )
  return line.length > maxReason ? `${line.slice(0, maxReason)} …` : line
}

/** The same with the line of the plugin's own files where it was thrown. */
export function messageWithPlace(thrown: unknown, folder: string | undefined): string {
  const place = folder === undefined || !isError(thrown) ? undefined : placeInStack(readableError(thrown).stack ?? '', folder)
  return place === undefined ? messageOf(thrown) : `${place}: ${messageOf(thrown)}`
}

/** An error may be its own cause. */
const maxCauses = 5

/** Their stacks are not mapped again. */
const authorsLines = new WeakSet<Error>()

/** An error with the name, message, stack and causes of what was thrown, and nothing else of it. */
export function readableError(thrown: unknown, causes = maxCauses): Error {
  if (!isError(thrown)) return new Error(describe(thrown))
  const cause = causes > 0 ? fieldOf(thrown, 'cause') : undefined
  const error = new Error(
    textOf(thrown, 'message', maxMessage) ?? 'its message cannot be read',
    cause === undefined ? undefined : { cause: readableError(cause, causes - 1) },
  )
  error.name = textOf(thrown, 'name', 100) ?? 'Error'
  const stack = textOf(thrown, 'stack', maxStack)
  error.stack = stack === undefined ? `${error.name}: ${error.message}` : authorsLines.has(thrown) ? stack : authorsStack(stack)
  authorsLines.add(error)
  return error
}

/** Proxies are no errors: whether they look like one is for their traps to say. */
export const isError = (thrown: unknown): thrown is Error => !types.isProxy(thrown) && thrown instanceof Error

function describe(thrown: unknown): string {
  if (typeof thrown === 'string') return `threw '${thrown.slice(0, maxReason)}'`
  if (thrown === null || (typeof thrown !== 'object' && typeof thrown !== 'function' && typeof thrown !== 'bigint'))
    return `threw ${String(thrown)}`
  return `threw ${typeof thrown === 'object' ? 'an object that is not an Error' : `a ${typeof thrown}`}`
}

function textOf(thrown: Error, key: 'name' | 'message' | 'stack', maxLength: number): string | undefined {
  const text = fieldOf(thrown, key)
  return typeof text === 'string' ? text.slice(0, maxLength) : undefined
}

/** A getter may throw. */
export function fieldOf(thrown: object, key: string): unknown {
  try {
    return Reflect.get(thrown, key)
  } catch {
    return undefined
  }
}
