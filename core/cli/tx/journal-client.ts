import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import Type, { type Static, type TSchema } from 'typebox'
import { Value } from 'typebox/value'
import { JournaledTransaction } from '../../api/transactions.ts'
import { NoAnswer, type Answer, type ServerClient } from '../server-client.ts'

const Page = Type.Object({ transactions: Type.Array(JournaledTransaction), nextCursor: Type.Optional(Type.String()) })
const Replaced = Type.Object({ txHash: Type.String(), nonce: Type.Number() })
const Refusal = Type.Object({ name: Type.String(), message: Type.String(), requestId: Type.Optional(Type.String()) })

export type TransactionFilter = Readonly<Record<string, string>>

/** The journal of a running server, as its own interface gives it. */
export interface JournalClient {
  /** Newest first, of all pages, at most so many. */
  list(filter: TransactionFilter, atMost: number): Promise<{ transactions: JournaledTransaction[]; isMore: boolean }>
  /** Carried out once, however often it has to be asked. @throws Error with the server's own words */
  act(path: string, request: object): Promise<Static<typeof Replaced>>
}

const pageSize = 500
const mostTries = 5

export function journalClient(server: ServerClient): JournalClient {
  return {
    async list(filter, atMost) {
      const transactions: JournaledTransaction[] = []
      let cursor: string | undefined
      do {
        const limit = String(Math.min(pageSize, atMost - transactions.length))
        const page = read(Page, await server.get('/transactions', { ...filter, limit, ...(cursor !== undefined && { cursor }) }))
        transactions.push(...page.transactions)
        cursor = page.nextCursor
      } while (cursor !== undefined && transactions.length < atMost)
      return { transactions, isMore: cursor !== undefined }
    },
    async act(path, request) {
      // With one key the server does it once, so that asking again is safe.
      const headers = { 'Idempotency-Key': `sluice-tx-${randomUUID()}` }
      for (let tries = 1; ; tries++) {
        const answer = await server.post(path, request, headers).catch((error: unknown) => {
          if (error instanceof NoAnswer && tries < mostTries) return undefined
          throw error
        })
        if (answer && (!isForLater(answer) || tries === mostTries)) return read(Replaced, answer)
        await sleep((answer?.retryAfterSeconds ?? 1) * 1000)
      }
    },
  }
}

/** It sheds load, or the first try is still under way. */
const isForLater = ({ status, retryAfterSeconds }: Answer) => [409, 503].includes(status) && retryAfterSeconds !== undefined

function read<T extends TSchema>(schema: T, { status, text }: Answer): Static<T> {
  const answer = parse(text)
  if (status === 200) {
    if (Value.Check(schema, answer)) return answer
    throw new Error('The server answers in a form that this version of the command does not know: use the one that came with the server.')
  }
  if (Value.Check(Refusal, answer))
    throw new Error(`${answer.message} (${answer.name}${answer.requestId === undefined ? '' : `, request ${answer.requestId}`})`)
  throw new Error(`What answers is no Sluice server: HTTP ${status}.`)
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
