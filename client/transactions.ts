// All transactions of the journal as an iterator that goes on where it was after a cut.
import type { IncomingMessage } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { TransactionsLine, TransactionsRequest } from '../core/api/index.ts'
import { CertificateError, InterfaceVersionError, NoAnswerError } from './errors.ts'
import { isPassing, type Transport } from './transport.ts'

export interface ExportOptions {
  /** How long it is tried again without a further transaction: the client's, unless it is given. */
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
}

/** The server cuts off who takes nothing for a minute. */
const silentMs = 90_000
const pauseMs = 500

export async function* exportTransactions(
  transport: Pick<Transport, 'open'>,
  request: TransactionsRequest,
  { timeoutMs = 60_000, signal }: ExportOptions,
): AsyncGenerator<TransactionsLine, void> {
  let { cursor, limit } = request
  let end = performance.now() + timeoutMs
  for (;;) {
    signal?.throwIfAborted()
    const asked = { ...request, cursor, limit }
    let failure: unknown
    try {
      for await (const line of linesOf(await transport.open('/transactions', asked, { accept: 'application/x-ndjson' }, signal))) {
        cursor = line.id
        if (limit !== undefined) limit -= 1
        yield line
        end = performance.now() + timeoutMs
        if (limit === 0) return
      }
      return
    } catch (error) {
      if (signal?.aborted) throw signal.reason
      if (error instanceof CertificateError || error instanceof InterfaceVersionError || error instanceof TypeError || !isPassing(error))
        throw error
      failure = error
    }
    if (performance.now() + pauseMs >= end)
      throw new NoAnswerError(
        `No further transaction came within ${timeoutMs / 1000} s: ${failure instanceof Error ? failure.message : 'nothing came'}. Go on with the \`id\` of the last one as \`cursor\`.`,
        { idempotencyKey: undefined, cause: failure },
      )
    await sleep(pauseMs, undefined, signal && { signal })
  }
}

/** @throws the error of the connection where the answer is not whole */
async function* linesOf(incoming: IncomingMessage): AsyncGenerator<TransactionsLine, void> {
  incoming.setTimeout(silentMs, () => incoming.destroy(new Error(`nothing came for ${silentMs / 1000} s`)))
  let rest = ''
  for await (const text of incoming.setEncoding('utf8')) {
    const lines = `${rest}${String(text)}`.split('\n')
    rest = lines.pop() ?? ''
    // eslint-disable-next-line typescript/no-unsafe-type-assertion -- the server's types are those of the client
    for (const line of lines) yield JSON.parse(line) as TransactionsLine
  }
}
