import type { IncomingMessage } from 'node:http'
import { PassThrough } from 'node:stream'
import { expect } from 'chai'
import { NoAnswerError, RefusedError } from '../../client/errors.ts'
import { exportTransactions } from '../../client/transactions.ts'

const ids = Array.from({ length: 20 }, (_, index) => `0mwvz9c9q00i7j3${String(50 - index)}`)

/** Answers with all after the cursor. Each answer but the last breaks after so many characters. */
function transport(cuts: readonly number[], refusal?: RefusedError) {
  const asked: unknown[] = []
  return {
    asked,
    async open(_target: string, fields: object, headers: object): Promise<IncomingMessage> {
      if (refusal) throw refusal
      const { cursor, limit } = Object(fields)
      asked.push([cursor, limit, Object(headers).accept])
      const from = cursor === undefined ? 0 : ids.indexOf(cursor) + 1
      const text = ids
        .slice(from, from + (limit ?? Infinity))
        .map((id) => `${JSON.stringify({ id, reason: 'ü' })}\n`)
        .join('')
      const cut = cuts[asked.length - 1]
      const stream = Object.assign(new PassThrough(), { setTimeout: () => {} })
      stream.write(cut === undefined ? text : text.slice(0, cut))
      setImmediate(() => (cut === undefined ? stream.end() : stream.destroy(new Error('aborted'))))
      return stream as unknown as IncomingMessage
    },
  }
}

async function idsOf(lines: AsyncIterable<{ id: string }>): Promise<string[]> {
  const found: string[] = []
  for await (const { id } of lines) found.push(id)
  return found
}

describe('all transactions for a bot', () => {
  it('come once, also where the answer breaks within a line', async () => {
    const broken = transport([100, 0, 200])
    expect(await idsOf(exportTransactions(broken, {}, {}))).to.deep.equal(ids)
    expect(broken.asked).to.have.lengthOf(4)
    expect(broken.asked[0]).to.deep.equal([undefined, undefined, 'application/x-ndjson'])
  })

  it('are no more than were asked for, after a cut, too', async () => {
    const broken = transport([100])
    expect(await idsOf(exportTransactions(broken, { limit: 5, cursor: ids[0] ?? '' }, {}))).to.deep.equal(ids.slice(1, 6))
    expect(broken.asked).to.have.lengthOf(2)
  })

  it('end with an error where no further one comes, and at once where the request is refused', async () => {
    const errorOf = (options: Parameters<typeof exportTransactions>) =>
      idsOf(exportTransactions(...options)).catch((error: unknown) => error)
    expect(await errorOf([transport(Array.from({ length: 99 }, () => 0)), {}, { timeoutMs: 900 }])).to.be.instanceOf(NoAnswerError)
    const refusal = new RefusedError('no', { name: 'FORBIDDEN', code: 1, status: 403, details: undefined, requestId: undefined })
    expect(await errorOf([transport([], refusal), {}, {}])).to.equal(refusal)
  })

  it('stop when they are not wanted any more', async () => {
    const stopping = new AbortController()
    const broken = transport(Array.from({ length: 99 }, () => 0))
    setTimeout(() => stopping.abort(), 100)
    const error: unknown = await idsOf(exportTransactions(broken, {}, { signal: stopping.signal })).catch((thrown: unknown) => thrown)
    expect(error).to.have.property('name', 'AbortError')
  })
})
