import { expect } from 'chai'
import { newQuoteId, readQuoteId } from '../../../plugins/hummingbot/quote-ids.ts'

const trade = {
  chain: 'ethereum',
  network: 'local',
  connector: 'uniswap',
  base: 'WETH',
  quote: 'USDC',
  amount: '0.5',
  side: 'SELL',
  limitPrice: '2990.1',
} as const

/** Of the same parts with others in their places. */
function changed(quoteId: string, at: number, text: string): string {
  const parts = JSON.parse(Buffer.from(quoteId, 'base64url').toString())
  return Buffer.from(JSON.stringify(parts.with(at, text))).toString('base64url')
}

describe('the id of a quote', () => {
  it('is the trade that it offers, and of two equal quotes each has its own', () => {
    const quoteId = newQuoteId(trade)
    expect(readQuoteId(quoteId).trade).to.deep.equal(trade)
    expect(readQuoteId(newQuoteId({ ...trade, pool: '0xP', version: 'v3' })).trade).to.deep.equal({ ...trade, pool: '0xP', version: 'v3' })
    expect(newQuoteId(trade)).not.to.equal(quoteId)
  })

  it('is refused in any other spelling, which would be another swap', () => {
    const quoteId = newQuoteId(trade)
    const [start, end] = [quoteId.slice(0, 20), quoteId.slice(20)]
    const spellings = [` ${quoteId}`, `${quoteId} `, `${quoteId}=`, `${quoteId}==`, `${start}\n${end}`, `${start}.${end}`, `${quoteId}A`]
    const spaced = Buffer.from(JSON.stringify(JSON.parse(Buffer.from(quoteId, 'base64url').toString()), undefined, 1)).toString('base64url')
    const at = String(JSON.parse(Buffer.from(quoteId, 'base64url').toString())[0])
    const written = [changed(quoteId, 0, at.toUpperCase()), changed(quoteId, 0, `${at} `), changed(quoteId, 1, 'mine')]
    for (const each of [...spellings, quoteId.toLowerCase(), quoteId.toUpperCase(), spaced, ...written])
      expect(() => readQuoteId(each), each).to.throw('quoteId')
  })
})
