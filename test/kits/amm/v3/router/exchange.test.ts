import { expect } from 'chai'
import type { Venue } from '../../../../../core/contracts/index.ts'
import type { Evm } from '../../../../../kits/evm/index.ts'
import { exchangeAt, type UniswapV3Options } from '../../../../../kits/amm/v3/exchange.ts'
import ethereum from '../../../../../plugins/ethereum/index.ts'
import { v2Deployments, v3Deployments } from '../../../../../plugins/uniswap/deployments.ts'
import { addresses } from '../../../../devnet/addresses.ts'

const log = { info() {}, warn() {} }
const { reader, nativeCurrency } = ethereum.create({ chain: 'ethereum', network: 'local', config: {}, log, meter: { rpc() {} } })
const { router, positionManager, factory } = addresses.rangeExchanges.uniswap
const configured = { v3RouterAddress: router, positionManagerAddress: positionManager }

const venue = (contracts: Readonly<Record<string, string>>, network = 'local'): Venue<Evm> => ({
  chain: 'ethereum',
  network,
  config: {},
  contracts,
  reader,
  nativeCurrency,
  tokens: [],
  log,
})
const options = (more: Partial<UniswapV3Options> = {}): UniswapV3Options => ({ deployments: v3Deployments, ...more })

describe('an exchange of concentrated liquidity on a network', () => {
  it('has the addresses of the devnet’s contracts', () => {
    expect(exchangeAt(venue(configured), options())).to.include({
      factory,
      router,
      positionManager,
      version: 'v3',
      routerKind: 'SwapRouter02',
    })
  })

  it('needs every constant and address, and says what to do where one is missing', () => {
    expect(() => exchangeAt(venue(configured, 'nowhere'), options())).to.throw(/of v3 for ethereum\/nowhere .*add them/)
    for (const key of Object.keys(configured)) {
      expect(() => exchangeAt(venue({ ...configured, [key]: '' }), options())).to.throw(`no ${key} for ethereum/local: add it`)
    }
  })

  it('has Uniswap’s fee tiers by name, or those of the fork, and tiers without names', () => {
    expect(exchangeAt(venue(configured), options()).fees).to.deep.equal([100, 500, 3000, 10_000])
    const fork = exchangeAt(venue(configured), options({ feeTiers: { LOW: 500, MEDIUM: 2500 }, otherFees: [50] }))
    expect(fork.fees).to.deep.equal([500, 2500, 50])
    expect(fork.feeTiers).to.deep.equal({ LOW: 500, MEDIUM: 2500 })
  })

  it('mixes routes where its router can and the network has constant-product pools', () => {
    const mixedWith = { version: 'v2', deployments: v2Deployments }
    expect(exchangeAt(venue(configured), options({ mixedWith })).mixedWith).to.deep.equal({
      version: 'v2',
      factory: addresses.exchanges.uniswap.factory,
    })
    expect(exchangeAt(venue(configured), options({ mixedWith, router: 'SwapRouter' })).mixedWith).to.equal(undefined)
    expect(exchangeAt(venue(configured), options({ mixedWith: { version: 'v2', deployments: {} } })).mixedWith).to.equal(undefined)
    expect(exchangeAt(venue(configured), options()).mixedWith).to.equal(undefined)
  })

  it('names the key of its router’s address after its version', () => {
    const { version, router: found } = exchangeAt(venue({ ...configured, v4RouterAddress: factory }), options({ version: 'v4' }))
    expect([version, found]).to.deep.equal(['v4', factory])
  })
})
