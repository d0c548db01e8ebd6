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
