import { expect } from 'chai'
import type { Caller } from '../../core/handlers/context.ts'
import { readFilter } from '../../core/handlers/transactions.ts'

type Networks = Parameters<typeof readFilter>[2]

const weth = { symbol: 'WETH', address: '0xe7', decimals: 18 }
const usdc = { symbol: 'USDC', address: '0xdc', decimals: 6 }
const listedAs = (name: string) =>
  [weth, usdc].filter(({ symbol, address }) => [symbol.toLowerCase(), address].includes(name.toLowerCase()))
const registry = { networks: [{ chain: 'ethereum', network: 'local', tokens: { listedAs } }] } as unknown as Networks
const caller = { id: 'bot', wallets: 'all' } as unknown as Caller

describe('the filter by a pair', () => {
  it('has the names that lists give, and looks for earlier ones where no list has one of the tokens', () => {
    const on = { chain: 'ethereum', network: 'local' }
    expect(readFilter({ pair: 'WETH-usdc' }, caller, registry)).to.deep.equal({
      pair: 'usdc-weth',
      pairAliases: [
        { ...on, pair: '0xdc-weth' },
        { ...on, pair: '0xe7-usdc' },
        { ...on, pair: '0xdc-0xe7' },
      ],
    })
    for (const pair of ['FOO-WETH', '0xf00-USDC', 'foo-bar'])
      expect(readFilter({ pair }, caller, registry), pair).to.include({ hasUnlisted: true })
    expect(readFilter({ pair: 'WETH-USDC', network: 'elsewhere' }, caller, registry)).to.include({ hasUnlisted: true })
  })
})
