import { SluiceError } from '../../../api/index.ts'
import type { BookAction } from '../../../contracts/index.ts'
import { doneOf, type Done, type Result } from '../../../handlers/clob/submit-actions.ts'

/** An entry of a batch: what is to be done for it, what it came to already, or why it comes to nothing. */
export type Entry<A extends BookAction, Shown extends object> = { action: A } | { answer: Shown } | { error: SluiceError }

export function showError({ code, name, message, http, details }: SluiceError) {
  return { errorCode: code, name, message, httpErrorCode: http, ...(details !== undefined && { details }) }
}

/** @param name what the entry is known by, where it came to nothing */
export function showEntry<A extends BookAction, Shown extends object, Name extends object, Told extends object>(
  entry: Entry<A, Shown>,
  result: Result | undefined,
  name: Name,
  show: (action: A, done: Done) => Told,
): Shown | Told | (Name & { error: ReturnType<typeof showError> }) {
  if ('answer' in entry) return entry.answer
  const error = 'error' in entry ? entry.error : result instanceof SluiceError ? result : undefined
  if (error) return { ...name, error: showError(error) }
  // Before the last of a batch is signed all others have come to something, and so has that one by then.
  if ('error' in entry) throw entry.error
  return show(entry.action, doneOf(result))
}

/** What belongs to a request belongs to no entry: a defect, or a store that is away, is not told of each. */
export async function orError<T>(read: () => Promise<T>): Promise<T | { error: SluiceError }> {
  try {
    return await read()
  } catch (error) {
    if (error instanceof SluiceError && error.name !== 'UNKNOWN_ERROR') return { error }
    throw error
  }
}
