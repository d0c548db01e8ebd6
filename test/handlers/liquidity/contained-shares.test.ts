import { expect } from 'chai'
import type { ConnectorContext } from '../../../core/handlers/context.ts'
import { sharesHandlers } from '../../../core/handlers/amm/shares.ts'
import { createAllowLists } from '../../../core/limits/allow-lists.ts'
import { canonicalAddress } from '../../../kits/evm/encoding.ts'

const wallet = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'
const [pool, valuable] = ['0x7a250d5630B4cF539739dF2C5dAcb4c659F2488D', '0xC36442b4a4522E871399CD717aBDD847Ab11FE88']
const tokens = ['0x00000000000000000000000000000000000000A1', '0x00000000000000000000000000000000000000a2']
const price = { numerator: 1n, denominator: 1n }

interface Word {
  /** What the plugin says that the shares are, which leaves the wallet. */
  readonly shareToken?: string
  /** How many of them it says that the wallet has: it has 100. */
  readonly sharesRaw?: bigint
  /** What it says that an addition takes. */
  readonly takesRaw?: readonly bigint[]
}

type Tier = { contained?: true; builtIn?: true }

describe('shares by the plugin of a stranger', () => {
  /** The error, or `signed`. */
  async function outcomeOf(
    change: 'AMMSharesAdd' | 'AMMSharesRemove',
    fields: object,
    { shareToken = pool, sharesRaw = 100n, takesRaw = [] }: Word,
    tier: Tier,
  ) {
    const reservesRaw = [1000n, 1000n]
    const about = { address: pool, version: 'v2', tokens, shareToken, shareDecimals: 0, totalSharesRaw: 1000n }
    const position = {
      pool: { ...about, reservesRaw, heldRaw: reservesRaw, prices: [price, price] },
      sharesRaw,
      amountsRaw: [100n, 100n],
    }
    const gains = change === 'AMMSharesAdd' ? takesRaw.map((raw) => -raw) : [100n, 100n]
    const simulate = async () => ({
      is: 'done',
      gains: new Map([
        [shareToken, change === 'AMMSharesAdd' ? 1n : -100n],
        ...tokens.map((token, index) => [token, gains[index]] as const),
      ]),
      grants: [],
    })
    const plan = { steps: [{ to: pool, data: '0x', value: '0' }], needs: [], memo: null }
    const impl = {
      AMM_SHARES: {
        sharePositions: async () => ({ head: { number: '1', timestamp: 0 }, positions: [position] }),
        depositFor: () => ({ amountsRaw: takesRaw, sharesRaw: 1n }),
        addShares: () => plan,
        returnFor: () => [100n, 100n],
        removeShares: () => plan,
      },
    }
    const config = { allowedSlippage: '1/100', ttl: 300 }
    const venue = { connector: 'strange', builtIn: false, ...tier, contracts: [pool], bridges: {}, config, impl }
    const network = {
      chain: 'ethereum',
      network: 'mainnet',
      impl: {
        address: canonicalAddress,
        nativeCurrency: { symbol: 'ETH', address: '0x0', decimals: 18 },
        balances: async () => [100n],
        evm: { simulate },
      },
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
        allowLists: createAllowLists({ limitsOf: () => [] }),
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
    const request = { chain: 'ethereum', network: 'mainnet', connector: 'strange', address: wallet, tokens, ...fields }
    return Promise.resolve(sharesHandlers[change](request as never, context)).then(
      () => 'signed',
      ({ name, message }: Error) => `${name} ${message}`,
    )
  }

  it('takes the token that the request names', async () => {
    expect(await outcomeOf('AMMSharesRemove', { pool }, {}, { contained: true })).to.equal('signed')
    expect(await outcomeOf('AMMSharesRemove', { pool: pool.toLowerCase() }, {}, { contained: true })).to.equal('signed')
    expect(await outcomeOf('AMMSharesRemove', {}, {}, { builtIn: true })).to.equal('signed')
  })

  it('takes no token that the plugin alone names', async () => {
    for (const fields of [{}, { pool }])
      expect(await outcomeOf('AMMSharesRemove', fields, { shareToken: valuable }, { contained: true })).to.match(
        /^INCOMPLETE_PARAMS pool: is required with a connector/,
      )
  })

  it('removes no part of more shares than the wallet has', async () => {
    const part = { pool, decreasePercent: '10' }
    const more = { sharesRaw: 1000n }
    expect(await outcomeOf('AMMSharesRemove', part, more, { contained: true })).to.match(/^TRADE_FAILED strange says .* 1000 shares.* 100:/)
    expect(await outcomeOf('AMMSharesRemove', { pool, shares: '100' }, more, { contained: true })).to.equal('signed')
    expect(await outcomeOf('AMMSharesRemove', { pool, decreasePercent: '100' }, {}, { contained: true })).to.equal('signed')
  })

  it('adds no amount that the plugin alone names', async () => {
    const amountsOf = (...amounts: string[]) => ({ amounts, minAmounts: ['0', '0'] })
    const ten = 10n * 10n ** 18n
    const all = { takesRaw: [ten, 10n ** 24n] }
    const ratio = { takesRaw: [ten, ten] }
    expect(await outcomeOf('AMMSharesAdd', amountsOf('10'), all, { contained: true })).to.match(
      /^INCOMPLETE_PARAMS amounts: must have one for each/,
    )
    expect(await outcomeOf('AMMSharesAdd', amountsOf('10', '10'), ratio, { contained: true })).to.equal('signed')
    expect(await outcomeOf('AMMSharesAdd', amountsOf('10'), ratio, { builtIn: true })).to.equal('signed')
  })
})
