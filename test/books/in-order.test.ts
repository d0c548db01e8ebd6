import { expect } from 'chai'
import fc from 'fast-check'
import { readInOrder } from '../../core/books/in-order.ts'
import { createBookRuns } from '../../core/books/runs.ts'
import type { Entry } from '../../core/transactions/entry.ts'
import type { EntryFilter, EntryPage } from '../../core/transactions/journal/journal.ts'
import { firstKeyAt } from '../../core/transactions/submit-request.ts'

const since = Date.UTC(2026, 0, 1)
/** Newest first, a page at a time, as the journal lists them. */
function listOf(times: readonly number[]) {
  const entries = times.toSorted((a, b) => a - b).map((createdAt, index) => ({ createdAt, key: String(index).padStart(6, '0') }) as Entry)
  let most = 0
  const list = async ({ from = 0, to = Infinity, limit = 100, cursor = '~' }: EntryFilter): Promise<EntryPage> => {
    const found = entries.filter(({ createdAt, key }) => createdAt >= from && createdAt < to && key < cursor).toReversed()
    most = Math.max(most, limit)
    const page = found.slice(0, limit)
    const last = page.at(-1)
    return { entries: page, ...(found.length > limit && last && { nextCursor: last.key }) }
  }
  return { list, entries, most: () => most }
}

describe('entries in the order of time', () => {
  it('are all there once, oldest first, whatever gaps and crowds there are in time', async () => {
    const times = fc.array(fc.oneof(fc.nat(1_000), fc.nat(400 * 86_400_000)), { maxLength: 300 })
    await fc.assert(
      fc.asyncProperty(times, fc.option(fc.nat(86_400_000), { nil: undefined }), async (offsets, from) => {
        const { list, entries } = listOf(offsets.map((each) => since + each))
        const start = from === undefined ? undefined : since + from
        const to = since + 500 * 86_400_000
        const read: Entry[] = []
        let count = 0
        const reading = { list, filter: {}, from: start, to, extract: (entry: Entry) => entry, signal: new AbortController().signal }
        for await (const stretch of readInOrder(reading)) {
          read.push(...stretch.kept)
          count += stretch.entries
        }
        const wanted = entries.filter(({ createdAt }) => createdAt >= (start ?? 0))
        expect(read.map(({ key }) => key)).to.deep.equal(wanted.map(({ key }) => key))
        expect(count).to.equal(wanted.length)
      }),
      { numRuns: 30 },
    )
  })

  it('are read in shorter stretches where too many are close together', async () => {
    const { list } = listOf(Array.from({ length: 50_000 }, (_, index) => since + index))
    const sizes: number[] = []
    let last = -1
    const reading = {
      list,
      filter: {},
      from: since,
      to: since + 60_000,
      extract: ({ createdAt }: Entry) => createdAt,
      signal: new AbortController().signal,
    }
    for await (const { kept } of readInOrder(reading)) {
      sizes.push(kept.length)
      for (const each of kept) {
        expect(each).to.be.above(last)
        last = each
      }
    }
    expect(sizes.reduce((sum, each) => sum + each, 0)).to.equal(50_000)
    expect(Math.max(...sizes)).to.be.at.most(20_000)
  })
})

describe('books that are read for several callers', () => {
  const request = { filter: {}, from: undefined, to: undefined }
  const unknown = async () => ({ unknown: '' })
  const noReaders = {
    costOf: () => undefined,
    tokenOf: () => undefined,
    fundingOf: unknown,
    liquidationsOf: unknown,
    orderLiquidationsOf: unknown,
    blockBefore: async () => undefined,
    positionsOf: unknown,
    marketsBefore: async () => [],
    changesBefore: async () => ({ lacksSome: false }),
    heldPositions: unknown,
    isWallet: () => false,
    openings: [],
    tokenFor: (_on: unknown, token: string) => token,
  }
  const { signal } = new AbortController()

  it('are two at most, are the same for who asks again, and end where nobody asks', async () => {
    let nowMs = 0
    const runs = createBookRuns(
      () => new Promise(() => {}),
      noReaders,
      () => nowMs,
    )
    const first = runs.of('bot', 'one', request, signal)
    expect(runs.of('bot', 'one', request, signal)).to.equal(first)
    runs.of('bot', 'two', request, signal)
    expect(() => runs.of('bot', 'three', request, signal)).to.throw('reads 2 books already')
    nowMs = 61_000
    expect(runs.of('bot', 'three', request, signal).state).to.equal('reading')
    expect(runs.of('bot', 'one', request, signal)).to.not.equal(first)
  })

  it('have all that can be read where the newest transaction cannot', async () => {
    const [damaged, whole] = [`${firstKeyAt(2_000_000_000_000)}00abcdef`, `${firstKeyAt(1_900_000_000_000)}00abcdef`]
    const keyMs = (key: string) => Number.parseInt(key.slice(0, 9), 36)
    const list = async ({ from = 0, to = Infinity, limit }: EntryFilter) => {
      const keys = [damaged, whole].filter((key) => keyMs(key) >= from && keyMs(key) < to).slice(0, limit)
      const entries = keys.flatMap((key) => (key === damaged ? [] : ({ key, createdAt: keyMs(key) } as unknown as Entry)))
      return { entries, damaged: keys.filter((key) => key === damaged) }
    }
    const run = createBookRuns(list, noReaders).of('bot', 'one', request, signal)
    await run.done
    expect(run).to.include({ entries: 1, damaged: 1 })
  })

  it('have all of a wallet whose transactions are few in a large archive, so that pages of it are empty', async () => {
    const atMs = 1_900_000_000_000
    const key = `${firstKeyAt(atMs)}00abcdef`
    const list = async ({ from = 0, to = Infinity, cursor }: EntryFilter): Promise<EntryPage> => {
      if (cursor === undefined) return { entries: [], nextCursor: 'later' }
      return { entries: from <= atMs && atMs < to ? [{ key, createdAt: atMs } as unknown as Entry] : [] }
    }
    const run = createBookRuns(list, noReaders).of('bot', 'one', request, signal)
    await run.done
    expect(run.entries).to.equal(1)
  })

  it('leave a place to each client, whatever another one asks for', () => {
    const runs = createBookRuns(() => new Promise(() => {}), noReaders)
    const first = runs.of('thief', 'one', request, signal)
    runs.of('thief', 'two', request, signal)
    const own = runs.of('operator', 'own', request, signal)
    expect(() => runs.of('thief', 'two', request, signal)).to.throw('reads 2 books already')
    expect(() => runs.of('operator', 'other', request, signal)).to.throw('reads 2 books already')
    expect([runs.of('thief', 'one', request, signal), runs.of('operator', 'own', request, signal)]).to.deep.equal([first, own])
  })

  it('tell a failure to who asked, and begin anew after it', async () => {
    let isBroken = true
    const runs = createBookRuns(async () => {
      if (isBroken) throw new Error('the store is gone')
      return { entries: [] }
    }, noReaders)
    const failed = runs.of('bot', 'one', request, signal)
    expect(await failed.done.catch(({ message }: Error) => message)).to.equal('the store is gone')
    runs.end('one')
    isBroken = false
    const again = runs.of('bot', 'one', request, signal)
    await again.done
    expect(again.state).to.equal('whole')
  })
})
