import { expect } from 'chai'
import type { BookMarket, Venue } from '../../../core/contracts/index.ts'
import type { Evm, FoundLog } from '../../../kits/evm/types.ts'
import { oasis } from '../../../kits/oasis/index.ts'
import { topicOf } from '../../../kits/oasis/contract.ts'

const addressOf = (digit: string) => `0x${digit.repeat(40)}`
const [market, base, quote, owner] = ['1', '2', '3', '4'].map(addressOf) as [string, string, string, string]
const tokens = [base, quote].map((address, index) => ({ symbol: ['WETH', 'DAI'][index], address, decimals: 18 }))
const at = { signal: new AbortController().signal }
const word = (address: string) => `0x${address.slice(2).padStart(64, '0')}`

/** The exchange, whose market logged a take with this data. */
function exchangeWith(data: string) {
  const logs = async ({ topics: [, pair] }: { topics: readonly unknown[] }): Promise<readonly FoundLog[]> => [
    {
      address: market,
      topics: [topicOf('LogTake'), String([pair].flat()[0]), word(owner), word(owner)],
      data,
      transactionHash: `0x${'5'.repeat(64)}`,
      blockNumber: 1,
    },
  ]
  const read = async (calls: readonly unknown[]) => ({
    head: { number: 1n, timestamp: 1 },
    results: calls.map(() => ({ ok: false, data: '0x' })),
  })
  const venue = { chain: 'ethereum', network: 'mainnet', tokens, contracts: { routerAddress: market }, reader: { logs, read } }
  return oasis(venue as unknown as Venue<Evm>, { markets: { 'ethereum/mainnet': [[base, quote]] } })
}

const named = { id: `${base}/${quote}`, base: 'WETH', quote: 'DAI' } as unknown as BookMarket

describe('the trades of a contract that is no matching market', () => {
  for (const data of ['0x', `0x${'0'.repeat(64 * 5)}`])
    it(`say so where its event has ${(data.length - 2) / 64} words`, async () => {
      const failure: unknown = await exchangeWith(data)
        .trades({ market: named, limit: 10 }, at)
        .then(
          () => undefined,
          (error: unknown) => error,
        )
      expect(failure).to.include({ name: 'SERVICE_UNINITIALIZED' })
      expect(String(failure)).to.contain('correct routerAddress')
    })

  it('need all of its words', async () => {
    const trades = await exchangeWith(`0x${'1'.padStart(64, '0').repeat(6)}`).trades({ market: named, limit: 10 }, at)
    expect(trades).to.have.length(1)
  })
})
