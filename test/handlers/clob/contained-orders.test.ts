import { expect } from 'chai'
import type { ClientLimits } from '../../../core/config/clients.ts'
import { createAllowLists } from '../../../core/limits/allow-lists.ts'
import type { BookMarket } from '../../../core/contracts/index.ts'
import { SluiceError } from '../../../core/base/errors.ts'
import type { ConnectorContext } from '../../../core/handlers/context.ts'
import { sumOf } from '../../../core/handlers/clob/held-orders.ts'
import { readOrder, type OrderFields } from '../../../core/handlers/clob/read-order.ts'
import { submitActions } from '../../../core/handlers/clob/submit-actions.ts'

const tokenOf = (symbol: string, digit: string, decimals: number) => ({ symbol, address: `0x${digit.repeat(40)}`, decimals })
const [weth, usdc] = [tokenOf('WETH', '1', 18), tokenOf('USDC', '2', 6)]
const market: BookMarket = {
  id: '1',
  base: 'WETH',
  quote: 'USDC',
  prices: 'any',
  lotSize: '0.0001',
  takes: { LIMIT: ['GTC'], MARKET: ['IOC'] },
  makerFee: '0',
  takerFee: '0.001',
  status: 'open',
}

interface Wallet {
  /** That leaves it. */
  readonly token?: typeof weth
  readonly limits?: readonly ClientLimits[]
}

/** An exchange whose book, fees, tokens and plans are its plugin's word. @param leavesRaw of a token, in the simulation of its plan */
function contextOf(leavesRaw: bigint, { token = weth, limits = [] }: Wallet): ConnectorContext {
  const plan = { steps: [{ to: weth.address, data: '0x', value: '0' }], needs: [], memo: null }
  const evm = { simulate: async () => ({ is: 'done', gains: new Map([[token.address, -leavesRaw]]), grants: [] }) }
  const book = { buys: [{ price: '0.01', quantity: '9' }], sells: [{ price: '1000000', quantity: '9' }], timestamp: 0, sequence: 0 }
  return {
    venue: {
      connector: 'strange',
      contracts: [],
      bridges: {},
      contained: true,
      impl: { CLOB: { act: async () => [{ covers: [0], plan }] } },
      config: { allowedSlippage: '1/200', ttl: 300 },
    },
    network: {
      chain: 'ethereum',
      network: 'mainnet',
      impl: { nativeCurrency: { address: '0x0' }, address: (text: string) => text, evm },
      tokens: { listed: [weth, usdc] },
    },
    signal: AbortSignal.timeout(60_000),
    services: {
      settings: { wallet: { allowedSpenders: [] } },
      registry: { venuesOn: () => [], quarantined: () => undefined },
      quarantine: { refuse: async () => {} },
      transactions: {
        async submit(request: { precondition(): Promise<void> }) {
          await request.precondition()
          return { txHash: '0x1', nonce: 0 }
        },
      },
      books: { book: async () => book },
      market: { isChecked: () => false },
      allowLists: createAllowLists({ limitsOf: () => limits }),
      limitsOf: () => undefined,
      limitsOn: () => undefined,
    },
    caller: { id: 'client', permissions: new Set() },
  } as unknown as ConnectorContext
}

const sell: OrderFields & { clientOrderId: string } = { clientOrderId: 'one', side: 'SELL', orderType: 'LIMIT', price: '2000', amount: '1' }

describe('an order on the exchange of a contained plugin', () => {
  /** `signed`, or the error and the fields that it names. */
  async function outcomeOf(fields: Partial<OrderFields>, of: Partial<BookMarket>, leavesRaw: bigint, wallet: Wallet = {}): Promise<string> {
    const context = contextOf(leavesRaw, wallet)
    const on = { ...market, ...of }
    try {
      const order = await readOrder('CLOB', { ...sell, ...fields }, on, context)
      const signing = { address: '0x9', feeOverrides: {}, nonce: undefined }
      const result = (await submitActions('CLOB', new Map([[0, { do: 'create', market: on, order }]]), signing, context, () => ({}))).get(0)
      if (result instanceof SluiceError) throw result
      return 'signed'
    } catch (error) {
      if (!(error instanceof SluiceError)) throw error
      return [error.name, ...(Array.isArray(error.details) ? error.details.map(({ field }) => field) : [])].join(' ')
    }
  }
  const one = 10n ** 18n

  it('lets leave what it offers and at most one percent for fees, whatever fee the plugin names', async () => {
    expect(await outcomeOf({}, {}, one)).to.equal('signed')
    expect(await outcomeOf({}, { takerFee: '0.01' }, one + one / 100n)).to.equal('signed')
    expect(await outcomeOf({}, { takerFee: '0.02' }, one + one / 100n + 1n)).to.equal('UNKNOWN_ERROR')
    expect(await outcomeOf({}, { takerFee: '999999' }, 50n * one)).to.equal('UNKNOWN_ERROR')
  })

  it('lets leave no other token than it names, whatever the plugin says that the name stands for', async () => {
    const known = { base: weth.address, quote: usdc.address }
    expect(await outcomeOf({}, { tokens: known }, one)).to.equal('signed')
    const river = { base: 'RIVER', tokens: { base: usdc.address, quote: usdc.address } }
    expect(await outcomeOf({ amount: '5000' }, river, 5_000_000_000n, { token: usdc })).to.equal('UNKNOWN_ERROR')
    const paid = { quote: 'RIVER', tokens: { base: weth.address, quote: usdc.address } }
    expect(await outcomeOf({ side: 'BUY' }, paid, 2_000_000_000n, { token: usdc })).to.equal('UNKNOWN_ERROR')
  })

  it('is of the tokens that a client may touch only where these are what it names', async () => {
    const limits = [{ allowed: { tokens: ['WETH', 'USDC'], connectors: ['strange'] } }]
    const tokens = { base: weth.address, quote: usdc.address }
    expect(await outcomeOf({}, { tokens }, one, { limits })).to.equal('signed')
    expect(await outcomeOf({}, { base: 'RIVER', tokens }, 0n, { limits })).to.equal('LIMIT_EXCEEDED')
  })

  it('counts in a plan by its own name, whatever that is', () => {
    for (const name of ['constructor', '__proto__', 'RIVER']) {
      const given = Object.fromEntries([[name, 2n]])
      expect(Object.entries(sumOf([{ gives: given }, { gives: given }]).gives)).to.deep.equal([[name, 4n]])
    }
  })

  it("needs a limitPrice where it has no price: the book is the plugin's own", async () => {
    const order = { orderType: 'MARKET', price: undefined } as const
    expect(await outcomeOf(order, {}, one)).to.equal('INCOMPLETE_PARAMS limitPrice')
    expect(await outcomeOf({ ...order, limitPrice: '0.009' }, {}, one)).to.equal('signed')
  })
})
