import { expect } from 'chai'
import type { ConnectorContext } from '../../../core/handlers/context.ts'
import { sharesHandlers } from '../../../core/handlers/amm/shares.ts'
import { canonicalAddress } from '../../../kits/evm/encoding.ts'

const wallet = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'
const [pool, valuable] = ['0x7a250d5630B4cF539739dF2C5dAcb4c659F2488D', '0xC36442b4a4522E871399CD717aBDD847Ab11FE88']
const tokens = ['0x00000000000000000000000000000000000000A1', '0x00000000000000000000000000000000000000a2']
const price = { numerator: 1n, denominator: 1n }

describe('removing shares by the plugin of a stranger', () => {
  /** The error, or `signed`. @param shareToken what the plugin says that the shares are, which leaves the wallet */
  async function removed(shareToken: string, named: string | undefined, tier: { contained?: true; builtIn?: true }) {
    const reservesRaw = [1000n, 1000n]
    const about = { address: pool, version: 'v2', tokens, shareToken, shareDecimals: 0, totalSharesRaw: 1000n }
    const position = {
      pool: { ...about, reservesRaw, heldRaw: reservesRaw, prices: [price, price] },
      sharesRaw: 100n,
      amountsRaw: [100n, 100n],
    }
    const simulate = async () => ({
      is: 'done',
      gains: new Map([[shareToken, -100n], ...tokens.map((token): [string, bigint] => [token, 100n])]),
      grants: [],
    })
    const impl = {
      AMM_SHARES: {
        sharePositions: async () => ({ head: { number: '1', timestamp: 0 }, positions: [position] }),
        returnFor: () => [100n, 100n],
        removeShares: () => ({ steps: [{ to: pool, data: '0x', value: '0' }], needs: [], memo: null }),
      },
    }
    const config = { allowedSlippage: '1/100', ttl: 300 }
    const venue = { connector: 'strange', builtIn: false, ...tier, contracts: [pool], bridges: {}, config, impl }
    const network = {
      chain: 'ethereum',
      network: 'mainnet',
      impl: { address: canonicalAddress, nativeCurrency: { symbol: 'ETH', address: '0x0', decimals: 18 }, evm: { simulate } },
      tokens: {
        listed: [],
        listedAt: () => undefined,
        resolveAll: (all: readonly string[]) => Promise.resolve(all.map((name) => ({ symbol: 'T', address: name, decimals: 18 }))),
      },
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
        registry: { venuesOn: () => [], quarantined: () => undefined },
        quarantine: { refuse: async () => {} },
        transactions: {
          async submit({ precondition }: { precondition?(): Promise<void> }) {
            await precondition?.()
            return { txHash: '0x1', nonce: 0, gas, transactions: [] }
          },
        },
      },
    } as unknown as ConnectorContext
    const request = { chain: 'ethereum', network: 'mainnet', connector: 'strange', address: wallet, tokens }
    return Promise.resolve(sharesHandlers.AMMSharesRemove({ ...request, ...(named !== undefined && { pool: named }) }, context)).then(
      () => 'signed',
      ({ name, message }: Error) => `${name} ${message}`,
    )
  }

  it('takes the token that the request names', async () => {
    expect(await removed(pool, pool, { contained: true })).to.equal('signed')
    expect(await removed(pool, pool.toLowerCase(), { contained: true })).to.equal('signed')
    expect(await removed(pool, undefined, { builtIn: true })).to.equal('signed')
  })

  it('takes no token that the plugin alone names', async () => {
    for (const named of [undefined, pool])
      expect(await removed(valuable, named, { contained: true })).to.match(/^INCOMPLETE_PARAMS pool: is required with a connector/)
  })
})
