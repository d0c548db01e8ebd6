import type { Answer } from '../answer.ts'

/** The older way of saying an error, or that there is none. */
export const resultOf = (error: Answer): Answer => (error === null ? { Ok: null } : { Err: error })
