import { expect } from 'chai'
import { createPortfolioReading } from '../../core/alerts/index.ts'

const on = { chain: 'ethereum', network: 'mainnet' }
const walletsOf = (count: number) => Array.from({ length: count }, (_, index) => `0x${index}`)
const never = new AbortController().signal

describe('the portfolio as rules of alerts look at it', () => {
  it('is asked of each network by its name, and names the one that cannot be read', async () => {
    const asked: object[] = []
    const read = createPortfolioReading({
      networks: () => [
        { ...on, wallets: walletsOf(200) },
        { chain: 'base', network: 'mainnet', wallets: ['0x0'] },
      ],
      async call(scope) {
        asked.push(scope)
        if (scope.chain === 'base') throw new Error('away')
        return { timestamp: 0, networks: [{ ...on, blockNumber: 1, wallets: [] }] }
      },
    })
    const { networks, unavailable } = await read(never)
    expect(asked).to.deep.equal([on, { chain: 'base', network: 'mainnet' }])
    expect(networks.map(({ chain }) => chain)).to.deep.equal(['ethereum'])
    expect(unavailable).to.deep.equal([{ chain: 'base', network: 'mainnet', reason: 'away' }])
  })

  it('is asked of each wallet of a network with more than one request reads, and goes on with those it had no time for', async () => {
    let now = 0
    let asked: (string | undefined)[] = []
    const read = createPortfolioReading({
      networks: () => [{ ...on, wallets: walletsOf(201) }],
      async call({ address }) {
        asked.push(address)
        now += 100
        return { timestamp: 0, networks: [] }
      },
      steadyMs: () => now,
    })
    const { unavailable = [] } = await read(never)
    const first = asked
    expect(first.length + unavailable.length).to.equal(201)
    expect(unavailable.map(({ address }) => address)).to.include('0x200')
    asked = []
    await read(never)
    expect(asked).to.include('0x200')
    expect(new Set([...first, ...asked]).size).to.equal(201)
  })
})
