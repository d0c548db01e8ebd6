import { SluiceError } from '../../../../core/contracts/index.ts'

/** The caller's error that a promise ends in. */
export async function rejection(promise: Promise<unknown>): Promise<SluiceError> {
  const outcome = await promise.then(
    () => 'no error',
    (error: unknown) => error,
  )
  if (outcome instanceof SluiceError) return outcome
  throw new Error('Expected a SluiceError', { cause: outcome })
}
