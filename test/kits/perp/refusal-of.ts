import { isError } from 'ethers'

/** The code with which the exchange refuses a call. */
export async function refusalOf(call: Promise<unknown>): Promise<string> {
  const outcome = await call.then(
    () => 'it was not refused',
    (error: unknown) => error,
  )
  if (isError(outcome, 'CALL_EXCEPTION')) return outcome.reason ?? outcome.message
  return String(outcome)
}
