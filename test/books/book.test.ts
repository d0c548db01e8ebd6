import { expect } from 'chai'
import { bookCsv } from '../../core/cli/books.ts'
import type { BooksResponse } from '../../core/api/index.ts'
import { createBookRuns } from '../../core/books/runs.ts'
import { SluiceError } from '../../core/base/errors.ts'
import { createFairTurns, payerOf } from '../../core/base/fair-turns.ts'
import type { Json } from '../../core/contracts/index.ts'
import { fundingOf, lastBlockBefore, liquidationsOf, orderLiquidationsOf, positionsOf } from '../../core/handlers/clob/funding-sums.ts'
import { bookHandlers, openingsOf, orderTokens, wrappedFor } from '../../core/handlers/books.ts'
import { paidCostOf } from '../../core/handlers/mined-amounts.ts'
import type { Registry } from '../../core/plugins/index.ts'
import { filtersOf, isOfPair } from '../../core/store/entry-filters.ts'
import { pack } from '../../core/store/compact.ts'
import type { Entry } from '../../core/transactions/entry.ts'
import { readBody } from '../../core/transactions/journal/entry-rows.ts'
import { paidFees } from '../../kits/evm/receipts.ts'
import type { EntryFilter } from '../../core/transactions/journal/journal.ts'
import { firstKeyAt } from '../../core/transactions/submit-request.ts'

const [coin, usdc] = ['0x0000000000000000000000000000000000000000', '0x00000000000000000000000000000000000000C3']
const weth = '0x00000000000000000000000000000000000000C4'
const listed = [
  { symbol: 'USDC', address: usdc, decimals: 6 },
  { symbol: 'WETH', address: weth, decimals: 18 },
]
const start = Date.UTC(2026, 0, 1)

/** What `GET /books` says of these, in a market where each unit of each token is worth one. */
const bookOf = (...parts: readonly object[]) => bookWith({}, ...parts)

interface BookOptions {
  readonly venue?: object
  readonly request?: object
  /** Where orders were placed before the book begins. */
  readonly before?: readonly { readonly address: string; readonly market: string }[]
  readonly signal?: AbortSignal
  /** The chain tells when its blocks were: one each second, the eighth at `start`. */
  readonly hasTimes?: boolean
  /** As the settings have it. */
  readonly opening?: readonly string[]
  readonly coinAsWrapped?: boolean
}

async function bookWith(
  {
    venue,
    request = {},
    before = [],
    signal = new AbortController().signal,
    hasTimes = false,
    opening = [],
    coinAsWrapped = false,
  }: BookOptions,
  ...parts: readonly object[]
): Promise<BooksResponse> {
  const entries = parts.map((part, index) => {
    const createdAt = 'createdAt' in part ? Number(part.createdAt) : start + index
    const landed = { id: '0x1', ok: true, blockNumber: 7, receipt: null, cost: { feeRaw: '1' } }
    const on = { chain: 'ethereum', network: 'local', address: '0x1', state: 'CONFIRMED', part: { index: 0, of: 1 } }
    return {
      key: firstKeyAt(createdAt) + String(index).padStart(8, '0'),
      client: 'one',
      createdAt,
      ...on,
      landed,
      movements: {},
      ...part,
    } as unknown as Entry
  })
  const pairOf = new Map(entries.map((entry) => [entry.key, { chain: entry.chain, network: entry.network, ...filtersOf({ ...entry }) }]))
  const list = async (filter: EntryFilter) => {
    const { from = 0, to = Infinity, client, kind, cursor, limit = Infinity } = filter
    const isWanted = (entry: Entry) =>
      entry.createdAt >= from &&
      entry.createdAt < to &&
      (client === undefined || entry.client === client) &&
      (kind === undefined || entry.kind === kind) &&
      (cursor === undefined || entry.key < cursor) &&
      isOfPair(filter, pairOf.get(entry.key) ?? expect.fail('no entry'))
    const found = entries.filter(isWanted).toReversed()
    const last = found.length > limit ? found[limit - 1] : undefined
    const page = found.slice(0, limit)
    const damaged = page.filter((entry) => 'isDamaged' in entry).map(({ key }) => key)
    return { entries: page.filter(({ key }) => !damaged.includes(key)), damaged, ...(last && { nextCursor: last.key }) }
  }
  const network = {
    chain: 'ethereum',
    network: 'local',
    impl: {
      address: (text: string) => text,
      nativeCurrency: { symbol: 'ETH', address: coin, decimals: 18 },
      rail: { paidFees: (receipt: Json) => paidFees(receipt, false) },
      head: async () => ({ number: 1_000_000n }),
      confirmations: 1,
      evm: { wrapped: { token: listed[1] }, ...(hasTimes && { history: { blocks } }) },
    },
    tokens: {
      listedAt: (address: string) => listed.find((token) => token.address === address),
      listedAs: (name: string) => listed.filter((token) => [token.symbol, token.address].includes(name)),
      known: (name: string) => listed.find(({ symbol }) => symbol === name),
    },
  }
  const market = {
    shownValues: (_on: unknown, [token = '']: readonly string[]) => ({ [token]: 10n ** 36n }),
    isChecked: () => true,
    referenceOf: () => 'USDC',
  }
  const registry = { networks: [network], venue: () => venue, networkOf: () => network } as unknown as Registry
  const services = {
    bookRuns: createBookRuns(list, {
      costOf: (entry) => paidCostOf(entry, registry),
      tokenOf: orderTokens(registry),
      fundingOf: (of, at) => fundingOf(of, registry, at),
      marketsBefore: async () => before.map((each) => ({ chain: 'ethereum', network: 'local', connector: 'hyperliquid', ...each })),
      changesBefore: async (filter, to, tells) => {
        const { entries: changes, damaged } = await list({ ...filter, kind: 'position', to })
        for (const each of changes) tells(each)
        return { lacksSome: damaged.length > 0 }
      },
      heldPositions: async () => ({ unknown: 'no chain' }),
      isWallet: () => true,
      openings: openingsOf(opening, registry),
      tokenFor: (on, token) => (coinAsWrapped ? wrappedFor(on, token, registry) : token),
      liquidationsOf: (of, at) => liquidationsOf(of, registry, at),
      orderLiquidationsOf: (of, at) => orderLiquidationsOf(of, registry, at),
      blockBefore: (of, momentMs, at) => lastBlockBefore(of, momentMs, registry, at),
      positionsOf: (of, at) => positionsOf(of, registry, at),
    }),
    registry,
    market,
    settings: { books: { coinAsWrapped } },
  }
  return bookHandlers.Books(request, { services, caller: { id: 'one', permissions: new Set(['admin']) }, signal } as never)
}

