import type { At } from '../contracts/index.ts'
import type { Call } from '../handlers/context.ts'

/** The signal of a call, which nobody has asked for yet, for those who may never need it. */
export const atOf = (call: Pick<Call, 'signal'>): At => ({
  get signal() {
    return call.signal
  },
})
