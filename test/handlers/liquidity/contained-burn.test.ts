import { expect } from 'chai'
import type { ConnectorContext } from '../../../core/handlers/context.ts'
import { rangeChangeHandlers } from '../../../core/handlers/amm/range-changes.ts'
import { canonicalAddress } from '../../../kits/evm/encoding.ts'

const wallet = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'
const own = '0x7a250d5630B4cF539739dF2C5dAcb4c659F2488D'
const builtInManager = '0xC36442b4a4522E871399CD717aBDD847Ab11FE88'
const price = { numerator: 1n, denominator: 1n }
const pool = { address: own, token0: own, token1: own, fee: 500, tickSpacing: 10, sqrtPriceX96: 1n, tick: 0, liquidity: 1n, price }
const amounts = { amount0Raw: 0n, amount1Raw: 0n }
const range = { tickLower: 0, tickUpper: 10, lowerPrice: price, upperPrice: price }
const position = { ...range, tokenId: '7', owner: wallet, pool, liquidity: 0n, inRange: true, amounts, unclaimed: amounts }

describe('burning a position by the plugin of a stranger', () => {
  /**
   * The error, or `signed`. The simulation shows that a token of what the plugin calls its position manager leaves the wallet.
   * @param contracts that the plugin declares
   */
  async function burnt(positionManager: string, contracts: readonly string[], tier: { contained?: true; builtIn?: true }) {
    const plan = { steps: [{ to: own, data: '0x', value: '0' }], needs: [], memo: null }
    const simulate = async () => ({ is: 'done', gains: new Map([[`${canonicalAddress(positionManager)}/7`, -1n]]), grants: [] })
    const venue = {
      connector: 'strange',
      builtIn: false,
      ...tier,
      contracts,
      bridges: {},
      config: { allowedSlippage: '1/100', ttl: 300 },
      impl: {
        AMM_RANGE: {
          rangeVersions: ['v3'],
          positionManager,
          position: async () => ({ head: { number: '1', timestamp: 0 }, position }),
          remove: () => plan,
        },
      },
    }
    const released = { connector: 'released', builtIn: true, contracts: [builtInManager] }
    const network = {
      chain: 'ethereum',
      network: 'mainnet',
      impl: { address: canonicalAddress, nativeCurrency: { symbol: 'ETH', address: '0x0', decimals: 18 }, evm: { simulate } },
      tokens: { listed: [], listedAt: () => undefined, resolve: async () => ({ symbol: 'T', address: own, decimals: 18 }) },
    }
    const gas = { gasLimit: 1n, gasPriceRaw: 1n, gasCostRaw: 1n }
    const context = {
      venue,
      network,
      signal: AbortSignal.timeout(60_000),
      caller: { id: 'bot' },
      services: {
        limitsOf: () => undefined,
        market: { isChecked: () => false },
        wallets: { all: () => [{ chain: 'ethereum', address: wallet }] },
        following: { ageSeconds: () => 0 },
        settings: { wallet: { allowedSpenders: [] } },
        registry: { venuesOn: () => [released, venue], quarantined: () => undefined },
        quarantine: { refuse: async () => {} },
        transactions: {
          async submit({ precondition }: { precondition?(): Promise<void> }) {
            await precondition?.()
            return { txHash: '0x1', nonce: 0, gas, transactions: [] }
          },
        },
      },
    } as unknown as ConnectorContext
    const request = { chain: 'ethereum', network: 'mainnet', connector: 'strange', address: wallet, tokenId: '7', burn: true }
    const changed = rangeChangeHandlers.AMMLiquidityRemove(request, context)
    return Promise.resolve(changed).then(
      () => 'signed',
      ({ name, message }: Error) => `${name} ${message}`,
    )
  }

  it('takes the token of a contract that the plugin declares and no connector of this release has', async () => {
    expect(await burnt(own, [own], { contained: true })).to.equal('signed')
    expect(await burnt(own.toLowerCase(), [own], { contained: true })).to.equal('signed')
  })

  it('takes none of a contract that the plugin does not declare', async () => {
    expect(await burnt('0x000000000000000000000000000000000000dEaD', [own], { contained: true })).to.match(
      /^UNKNOWN_ERROR The connector strange names 0x0{36}dEaD as its position manager, .*not among its contracts/,
    )
  })

  it('takes none of a contract of a connector of this release, declared or not', async () => {
    for (const spelling of [builtInManager, builtInManager.toLowerCase()])
      expect(await burnt(spelling, [own, spelling], { contained: true })).to.match(/^UNKNOWN_ERROR .*a contract of released/)
    expect(await burnt(builtInManager, [own, builtInManager], { builtIn: true })).to.equal('signed')
  })
})
