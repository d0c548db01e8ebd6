// How `sluice proxy` and the server speak about answers: the proxy gives each request that may act an id, and reports by that id whether its client has the answer.
import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { badFields } from '../base/errors.ts'
import { command } from '../base/layout.ts'

/** In a request: the id that the proxy gave it. In its answer the same: the server waits for a report. */
export const answerIdHeader = 'sluice-answer-id'
/** A POST, on each interface of a plugin. */
export const reportPath = '/sluice/answers'
/** In one POST. */
export const maxReports = 100

export interface AnswerReport {
  /** That of the request. */
  readonly id: string
  /**
   * true: the answer was written to its client's connection, which stood. false: it was not, or that connection broke before its client asked for more or
   * ended it.
   */
  readonly read: boolean
}

export const answerIdPattern = '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
const answerId = new RegExp(answerIdPattern)

/** Absent where the request comes from no proxy. @throws SluiceError INCOMPLETE_PARAMS */
export function answerIdOf({ headers }: Pick<IncomingMessage, 'headers'>): string | undefined {
  const given = headers[answerIdHeader]
  if (given === undefined) return undefined
  if (typeof given === 'string' && answerId.test(given)) return given
  throw badFields([
    { field: answerIdHeader, problem: `must be a UUID in lower case, as \`${command} proxy\` makes it; other clients leave it out` },
  ])
}

/** As the store has it: another for another certificate and another interface. */
export const storedAnswerId = (name: string, fingerprint: string, id: string): string =>
  createHash('sha256')
    .update(JSON.stringify([name, fingerprint, id]))
    .digest('hex')
