import { expect } from 'chai'
import { createTokenBook } from '../../core/handlers/registry.ts'
import { networks } from '../../plugins/polygon/networks.ts'
import { evmChain } from '../../kits/evm/chain.ts'
import { multicall3 } from '../../kits/evm/network.ts'

const at = { signal: AbortSignal.timeout(60_000) }
const wpol = { symbol: 'WPOL', address: '0x0d500B1d8E8eF31E21C99d1Db9A6444d3ADf1270', decimals: 18 }
const placeholder = '0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE'
const log = { info() {}, warn() {} }
const polygon = evmChain(
  { chain: 'polygon', network: 'mainnet', config: { rpcUrls: ['http://127.0.0.1:1'] }, log, meter: { rpc() {} } },
  { ...networks.mainnet, wrapped: wpol, intermediates: [], multicall: multicall3 },
)

describe('tokens that are on no list', () => {
  const addressOf = (index: number) => polygon.address(`0x${(index + 0xabc000).toString(16).padStart(40, '0')}`) ?? ''
  const asked: (readonly string[])[] = []
  const book = createTokenBook(
    {
      ...polygon,
      async tokens(addresses) {
        asked.push(addresses)
        return addresses.map((address) => (address === addressOf(3) ? undefined : { symbol: 'T', address, decimals: 1 }))
      },
    },
    [wpol],
    'polygon/mainnet',
  )
  const all = (count: number, from = 0) => Array.from({ length: count }, (_, index) => addressOf(from + index))
  beforeEach(() => asked.splice(0))

  it('are asked for in one round trip, each once, and known from then on', async () => {
    const names = ['WPOL', ...all(20, 10), addressOf(10).toLowerCase(), 'POL']
    const found = await book.resolveAll(names, 'tokenSymbols', at)
    expect(found.map(({ address }) => address)).to.deep.equal([wpol.address, ...all(20, 10), addressOf(10), polygon.nativeCurrency.address])
    expect(asked).to.deep.equal([all(20, 10)])
    await book.resolveAll([...all(20, 10), ...all(20, 40)], 'tokenSymbols', at)
    expect(asked).to.deep.equal([all(20, 10), all(20, 40)])
  })

  it('are refused where a request has more than 20, without asking for one', async () => {
    for (const count of [21, 1_000]) {
      const error: unknown = await book.resolveAll(all(count, 1_000), 'tokenSymbols', at).catch((thrown: unknown) => thrown)
      expect(error).to.include({ name: 'INCOMPLETE_PARAMS' })
      expect(String(error)).to.contain('more than 20 addresses that are on no list').and.contain('20 of them')
    }
    expect(asked).to.deep.equal([])
  })

  it('are an error where one is none', async () => {
    const error: unknown = await book.resolveAll(all(5), 'tokenSymbols', at).catch((thrown: unknown) => thrown)
    expect(error).to.include({ name: 'TOKEN_NOT_SUPPORTED' })
    expect(asked).to.have.length(1)
  })
})

describe('the native coin among the tokens of a network', () => {
  const named = { symbol: 'POL', address: '0x00000000000000000000000000000000000000a1', decimals: 18 }
  const standIns = [`0x${'0'.repeat(40)}`, placeholder, '0x0000000000000000000000000000000000001010']
  const listed = standIns.map((address) => ({ symbol: 'POL', address, decimals: 18 }))
  const book = createTokenBook(polygon, [wpol, named, ...listed], 'polygon/mainnet')

  it('keeps its symbol, whatever a list names so', async () => {
    expect(await book.resolve('POL', 'token', at)).to.equal(polygon.nativeCurrency)
    expect(await book.resolve(named.address, 'token', at)).to.include({ address: named.address })
  })

  for (const address of [...standIns, placeholder.toLowerCase()])
    it(`is what ${address} stands for, and no entry of its own`, async () => {
      expect(await book.resolve(address, 'token', at)).to.equal(polygon.nativeCurrency)
      expect(book.listed.filter((token) => token.address === address)).to.have.length(address === standIns[0] ? 1 : 0)
      expect(book.listedAt(polygon.address(address) ?? '')).to.equal(polygon.nativeCurrency)
    })
})
