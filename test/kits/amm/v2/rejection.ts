import { SluiceError } from '../../../../core/contracts/index.ts'

/** The SluiceError with which a promise is rejected. */
export async function rejection(promise: Promise<unknown>): Promise<SluiceError> {
  const outcome = await promise.then(
    () => 'no error',
    (error: unknown) => error,
  )
  if (outcome instanceof SluiceError) return outcome
  throw new Error('Expected a SluiceError', { cause: outcome })
}
