import { expect } from 'chai'
import { solidityPackedKeccak256, zeroPadValue, toBeHex } from 'ethers'
import { oasisAbi, type Pair } from '../../../kits/oasis/contract.ts'
import { apply, toBook, stateOf, type OasisState } from '../../../kits/oasis/book.ts'

const base = { symbol: 'WETH', address: '0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2', decimals: 18 }
const quote = { symbol: 'USDC', address: '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48', decimals: 6 }
const hash = (pays: string, wants: string) => solidityPackedKeccak256(['address', 'address'], [pays, wants])
const pair: Pair = { id: 'any', base, quote, hashes: { sells: hash(base.address, quote.address), buys: hash(quote.address, base.address) } }
const owner = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const place = { address: owner, transactionHash: '0x', blockNumber: 1 }

/** The price of one WETH in dollars. */
const ask = (id: number, dollars: number) => ({ id: BigInt(id), payRaw: 10n ** 18n, buyRaw: BigInt(dollars) * 1_000_000n, timestamp: 0 })
const log = (event: string, ...values: readonly unknown[]) => {
  const { topics, data } = oasisAbi.encodeEventLog(event, [...values])
  return { ...place, topics: topics.map(String), data }
}
const word = (id: number) => zeroPadValue(toBeHex(id), 32)
const made = (id: number, dollars: number) =>
  log('LogMake', word(id), pair.hashes.sells, owner, base.address, quote.address, 10n ** 18n, BigInt(dollars) * 1_000_000n, 0)
const sorted = (id: number) => log('LogSortedOffer', id)
const killed = (id: number) => log('LogKill', word(id), pair.hashes.sells, owner, base.address, quote.address, 1n, 1n, 0)
const taken = (id: number, raw: bigint, dollars: bigint) =>
  log('LogTake', word(id), pair.hashes.sells, owner, base.address, quote.address, owner, raw, dollars * 1_000_000n, 0)
const after = (state: OasisState, ...logs: readonly ReturnType<typeof log>[]): OasisState =>
  logs.reduce((before, each) => {
    const next = apply(before, each)
    return next === 'reload' ? expect.fail('It need not be read again.') : next
  }, state)
const prices = (state: OasisState) => toBook(state).sells.map(({ price }) => price)

describe('a book of which only the best offers were read', () => {
  const read = [ask(1, 3000), ask(2, 3010), ask(3, 3020), ask(4, 3030)]
  const part = stateOf(pair, { sells: { offers: read, isComplete: false }, buys: { offers: [], isComplete: true } })

  it('adds offers that are better than the last known one, and none behind it', () => {
    expect(prices(after(part, made(5, 3025), sorted(5)))).to.deep.equal(['3000', '3010', '3020', '3025', '3030'])
    expect(prices(after(part, made(5, 3030), sorted(5), made(6, 3040), sorted(6)))).to.deep.equal(['3000', '3010', '3020', '3030'])
  })

  it('ignores events of unknown offers', () => {
    expect(prices(after(part, killed(9), taken(8, 10n ** 17n, 310n)))).to.deep.equal(prices(part))
  })

  it('needs another reading once half of it is gone', () => {
    const less = after(part, killed(1), taken(2, 10n ** 18n, 3010n))
    expect(prices(less)).to.deep.equal(['3020', '3030'])
    expect(apply(less, killed(3))).to.equal('reload')
  })

  it('stays empty where it was read completely', () => {
    const whole = stateOf(pair, { sells: { offers: read, isComplete: true }, buys: { offers: [], isComplete: true } })
    const none = after(whole, killed(1), killed(2), killed(3), killed(4))
    expect(prices(none)).to.deep.equal([])
    expect(prices(after(none, made(5, 9999), sorted(5)))).to.deep.equal(['9999'])
  })
})

describe('an offer', () => {
  const empty = stateOf(pair, { sells: { offers: [], isComplete: true }, buys: { offers: [], isComplete: true } })

  it('enters the book only when it is sorted, since it cannot be matched before', () => {
    const unsorted = after(empty, made(1, 3000))
    expect(prices(unsorted)).to.deep.equal([])
    expect(prices(after(unsorted, taken(1, 5n * 10n ** 17n, 1500n), sorted(1)))).to.deep.equal(['3000'])
    expect(prices(after(unsorted, killed(1), sorted(1)))).to.deep.equal([])
  })

  it('adds to others of its price, and never shows at a better price than its own', () => {
    const third = log('LogMake', word(3), pair.hashes.sells, owner, base.address, quote.address, 3n, 1n, 0)
    const state = after(empty, made(1, 3000), sorted(1), made(2, 3000), sorted(2), third, sorted(3))
    expect(toBook(state).sells).to.deep.equal([
      { price: '3000', quantity: '2' },
      { price: '333333333333.333334', quantity: '0.000000000000000003' },
    ])
    expect(toBook(after(state, taken(1, 10n ** 17n, 300n))).lastPrice).to.equal('3000')
  })

  it('changes nothing if it belongs to another contract or market', () => {
    const other = log('LogMake', word(1), hash(owner, base.address), owner, owner, base.address, 1n, 1n, 0)
    expect(after(empty, other, sorted(1))).to.equal(empty)
  })
})
