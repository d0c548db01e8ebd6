import { expect } from 'chai'
import type { BooksResponse } from '../../core/api/index.ts'
import { createBookRuns } from '../../core/books/runs.ts'
import type { Json } from '../../core/contracts/index.ts'
import { bookHandlers } from '../../core/handlers/books.ts'
import { paidCostOf } from '../../core/handlers/mined-amounts.ts'
import type { Registry } from '../../core/plugins/index.ts'
import { pack } from '../../core/store/compact.ts'
import { readBody, type Entry } from '../../core/transactions/entry.ts'
import { paidFees } from '../../kits/evm/receipts.ts'
import type { EntryFilter } from '../../core/transactions/journal/journal.ts'
import { firstKeyAt } from '../../core/transactions/submit-request.ts'

const [coin, usdc] = ['0x0000000000000000000000000000000000000000', '0x00000000000000000000000000000000000000C3']
const start = Date.UTC(2026, 0, 1)

/** What `GET /books` says of these, in a market where each unit of each token is worth one. */
async function bookOf(...parts: readonly object[]): Promise<BooksResponse> {
  const entries = parts.map((part, index) => {
    const createdAt = start + index
    const landed = { id: '0x1', ok: true, blockNumber: 7, receipt: null, cost: { feeRaw: '1' } }
    const on = { chain: 'ethereum', network: 'local', address: '0x1', state: 'CONFIRMED', part: { index: 0, of: 1 } }
    return {
      key: firstKeyAt(createdAt) + String(index).padStart(8, '0'),
      createdAt,
      ...on,
      landed,
      movements: {},
      ...part,
    } as unknown as Entry
  })
  const list = async ({ from = 0, to = Infinity }: EntryFilter) => ({
    entries: entries.filter(({ createdAt }) => createdAt >= from && createdAt < to).toReversed(),
  })
  const network = {
    chain: 'ethereum',
    network: 'local',
    impl: {
      nativeCurrency: { symbol: 'ETH', address: coin, decimals: 18 },
      rail: { paidFees: (receipt: Json) => paidFees(receipt, false) },
    },
    tokens: { listedAt: (address: string) => (address === usdc ? { symbol: 'USDC', address, decimals: 6 } : undefined) },
  }
  const market = {
    valuesNow: (_on: unknown, [token = '']: readonly string[]) => ({ [token]: 10n ** 36n }),
    isChecked: () => true,
    referenceOf: () => 'USDC',
  }
  const registry = { networks: [network] } as unknown as Pick<Registry, 'networks'>
  const services = { bookRuns: createBookRuns(list, (entry) => paidCostOf(entry, registry)), registry, market }
  return bookHandlers.Books({}, { services, caller: { id: 'one', permissions: new Set(['admin']) } } as never)
}

const change = (path: string, liquidity: string, more: object = {}, version = 'v3') => ({
  kind: 'liquidity',
  connector: 'uniswap',
  request: { path: `/amm/liquidity/${path}`, fields: { tokenId: '7', version } },
  outcome: { tokenId: '7', liquidity },
  ...more,
})

describe('the book of liquidity', () => {
  it('has no value of a position where one of its transactions does not say all that it moved', async () => {
    const added = change('add', '5', { movements: { [usdc]: '-100' } })
    const removed = change('remove', '5', { movements: { [usdc]: '101' } })
    const [whole] = (await bookOf(added, removed)).liquidity
    expect(whole?.againstHolding).to.be.a('string')
    for (const movements of [{ [usdc]: '101', [coin]: null }, undefined])
      for (const changes of [
        [added, { ...removed, movements }],
        [{ ...added, movements }, removed],
      ]) {
        const [part] = (await bookOf(...changes)).liquidity
        expect(part).to.include({ closed: true, againstHolding: null, noValue: 'what it moved is not known' })
      }
  })

  it('keeps positions of two versions apart that have the same id', async () => {
    const { liquidity } = await bookOf(change('add', '5'), change('add', '5', {}, 'v4'), change('remove', '5', {}, 'v4'))
    expect(liquidity.map(({ version, closed }) => [version, closed])).to.deep.equal([
      ['v3', false],
      ['v4', true],
    ])
  })

  it('takes what names no version for the position that the plan made', async () => {
    const planned = { version: 'v3' }
    const added = change('add', '5', { planned, request: { path: '/amm/liquidity/add', fields: {} } })
    const removed = change('remove', '5', { request: { path: '/amm/liquidity/remove', fields: { tokenId: '7' } } })
    expect((await bookOf(added, removed)).liquidity.map(({ version, closed }) => [version, closed])).to.deep.equal([['v3', true]])
  })
})

describe('the book of fees', () => {
  const landed = { id: '0x1', ok: true, blockNumber: 7, receipt: null }
  const receipt = { gasUsed: '21000', effectiveGasPrice: '10' }

  it('has what transactions cost that an earlier version made final', async () => {
    const { fees, lacking } = await bookOf({ landed: { ...landed, receipt } }, archivedBefore({ feeRaw: '7' }))
    expect(fees.map(({ transactions, rawFee }) => [transactions, rawFee])).to.deep.equal([[2, '210007']])
    expect(lacking.fees).to.equal(0)
  })

  it('counts what it lacks, also where nobody knows what moved', async () => {
    const unknown = { landed, movements: undefined }
    expect((await bookOf(unknown, { ...unknown, state: 'REVERTED' }, { ...unknown, signer: 'agent' })).lacking.fees).to.equal(2)
  })

  /** As earlier versions stored it. */
  function archivedBefore(cost: object): Entry {
    const entry = {
      version: 1,
      chain: 'ethereum',
      network: 'local',
      address: '0x1',
      kind: 'send',
      client: 'one',
      requestId: 'one',
      createdAt: start,
    }
    const rest = { updatedAt: start, part: { index: 0, of: 1 }, step: null, memo: null, about: null, sequence: null, nonce: 1, rank: 0 }
    const body = { ...entry, ...rest, sequenceGiven: false, feesGiven: false, state: 'CONFIRMED', attempts: [], landed, cost, deadLooks: 0 }
    const { key: _key, ...read } = readBody({ key: '1', request_id: 'one', idempotency_key: null, body: pack(JSON.stringify(body)) })
    return read as Entry
  }
})
