// What `sluice proxy` reports to the server: which answers its clients have read.
import https from 'node:https'
import { setTimeout as pause } from 'node:timers/promises'
import { maxReports, reportPath, type AnswerReport } from '../http/answer-reports.ts'
import type { ServerConnections } from './server-connections.ts'

export interface AnswerReports {
  /** @returns once the server has it */
  add(report: AnswerReport): Promise<void>
  /** Tries to report all that waits. @returns why not all of it is reported; undefined where it is */
  send(): Promise<string | undefined>
  /** What is not reported within this time stays so. */
  stop(withinMs: number): Promise<void>
}

/** Where nobody waits for them. */
export const noReports: AnswerReports = { add: async () => {}, send: async () => undefined, stop: async () => {} }

/** Of one attempt; between two. */
const [answerMs, retryMs] = [10_000, 1_000]

interface WaitingReport extends AnswerReport {
  readonly done: () => void
}

export function createAnswerReports(connections: Pick<ServerConnections, 'take'>, log: (line: string) => void): AnswerReports {
  /** The newest report of each answer. */
  const waiting = new Map<string, WaitingReport>()
  let sending: Promise<string | undefined> | undefined
  let retry: NodeJS.Timeout | undefined
  let isStopped = false

  const send = (): Promise<string | undefined> => {
    if (waiting.size === 0) return Promise.resolve(undefined)
    return (sending ??= sendAll().finally(() => (sending = undefined)))
  }

  async function sendAll(): Promise<string | undefined> {
    clearTimeout(retry)
    while (waiting.size > 0) {
      const reports = [...waiting.values()].slice(0, maxReports)
      const trouble = await post(connections, reports)
      if (trouble?.isLasting)
        log(`The server takes no reports about answers (${trouble.reason}): which of them were read is not known there.`)
      else if (trouble) {
        if (!isStopped) retry = setTimeout(() => void send(), retryMs).unref()
        return trouble.reason
      }
      for (const each of reports) {
        each.done()
        // What was found out meanwhile is reported after it.
        if (waiting.get(each.id) === each) waiting.delete(each.id)
      }
    }
    return undefined
  }

  return {
    add: (report) =>
      new Promise((resolve) => {
        const before = waiting.get(report.id)
        const done = () => {
          before?.done()
          resolve()
        }
        waiting.set(report.id, { ...report, done })
        void send()
      }),
    send,
    async stop(withinMs) {
      await Promise.race([send(), pause(withinMs, undefined, { ref: false })])
      isStopped = true
      clearTimeout(retry)
    },
  }
}

interface Trouble {
  readonly reason: string
  /** Another try would end alike. */
  readonly isLasting: boolean
}

async function post(connections: Pick<ServerConnections, 'take'>, reports: readonly AnswerReport[]): Promise<Trouble | undefined> {
  const connection = connections.take()
  const text = JSON.stringify({ answers: reports.map(({ id, read }) => ({ id, read })) })
  return new Promise((resolve) => {
    const failed = (error: NodeJS.ErrnoException) => {
      connection.end()
      resolve({ reason: error.message || (error.code ?? error.name), isLasting: false })
    }
    const call = https.request({
      ...connection.options,
      method: 'POST',
      path: reportPath,
      timeout: answerMs,
      headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) },
    })
    call.on('timeout', () => call.destroy(new Error(`no answer for ${answerMs / 1000} s`)))
    call.on('error', failed)
    call.on('response', (answer) => {
      const { statusCode = 0 } = answer
      answer.on('error', failed)
      answer.resume().on('end', () => {
        connection.release()
        if (statusCode >= 200 && statusCode < 300) resolve(undefined)
        else resolve({ reason: `it answers ${statusCode}`, isLasting: statusCode >= 400 && statusCode < 500 && statusCode !== 429 })
      })
    })
    call.end(text)
  })
}