const blocks = async (numbers: readonly number[]) => numbers.map((number) => ({ number, timestamp: start / 1_000 - 8 + number }))

const change = (path: string, liquidity: string, more: object = {}, version = 'v3') => ({
  kind: 'liquidity',
  connector: 'uniswap',
  request: { path: `/amm/liquidity/${path}`, fields: { tokenId: '7', version } },
  outcome: { tokenId: '7', liquidity },
  ...more,
})

describe('the book of what was held before', () => {
  const swapped = (base: string, side: string, amountIn: string, amountOut: string) => ({
    kind: 'trade',
    connector: 'uniswap',
    request: { path: '/amm/trade', fields: { side, base: base === coin ? 'ETH' : 'WETH', quote: 'USDC' } },
    planned: { base, quote: usdc },
    outcome: { amountIn, amountOut },
  })
  const sold = swapped(weth, 'SELL', '1.000000000000000000', '3500.000000')
  const opening = ['2025-12-31 ethereum/local 0x1 2 WETH 6000 USDC']

  it('sells it at what it had cost, and counts it as no trade', async () => {
    const [pair] = (await bookWith({ opening }, sold)).pairs
    expect(pair).to.include({ trades: 1, bought: '0', position: '1' })
    expect(pair?.realized).to.deep.equal({ averageCost: '500', fifo: '500' })
    expect(pair?.open).to.deep.equal({ averageCost: '3000', fifo: '3000' })
    expect(pair?.opening).to.deep.equal({ amount: '2', cost: '6000' })
    const [without] = (await bookWith({}, sold)).pairs
    expect(without).to.include({ position: '-1' }).and.not.to.have.property('opening')
  })

  it('is there where nothing was traded, by pair, and in no book of one client, of an earlier end or a later beginning', async () => {
    const openOf = async (request: object) => (await bookWith({ opening, request })).pairs.map(({ position }) => position)
    expect(await openOf({})).to.deep.equal(['2'])
    expect(await openOf({ pair: 'WETH-USDC' })).to.deep.equal(['2'])
    for (const request of [
      { pair: 'WBTC-USDC' },
      { client: 'one' },
      { since: '2026-01-01' },
      { until: '2025-12-31' },
      { network: 'other' },
    ])
      expect(await openOf(request), JSON.stringify(request)).to.deep.equal([])
  })

  it('has the coin and its wrapped form as one pair by a setting, also where one of them is asked for', async () => {
    const bought = swapped(coin, 'BUY', '3000.000000', '1.000000000000000000')
    expect((await bookOf(bought, sold)).pairs).to.have.length(2)
    for (const request of [{}, { pair: 'WETH-USDC' }, { pair: 'ETH-USDC' }]) {
      const { pairs } = await bookWith({ coinAsWrapped: true, request }, bought, sold)
      expect(pairs, JSON.stringify(request)).to.have.length(1)
      expect(pairs[0]).to.include({ base: 'WETH', trades: 2, position: '0' })
      expect(pairs[0]?.realized.fifo).to.equal('500')
    }
    const exchanged = { ...swapped(coin, 'SELL', '1.000000000000000000', '1.000000000000000000'), planned: { base: coin, quote: weth } }
    expect((await bookWith({ coinAsWrapped: true }, exchanged)).pairs).to.deep.equal([])
  })
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

  it('has the fees that a removal paid out with the rest, where its receipt tells them', async () => {
    const amounts = { amount0: '0.000057', amount1: '0.000000000000000023' }
    const fees = { fees0: '0.000007', fees1: '0.000000000000000003' }
    const removed = { movements: { [usdc]: '57', [weth]: '23' } }
    const changes = [
      change('add', '5', { movements: { [usdc]: '-100', [weth]: '-40' } }),
      change('remove', '2', { ...removed, outcome: { tokenId: '7', liquidity: '2', ...amounts, ...fees } }),
      change('collect_fees', '0', { movements: { [usdc]: '4' } }),
    ]
    const [position] = (await bookOf(...changes)).liquidity
    expect(position).to.not.have.property('lacksFees')
    expect(position?.tokens).to.deep.equal([
      { token: usdc, symbol: 'USDC', paid: '0.0001', received: '0.000061', fees: '0.000011' },
      { token: weth, symbol: 'WETH', paid: '0.00000000000000004', received: '0.000000000000000023', fees: '0.000000000000000003' },
    ])
    const [untold] = (await bookOf(...changes, change('remove', '3', removed))).liquidity
    expect(untold).to.include({ lacksFees: true, closed: true })
    expect(untold?.tokens[0]).to.include({ received: '0.000118', fees: '0.000011' })
  })

  it('has fees alone in what was removed of a position without liquidity', async () => {
    const outcome = { tokenId: '7', liquidity: '0', amount0: '0.000057', amount1: '0', fees0: '0.000057', fees1: '0' }
    const paid = change('add', '5', { movements: { [usdc]: '-100' } })
    const [told, untold] = [outcome, { tokenId: '7', liquidity: '0' }]
    for (const each of [told, untold]) {
      const [position] = (await bookOf(paid, change('remove', '0', { movements: { [usdc]: '57' }, outcome: each }))).liquidity
      expect(position).to.include({ closed: false }).and.to.not.have.property('lacksFees')
      expect(position?.tokens[0]).to.include({ received: '0.000057', fees: '0.000057' })
    }
  })

  it('takes liquidity that was removed before for no fees, and says where nobody can tell', async () => {
    const paid = change('add', '5', { movements: { [usdc]: '-100' } })
    const outcome = { tokenId: '7', liquidity: '0', amount0: '0.000100', amount1: '0' }
    const collected = (more: object) => change('collect_fees', '0', { movements: { [usdc]: '100' }, outcome: { ...outcome, ...more } })
    const feesOf = async (more: object) => (await bookOf(paid, collected(more))).liquidity[0]
    expect((await feesOf({ fees0: '0', fees1: '0' }))?.tokens[0]).to.include({ received: '0.0001', fees: '0' })
    expect((await feesOf({ fees0: '0.000001', fees1: '0' }))?.tokens[0]).to.include({ received: '0.0001', fees: '0.000001' })
    expect((await feesOf({ fees0: '0.0001', fees1: '0' }))?.tokens[0]).to.include({ received: '0.0001', fees: '0.0001' })
    const unknown = await feesOf({ lacksFees: true })
    expect(unknown).to.include({ lacksFees: true })
    expect(unknown?.tokens[0]).to.include({ received: '0.0001', fees: '0' })
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

  it('has of one client what the server did because of it, and nothing of what it did because of others', async () => {
    const byServer = { client: 'sluice', kind: 'cancel' }
    const parts = [{ kind: 'send' }, { ...byServer, paidBy: 'one' }, { ...byServer, paidBy: 'two' }, byServer]
    const feesOf = async (client: string) => {
      const { transactions, fees } = await bookWith({ request: { client } }, ...parts)
      return [transactions, fees.map(({ transactions: count, rawFee }) => `${rawFee} of ${count}`).join()]
    }
    expect(await feesOf('one')).to.deep.equal([2, '2 of 2'])
    // Nothing else is of it.
    expect(await feesOf('two')).to.deep.equal([1, '1 of 1'])
    expect((await feesOf('sluice'))[1]).to.equal('1 of 1')
    expect((await bookOf(...parts)).fees[0]?.transactions).to.equal(4)
  })

  it('counts changes of positions of which nobody knows what they were', async () => {
    const untold = { kind: 'position', connector: 'perp', request: { path: '', fields: {} } }
    const { lacking, perpetuals, liquidity } = await bookOf(
      untold,
      { ...untold, kind: 'liquidity' },
      change('add', '5', { outcome: { liquidity: '5' } }),
      { ...untold, part: { index: 0, of: 2 } },
      { ...untold, state: 'REVERTED' },
    )
    expect(lacking.fills).to.equal(3)
    expect([perpetuals, liquidity]).to.deep.equal([[], []])
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

describe('the book of orders', () => {
  interface FilledOrder {
    readonly side: 'BUY' | 'SELL'
    readonly fills: readonly (readonly [price: string, amount: string, fee: string, feeToken: string, atMs?: number])[]
    readonly filledAmount?: string
  }

  let orders = 0
  const order = (market: string, type: string, { side, fills, filledAmount }: FilledOrder, more: object = {}) => ({
    kind: 'order',
    connector: 'oasis',
    orders: [
      {
        clientOrderId: `order ${++orders}`,
        type,
        market,
        about: { side },
        ...(filledAmount !== undefined && { report: { state: 'OPEN', filledAmount } }),
        fills: fills.map(([price, amount, fee, feeToken, atMs = 0], index) => {
          return { tradeId: String(index), price, amount, fee, feeToken, timestamp: start + atMs }
        }),
      },
    ],
    ...more,
  })
  const swapped = (side: string, amountIn: string, amountOut: string) => ({
    kind: 'trade',
    request: { path: '/amm/trade', fields: { side } },
    planned: { base: weth, quote: usdc },
    outcome: { amountIn, amountOut },
  })
  const elsewhere = { connector: 'hyperliquid', signer: '0xa', movements: undefined }

  it('has what they bought and sold among the swaps of their tokens, when it was filled', async () => {
    const { pairs, lacking } = await bookOf(
      order('WETH-USDC', 'CLOB', { side: 'BUY', fills: [['3000', '1', '0', 'USDC', 10_000]] }),
      swapped('BUY', '2900.000000', '1.000000000000000000'),
      swapped('SELL', '1.000000000000000000', '3100.000000'),
    )
    expect(pairs).to.have.length(1)
    // FIFO sells what was bought for 2,900, as the order was filled later; each had cost 2,900 when it was sold.
    expect(pairs[0]).to.deep.include({ base: 'WETH', trades: 3, spent: '5900', received: '3100', position: '1' })
    expect(pairs[0]?.realized).to.deep.equal({ averageCost: '200', fifo: '200' })
    expect(pairs[0]?.open).to.deep.equal({ averageCost: '3000', fifo: '3000' })
    expect(lacking.fills).to.equal(0)
  })

  it('finds the unit that was paid behind a price of 18 digits', async () => {
    const { pairs } = await bookOf(
      order('WETH-USDC', 'CLOB', { side: 'BUY', fills: [['3333.33333333333333', '0.3', '0', 'USDC']] }),
      order('WETH-USDC', 'CLOB', { side: 'SELL', fills: [['3333.33333333333333', '0.2', '0', 'USDC']] }),
    )
    expect(pairs[0]).to.deep.include({ spent: '1000', received: '666.666667' })
  })

  it('takes fees from what was bought or received, and shows those in other tokens', async () => {
    const { pairs, lacking } = await bookOf(
      order('HYPE-USDC', 'CLOB', { side: 'BUY', fills: [['20', '10', '0.01', 'HYPE', 1]] }, elsewhere),
      order(
        'HYPE-USDC',
        'CLOB',
        {
          side: 'SELL',
          fills: [
            ['21', '9', '0.2', 'USDC', 2],
            ['21', '0.99', '-0.5', 'PURR', 3],
          ],
          filledAmount: '12',
        },
        elsewhere,
      ),
    )
    // 9.99 for 200; sold for 9 × 21 − 0.2 + 0.99 × 21 = 209.59.
    expect(pairs[0]).to.deep.include({ connector: 'hyperliquid', base: 'HYPE', bought: '9.99', spent: '200', received: '209.59' })
    expect(pairs[0]).to.deep.include({ position: '0', realized: { averageCost: '9.59', fifo: '9.59' } })
    expect(pairs[0]?.otherFees).to.deep.equal([{ token: 'PURR', amount: '-0.5' }])
    // Of the 12 that the exchange has filled, 9.99 are known.
    expect(lacking.fills).to.equal(1)
  })

  it('says that fills may be missing of an order until its state is known or all of it was filled', async () => {
    const lacking = async (fills: FilledOrder['fills'], of: object) => {
      const placed = order('HYPE-USDC', 'CLOB', { side: 'BUY', fills }, elsewhere)
      const rests = { side: 'BUY', orderType: 'LIMIT', timeInForce: 'GTC', amount: '10' }
      const open = placed.orders.map((each) => ({ ...each, isOpen: true, about: rests, ...of }))
      return (await bookOf({ ...placed, orders: open })).lacking.fills
    }
    expect(await lacking([], {})).to.equal(1)
    expect(await lacking([['20', '4', '0', 'USDC']], {})).to.equal(1)
    expect(await lacking([['20', '10', '0', 'USDC']], {})).to.equal(0)
    expect(await lacking([], { report: { state: 'OPEN', filledAmount: '0' } })).to.equal(0)
    expect(await lacking([], { isOpen: undefined })).to.equal(0)
    // On a chain, nobody has read what it filled at once.
    for (const about of [
      { side: 'BUY', orderType: 'LIMIT', timeInForce: 'IOC', amount: '10' },
      { side: 'BUY', orderType: 'MARKET', amount: '10' },
    ]) {
      expect(await lacking([], { about })).to.equal(1)
      expect(await lacking([['20', '10', '0', 'USDC']], { about })).to.equal(0)
      expect(await lacking([], { about, report: { state: 'CANCELED', filledAmount: '0' } })).to.equal(0)
    }
  })

  it('has of a pair its orders of a batch that placed others, too, and says that nobody knows their part of its fee', async () => {
    const fills = (price: string, atMs: number): FilledOrder['fills'] => [[price, '1', '0', 'USDC', atMs]]
    const words = (...markets: readonly string[]) => ({
      request: { path: '/clob/batchOrders', fields: { create: markets.map((market) => ({ market })) } },
    })
    const alone = order('HYPE-USDC', 'CLOB', { side: 'BUY', fills: fills('20', 1) }, { ...elsewhere, ...words('HYPE-USDC') })
    const own = order('HYPE-USDC', 'CLOB', { side: 'SELL', fills: fills('25', 2) }, elsewhere)
    const other = order('PURR-USDC', 'CLOB', { side: 'BUY', fills: fills('3', 3) }, elsewhere)
    const both = { ...own, orders: [...own.orders, ...other.orders], ...words('HYPE-USDC', 'PURR-USDC') }
    // As an earlier version kept it: without a pair.
    const older = order('HYPE-USDC', 'CLOB', { side: 'SELL', fills: fills('30', 0) }, elsewhere)
    const request = { pair: 'HYPE-USDC' }
    const { pairs, lacking, transactions } = await bookWith({ request }, older, alone, both, other)
    expect(pairs).to.have.length(1)
    // Sold for 30 and bought back for 20, then sold for 25.
    expect(pairs[0]).to.deep.include({ base: 'HYPE', trades: 3, bought: '1', sold: '2', received: '55', position: '-1' })
    expect(pairs[0]?.realized).to.deep.equal({ averageCost: '10', fifo: '10' })
    expect([transactions, lacking]).to.deep.equal([3, { movements: 0, coin: 0, fills: 0, fees: 0 }])
    const onChain = (await bookWith({ request }, { ...both, signer: undefined }, other)).lacking
    expect(onChain).to.deep.equal({ movements: 1, coin: 0, fills: 0, fees: 1 })
    expect((await bookWith({ request: { pair: 'HYPE-PURR' } }, older, alone, both, other)).pairs).to.deep.equal([])
  })

  it('is no formula in a spreadsheet, whatever an exchange calls its markets', async () => {
    const [base, feeToken] = ['=HYPERLINK("http://x")', '@SUM(A1)']
    const book = await bookOf(order(`${base}-USDC`, 'CLOB', { side: 'BUY', fills: [['20', '10', '0.01', feeToken]] }, elsewhere))
    const csv = await bookCsv(book)
    expect(csv.split('\r\n')).to.include('trades,ethereum/local,"hyperliquid =HYPERLINK(""http://x"")-USDC",position,10')
    expect(csv).to.include(`,"'=HYPERLINK(""http://x"")"`).and.to.include(',otherFees.@SUM(A1),0.01')
    expect(csv).to.not.match(/(^|,)"?[=@]/m)
  })

  it('has the profit of perpetuals by average cost and after fees, wallet by wallet', async () => {
    const of = (address: string, side: 'BUY' | 'SELL', ...fills: FilledOrder['fills'][number][]) =>
      order('BTC-USD', 'PERP_CLOB', { side, fills }, { ...elsewhere, address })
    const { perpetuals, pairs } = await bookOf(
      of('0x1', 'BUY', ['100', '2', '0.07', 'USDC', 1], ['130', '1', '0.05', 'USDC', 2]),
      of('0x2', 'SELL', ['125', '1', '0.02', 'USDC', 3]),
      of('0x1', 'SELL', ['120', '3', '0.1', 'USDC', 4]),
    )
    expect(pairs).to.deep.equal([])
    // 3 × 120 − (2 × 100 + 130) = 30, less 0.07 + 0.05 + 0.1; the second wallet has paid 0.02 and closed nothing.
    expect(perpetuals).to.have.length(1)
    expect(perpetuals[0]).to.include({ connector: 'hyperliquid', market: 'BTC-USD', fills: 4, fee: '0.24', realizedProfit: '29.76' })
  })

  const hourMs = 3_600_000

  /** An exchange that pays each hour, newest first, as far as it is asked for. */
  function payingExchange(payments: readonly (readonly [address: string, hour: number, amount: string])[], held: readonly object[] = []) {
    const market = { id: '0', base: 'BTC', quote: 'USD' }
    const positions = async () => held
    const fundingPayments = async (owner: string, { limit, before = Infinity }: { limit: number; before?: number }) =>
      payments
        .filter(([address, hour]) => address === owner && start + hour * hourMs < before)
        .map(([, hour, amount]) => ({ market, amount, rate: '0', timestamp: start + hour * hourMs }))
        .toSorted((one, other) => other.timestamp - one.timestamp)
        .slice(0, limit)
    return {
      connector: 'hyperliquid',
      impl: { PERP_CLOB: { markets: async () => [market], fundingPayments, positions, liquidations: async () => [] } },
    }
  }

  const bought = (address: string, atMs: number) =>
    order('BTC-USD', 'PERP_CLOB', { side: 'BUY', fills: [['100', '1', '0.05', 'USDC', atMs]] }, { ...elsewhere, address })

  it('has the funding that exchanges paid to their wallets in that time, and asks for all pages of it', async () => {
    const hours = Array.from({ length: 1_200 }, (_, index) => ['0x1', index, index % 2 === 0 ? '-0.003' : '0.001'] as const)
    const venue = payingExchange([...hours, ['0x2', 3, '7.5'], ['0x3', 3, '1000']])
    const { perpetuals } = await bookWith({ venue }, bought('0x1', 100 * hourMs), bought('0x2', 0))
    // From the hour of the first fill on 550 times −0.003 and 550 times 0.001 are −1.1; the second wallet got 7.5.
    expect(perpetuals[0]).to.include({ funding: '6.4', fee: '0.1', realizedProfit: '6.3' }).and.to.not.have.property('noFunding')
    const request = { until: new Date(start + 102 * hourMs).toISOString() }
    const [shorter] = (await bookWith({ venue, request }, bought('0x1', 100 * hourMs))).perpetuals
    expect(shorter).to.include({ funding: '-0.002', realizedProfit: '-0.052' })
    const earlier = { since: new Date(start).toISOString(), until: new Date(start + 4 * hourMs).toISOString() }
    expect((await bookWith({ venue, request: earlier }, bought('0x1', 0))).perpetuals[0]?.funding).to.equal('-0.004')
  })

  it('has all of several payments of one time, and none where an exchange cannot be read so far back', async () => {
    const twice = Array.from({ length: 1_001 }, (_, index) => ['0x1', Math.floor(index / 2), '-0.001'] as const)
    const [perpetual] = (await bookWith({ venue: payingExchange(twice) }, bought('0x1', 0))).perpetuals
    expect(perpetual).to.include({ funding: '-1.001' })
    const asked: unknown[] = []
    const fundingPayments = async (_: string, query: object) => {
      asked.push(query)
      throw new SluiceError('UNSUPPORTED', 'too many payments')
    }
    const { connector, impl } = payingExchange([])
    const cut = { connector, impl: { PERP_CLOB: { ...impl.PERP_CLOB, fundingPayments } } }
    const [lacking] = (await bookWith({ venue: cut }, bought('0x1', 5 * hourMs))).perpetuals
    expect(lacking).to.include({ funding: '0', noFunding: 'too many payments' })
    expect(asked[0]).to.include({ from: start + 5 * hourMs })
  })

  it('has the funding of positions that are older than the book, and filled nothing in it', async () => {
    const venue = payingExchange([
      ['0x1', 1, '-5'],
      ['0x1', 3, '-0.25'],
      ['0x2', 3, '-0.5'],
    ])
    const request = { since: new Date(start + 2 * hourMs).toISOString() }
    const before = ['BTC-USD', 'GONE-USD'].map((market) => ({ address: '0x1', market }))
    const { perpetuals } = await bookWith({ venue, request, before }, bought('0x1', 0))
    expect(perpetuals.map(({ market, fills, funding, realizedProfit }) => [market, fills, funding, realizedProfit])).to.deep.equal([
      ['BTC-USD', 0, '-0.25', '-0.25'],
      ['GONE-USD', 0, '0', '0'],
    ])
    expect(perpetuals[1]?.noFunding).to.include('has no market GONE-USD any more')
  })

  it('says where the fills are not the position that the exchange has: it liquidated, or others traded', async () => {
    const held = (side: 'LONG' | 'SHORT', amount: string) => ({ market: { id: '0', base: 'BTC', quote: 'USD' }, side, amount })
    const lacking = async (positions: readonly object[], request = {}) =>
      (await bookWith({ venue: payingExchange([], positions), request }, bought('0x1', 0))).perpetuals[0]?.lacksFills
    expect(await lacking([held('LONG', '1.0')])).to.equal(undefined)
    expect(await lacking([held('LONG', '0.25')])).to.include('a position of 0.25 for 0x1, and the fills make 1')
    expect(await lacking([held('SHORT', '1')])).to.include('a position of -1 for 0x1')
    expect(await lacking([])).to.include('a position of 0 for 0x1')
    const { connector, impl } = payingExchange([])
    const silent = { connector, impl: { PERP_CLOB: { ...impl.PERP_CLOB, positions: () => expect.fail('down') } } }
    expect((await bookWith({ venue: silent }, bought('0x1', 0))).perpetuals[0]?.lacksFills).to.include('did not tell the positions')
    const many = Array.from({ length: 51 }, (_, index) => bought(`0x${index}`, 0))
    expect((await bookWith({ venue: payingExchange([], [held('LONG', '1')]) }, ...many)).perpetuals[0]?.lacksFills).to.include('50 wallets')
    // A part of the fills is no position.
    for (const part of [{ since: '2025-01-01' }, { until: '2027-01-01' }, { client: 'one' }])
      expect(await lacking([], part)).to.equal(undefined)
  })

  it('has what the exchange liquidated among the fills, in the order of time', async () => {
    const { connector, impl } = payingExchange([])
    const fillAt = (atMs: number, more: object = {}) => {
      const market = { id: '0', base: 'BTC', quote: 'USD' }
      return {
        tradeId: `${atMs}`,
        market,
        side: 'SELL',
        price: '80',
        amount: '1',
        fee: '0.04',
        feeToken: 'USDC',
        timestamp: start + atMs,
        ...more,
      }
    }
    const asked: unknown[] = []
    const of = async (liquidations: (() => unknown) | undefined, request = {}, before: BookOptions['before'] = []) => {
      const told = async (owner: string, from: number, before?: number) => {
        asked.push([owner, from, before])
        return liquidations?.()
      }
      const venue = { connector, impl: { PERP_CLOB: { ...impl.PERP_CLOB, liquidations: liquidations && told } } }
      return (await bookWith({ venue, request, before }, bought('0x1', 10), { ...bought('0x1', 30), createdAt: start + 25 })).perpetuals[0]
    }
    const elsewhereToo = fillAt(20, { tradeId: 'eth', market: { id: '1', base: 'ETH', quote: 'USD' } })
    // Bought for 100, 20 of it lost, and bought again: the second one's cost is no part of the loss.
    const whole = await of(() => [elsewhereToo, fillAt(20)])
    expect(whole).to.include({ fills: 3, liquidations: 1, fee: '0.14', realizedProfit: '-20.14' })
    expect(asked).to.deep.equal([['0x1', start, undefined]])
    expect(whole?.lacksFills).to.include('a position of 0 for 0x1, and the fills make 1')
    const since = new Date(start).toISOString()
    const until = new Date(start + 1_000).toISOString()
    expect(await of(() => [fillAt(20)], { since, until }))
      .to.include({ liquidations: 1 })
      .and.to.not.have.property('lacksFills')
    expect(asked.at(-1)).to.deep.equal(['0x1', start, start + 1_000])
    // Nothing is in the book but what the exchange did to an older position.
    const later = { since: new Date(start + 500).toISOString(), until }
    const [older, none] = [[{ address: '0x1', market: 'BTC-USD' }], [{ address: '0x1', market: 'ETH-USD' }]]
    const venue = { connector, impl: { PERP_CLOB: { ...impl.PERP_CLOB, liquidations: async () => [fillAt(600)] } } }
    const last = { kind: 'send', createdAt: start + 550 }
    const ofOlder = async (before: BookOptions['before'] & {}) =>
      (await bookWith({ venue, request: later, before }, last)).perpetuals.map(({ market, liquidations }) => [market, liquidations])
    expect(await ofOlder(older)).to.deep.equal([['BTC-USD', 1]])
    expect(await ofOlder(none)).to.deep.equal([['ETH-USD', undefined]])
    const ofClient = await of(() => [fillAt(20)], { client: 'one' })
    expect(ofClient).to.include({ fills: 2 }).and.to.not.have.property('liquidations')
    expect(ofClient?.lacksFills).to.include('not of clients')
    for (const [told, reason] of [
      [() => Promise.reject(new SluiceError('UNSUPPORTED', 'too many fills')), 'is not known: too many fills'],
      [undefined, 'is not known: hyperliquid does not tell it'],
    ] as const)
      expect((await of(told, { since }))?.lacksFills).to.include(reason)
  })

  it('asks exchanges at the expense of the caller, whose share of their rate limit it is', async () => {
    const [{ signal }, payer] = [new AbortController(), {}]
    createFairTurns().chargeTo(signal, payer)
    const payers: unknown[] = []
    const { connector, impl } = payingExchange([])
    const fundingPayments = async (_owner: string, _query: object, { signal: own }: { signal: AbortSignal }) => {
      payers.push(payerOf(own))
      return []
    }
    await bookWith({ venue: { connector, impl: { PERP_CLOB: { ...impl.PERP_CLOB, fundingPayments } } }, signal }, bought('0x1', 0))
    expect(payers).to.have.length(1)
    expect(payers[0]).to.equal(payer)
  })

  it('says why it lacks funding where nobody tells it, or it is nobody’s alone', async () => {
    const silent = { connector: 'hyperliquid', impl: { PERP_CLOB: { markets: async () => expect.fail('down') } } }
    const [perpetual] = (await bookWith({ venue: silent }, bought('0x1', 0))).perpetuals
    expect(perpetual).to.include({ funding: '0', realizedProfit: '-0.05', noFunding: 'hyperliquid did not tell the funding payments' })
    const ofClient = await bookWith({ venue: payingExchange([['0x1', 3, '1']]), request: { client: 'one' } }, bought('0x1', 0))
    expect(ofClient.perpetuals[0]?.noFunding).to.include('not to clients')
  })
})

describe('the book of perpetuals on a chain', () => {
  const changed = (outcome: object) => ({
    kind: 'position',
    connector: 'perp',
    request: { path: '', fields: { base: 'ETH', quote: 'USD' } },
    outcome,
  })

  it('has the funding that each change settled in its realized profit', async () => {
    const whole = [
      changed({ fee: '3', realizedProfit: '-3', funding: '-0.25' }),
      changed({ fee: '2', realizedProfit: '41.5', funding: '1.125' }),
    ]
    const [market] = (await bookOf(...whole)).perpetuals
    expect(market).to.include({ market: 'ETH-USD', fills: 2, fee: '5', funding: '0.875', realizedProfit: '39.375' })
    expect(market).to.not.have.property('noFunding')
    const [older] = (await bookOf(...whole, changed({ fee: '1', realizedProfit: '7' }))).perpetuals
    expect(older).to.include({ realizedProfit: '46.375' })
    expect(older?.noFunding).to.be.a('string')
  })

  it('says that it lacks funding that a withdrawal of collateral settled while a position was open', async () => {
    const moved = (how: string, more: object = {}) => ({
      kind: 'collateral',
      connector: 'perp',
      request: { path: `/perpAMM/${how}`, fields: { token: 'USDC' } },
      ...more,
    })
    const change = (side: 'LONG' | 'close', size: string) => ({
      ...changed({ fee: '1', realizedProfit: '-1', funding: '0', size }),
      request: { path: side === 'close' ? '/perpAMM/close' : '/perpAMM/open', fields: { base: 'ETH', quote: 'USD', side } },
    })
    const lacking = async (request: object, ...parts: readonly object[]) => (await bookWith({ request }, ...parts)).perpetuals[0]?.noFunding
    const [opened, closed, withdrawn] = [change('LONG', '2'), change('close', '2'), moved('withdraw')]
    expect(await lacking({}, opened, withdrawn, closed)).to.include('withdrawal')
    expect(await lacking({}, opened, moved('withdraw', { request: undefined, movements: { [usdc]: '5' } }), closed)).to.include(
      'withdrawal',
    )
    for (const others of [
      [opened, moved('deposit'), closed],
      [withdrawn, opened, closed],
      [opened, closed, withdrawn],
      [opened, { ...withdrawn, state: 'REVERTED' }, closed],
      [opened, { ...withdrawn, address: '0x2' }, closed],
      [opened, { ...withdrawn, connector: 'another' }, closed],
      [opened, moved('deposit', { request: undefined, movements: { [usdc]: '-5' } }), closed],
    ])
      expect(await lacking({}, ...others)).to.equal(undefined)
    expect(await lacking({ pair: 'ETH-USD' }, opened, withdrawn)).to.include('withdrawal')
    expect(await lacking({ pair: 'ETH-USD' }, withdrawn, opened, closed)).to.equal(undefined)
    // The position may be older than the book.
    expect(await lacking({ since: new Date(start).toISOString() }, withdrawn, opened)).to.include('withdrawal')
  })

  it('has what the exchange liquidated in its fills, fees, funding and profit, as far as its events tell it', async () => {
    const market = { id: '0x1', base: 'ETH', quote: 'USD', baseDecimals: 18, quoteDecimals: 6 }
    const ether = 10n ** 18n
    const effect = { side: 'SHORT', feeRaw: 2_000_000n, realizedProfitRaw: -12_500_000n, fundingRaw: 250_000n }
    const liquidation = { txHash: '0xabc', blockNumber: 9, sizeRaw: 2n * ether, effect }
    const asked: unknown[] = []
    const at = async (liquidations: () => Promise<readonly object[]>, request = {}, sizeRaw = 0n) => {
      const PERP_AMM = {
        listMarkets: async () => ({ markets: [market] }),
        position: async () => ({ position: { market, sizeRaw } }),
        liquidations: async (owner: string, { id }: { id: string }, after: number) => {
          asked.push([owner, id, after])
          return liquidations()
        },
      }
      const opened = changed({ fee: '1', realizedProfit: '-1', funding: '0', size: '2' })
      const long = { ...opened, request: { path: '/perpAMM/open', fields: { base: 'ETH', quote: 'USD', side: 'LONG' } } }
      const options = { venue: { connector: 'perp', impl: { PERP_AMM } }, request, hasTimes: 'since' in request }
      return (await bookWith(options, long)).perpetuals[0]
    }
    const whole = await at(async () => [liquidation])
    expect(whole).to.include({ fills: 2, liquidations: 1, fee: '3', funding: '0.25', realizedProfit: '-13.25' })
    expect(whole).to.not.have.property('lacksFills')
    expect(asked).to.deep.equal([['0x1', '0x1', 7]])
    expect((await at(async () => [liquidation], {}, ether))?.lacksFills).to.include('the fills make 0')
    const { effect: _, ...untold } = liquidation
    expect((await at(async () => [untold]))?.lacksFills).to.include('0xabc do not tell what it cost')
    const since = { since: new Date(start).toISOString() }
    expect((await at(() => expect.fail('down'), since))?.lacksFills).to.include('perp did not tell them')
    // Blocks of this network do not tell their time.
    expect((await at(async () => [liquidation], { until: '2030-01-01' }))?.lacksFills).to.include('do not tell their time')
    // A position is its wallet's: of one client nobody knows.
    const ofClient = await at(async () => [liquidation], { client: 'one' })
    expect(ofClient).to.include({ fills: 1, realizedProfit: '-1' }).and.to.not.have.property('liquidations')
    expect(ofClient?.lacksFills).to.include('not of clients')
    expect(await at(async () => [], { client: 'one' })).to.not.have.property('lacksFills')
  })

  it('has what was liquidated of positions that are older than it, from its beginning on', async () => {
    const market = { id: '0x1', base: 'ETH', quote: 'USD', baseDecimals: 18, quoteDecimals: 6 }
    const effect = { side: 'SHORT', feeRaw: 2_000_000n, realizedProfitRaw: -12_500_000n, fundingRaw: 0n }
    const liquidation = { txHash: '0xabc', blockNumber: 20, sizeRaw: 10n ** 18n, effect }
    const asked: unknown[] = []
    const PERP_AMM = {
      listMarkets: async () => ({ markets: [market] }),
      liquidations: async (owner: string, _market: object, after: number) => {
        asked.push([owner, after])
        return owner === '0x1' ? [liquidation] : []
      },
    }
    const opened = { ...changed({ fee: '1', realizedProfit: '-1', funding: '0', size: '2' }), createdAt: start }
    const later = { ...opened, createdAt: start + 60_000, landed: { id: '0x2', ok: true, blockNumber: 67, receipt: null } }
    const since = (ms: number) => ({ since: new Date(start + ms).toISOString() })
    const of = (request: object, hasTimes: boolean, ...parts: readonly object[]) =>
      bookWith({ venue: { connector: 'perp', impl: { PERP_AMM } }, request, hasTimes }, ...parts)
    const both = [opened, { ...opened, address: '0x2' }, later]
    // The book begins behind block 12; its own change comes after the liquidation, and the other wallet has none in it.
    expect((await of(since(5_000), true, ...both)).perpetuals[0]).to.include({ fills: 2, liquidations: 1, fee: '3' })
    expect(asked).to.deep.equal([
      ['0x1', 12],
      ['0x2', 12],
    ])
    expect((await of(since(70_000), true, ...both)).perpetuals[0]).to.include({ fills: 1, liquidations: 1, realizedProfit: '-12.5' })
    const untimed = (await of(since(5_000), false, ...both)).perpetuals[0]
    expect(untimed?.lacksFills).to.include('not known')
    expect((await of(since(5_000), false, later)).perpetuals[0]?.lacksFills).to.include('before the first change in the book')
  })

  it('has what the exchange liquidated of a position however many changes came after it, before the book begins', async () => {
    const market = (id: string, base: string) => ({ id, base, quote: 'USD', baseDecimals: 18, quoteDecimals: 6 })
    const effect = { side: 'SHORT', feeRaw: 2_000_000n, realizedProfitRaw: -12_500_000n, fundingRaw: 0n }
    const liquidation = { txHash: '0xabc', blockNumber: 120, sizeRaw: 10n ** 18n, effect }
    const PERP_AMM = {
      listMarkets: async () => ({ markets: [market('0x1', 'ETH'), market('0x2', 'BTC')] }),
      liquidations: async (_owner: string, { id }: { id: string }) => (id === '0x2' ? [liquidation] : []),
    }
    const one = changed({ fee: '1', realizedProfit: '-1', funding: '0', size: '2' })
    const old = { ...one, request: { path: '', fields: { base: 'BTC', quote: 'USD' } } }
    const request = { since: new Date(start + 60_000).toISOString() }
    const told = async (...parts: readonly object[]) => {
      const { perpetuals } = await bookWith({ venue: { connector: 'perp', impl: { PERP_AMM } }, request, hasTimes: true }, ...parts)
      return perpetuals.map(({ market: name, fills, liquidations, lacksFills }) => [name, fills, liquidations, lacksFills])
    }
    const [many, later] = [Array.from({ length: 2_001 }, () => one), { createdAt: start + 70_000 }]
    const ofOld = ['BTC-USD', 1, 1, undefined]
    expect(await told(old, ...many, { ...one, ...later })).to.have.deep.members([['ETH-USD', 1, undefined, undefined], ofOld])
    // Also where the book has nothing else to say.
    expect(await told(old, ...many, { kind: 'approve', ...later })).to.deep.equal([ofOld])
    const unreadable = 'what perp liquidated of positions of which a change cannot be read is not known'
    expect(await told({ ...old, isDamaged: true }, one, { ...one, ...later })).to.deep.equal([['ETH-USD', 1, undefined, unreadable]])
  })

  it('says where blocks are too old to be searched for what the exchange liquidated, unless its position is that of the fills', async () => {
    const market = { id: '0x1', base: 'ETH', quote: 'USD', baseDecimals: 18, quoteDecimals: 6 }
    const ether = 10n ** 18n
    const effect = { side: 'SHORT', feeRaw: 2_000_000n, realizedProfitRaw: -12_500_000n, fundingRaw: 0n }
    const late = { txHash: '0xabc', blockNumber: 150_000, sizeRaw: ether, effect }
    const at = async (firstSearched: number | undefined, sizeRaw: bigint, request = {}) => {
      const PERP_AMM = {
        listMarkets: async () => ({ markets: [market] }),
        position: async () => ({ position: { market, sizeRaw } }),
        liquidations: async () => [late],
        ...(firstSearched !== undefined && { liquidationsFrom: async () => firstSearched }),
      }
      // In block 7.
      const opened = changed({ fee: '1', realizedProfit: '-1', funding: '0', size: '2' })
      const long = { ...opened, request: { path: '/perpAMM/open', fields: { base: 'ETH', quote: 'USD', side: 'LONG' } } }
      const options = { venue: { connector: 'perp', impl: { PERP_AMM } }, request, hasTimes: true }
      return (await bookWith(options, long)).perpetuals[0]
    }
    const since = { since: new Date(start).toISOString() }
    const cut = await at(100_001, ether, since)
    expect(cut).to.include({ liquidations: 1, fee: '3' })
    expect(cut?.lacksFills).to.include('before block 100001')
    for (const [firstSearched, sizeRaw, request] of [
      [undefined, ether, since],
      [8, ether, since],
      // The position is that of the fills, so nothing was liquidated before.
      [100_001, ether, {}],
    ] as const)
      expect(await at(firstSearched, sizeRaw, request)).to.not.have.property('lacksFills')
    expect((await at(9, ether, since))?.lacksFills).to.include('before block 9')
    expect((await at(100_001, 0n))?.lacksFills).to.include('the fills make 1')
  })

  it('says where its changes are not the position that the exchange has: it liquidated, or others traded', async () => {
    const market = { id: '0x1', base: 'ETH', quote: 'USD', baseDecimals: 18, quoteDecimals: 18 }
    const lacking = async (sizeRaw: bigint, ...changes: readonly (readonly ['LONG' | 'sell' | 'close', string?, string?])[]) => {
      const PERP_AMM = {
        listMarkets: async () => ({ markets: [market] }),
        liquidations: async () => [],
        position: async () => ({ position: { market, sizeRaw } }),
      }
      const parts = changes.map(([side, size, base = 'ETH']) => {
        const request = { path: side === 'close' ? '/perpAMM/close' : '/perpAMM/open', fields: { base, quote: 'USD', side } }
        return { ...changed({ fee: '1', realizedProfit: '0', funding: '0', size }), request }
      })
      const [book, ...others] = (await bookWith({ venue: { connector: 'perp', impl: { PERP_AMM } } }, ...parts)).perpetuals
      expect(others).to.deep.equal([])
      return book?.lacksFills
    }
    const half = 5n * 10n ** 17n
    expect(await lacking(half, ['LONG', '2'], ['close', '1.5'])).to.equal(undefined)
    expect(await lacking(-half, ['sell', '2'], ['close', '1.5'])).to.equal(undefined)
    expect(await lacking(0n, ['LONG', '2'], ['sell', '1.5'])).to.include('a position of 0 for 0x1, and the fills make 0.5')
    // Markets are asked for in any letter case, and each has one book.
    expect(await lacking(half, ['LONG', '2', 'eth'], ['close', '1.5', 'Eth'])).to.equal(undefined)
    expect(await lacking(0n, ['LONG', '2', 'eth'], ['sell', '1.5', 'ETH'])).to.include('a position of 0 for 0x1, and the fills make 0.5')
    // Without all sizes, or where others opened what was closed, nobody knows what they make.
    expect(await lacking(0n, ['LONG', '2'], ['sell'])).to.equal(undefined)
    expect(await lacking(0n, ['close', '2'], ['LONG', '1'])).to.equal(undefined)
  })
})
