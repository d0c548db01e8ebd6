// What clients of Hummingbot ask about liquidity: in 2.17 the exchange is a field, in 2.16 it is in the path, and some names are others.
import { traders } from '../../http/shared-server.ts'
import { chainNetwork } from './bot.ts'
import { signed, within, type Reads, type Row, type World } from './rows.ts'

interface Generation {
  readonly root: (type: 'clmm' | 'amm') => string
  readonly on: Readonly<Record<string, string>>
  readonly names: { readonly open: string; readonly add: string; readonly remove: string; readonly close: string; readonly quote: string }
  /** Of quotes: 2.16 calculates with them. */
  readonly amount: Reads
}

const generations: readonly Generation[] = [
  {
    root: (type) => `/trading/${type}`,
    on: { chainNetwork, connector: 'uniswap' },
    names: { open: 'open', add: 'add', remove: 'remove', close: 'close', quote: 'quote-liquidity' },
    amount: 'decimal',
  },
  {
    root: (type) => `/connectors/uniswap/${type}`,
    on: { network: 'local' },
    names: {
      open: 'open-position',
      add: 'add-liquidity',
      remove: 'remove-liquidity',
      close: 'close-position',
      quote: 'quote-position',
    },
    amount: 'number',
  },
]

const tokens = { baseTokenAddress: 'text', quoteTokenAddress: 'text' } as const
const pool = {
  address: 'text',
  ...tokens,
  price: 'decimal',
  feePct: 'decimal',
  baseTokenAmount: 'decimal',
  quoteTokenAmount: 'decimal',
} as const
const range = {
  address: 'text',
  poolAddress: 'text',
  ...tokens,
  baseTokenAmount: 'decimal',
  quoteTokenAmount: 'decimal',
  baseFeeAmount: 'decimal',
  quoteFeeAmount: 'decimal',
  lowerBinId: 'number',
  upperBinId: 'number',
  lowerPrice: 'decimal',
  upperPrice: 'decimal',
  price: 'decimal',
} as const
const shares = {
  poolAddress: 'text',
  walletAddress: 'text',
  ...tokens,
  lpTokenAmount: 'decimal',
  baseTokenAmount: 'decimal',
  quoteTokenAmount: 'decimal',
  price: 'decimal',
} as const
const quoteOf = (amount: Reads): Row['reads'] => ({
  poolAddress: 'text',
  baseLimited: 'boolean',
  baseTokenAmount: amount,
  quoteTokenAmount: amount,
  baseTokenAmountMax: amount,
  quoteTokenAmountMax: amount,
})
const data = (...names: readonly string[]): Row['reads'] => ({
  ...signed,
  ...within('data', Object.fromEntries([...names, 'fee'].map((name) => [name, 'decimal' as const]))),
})
const addedAmounts = ['baseTokenAmountAdded', 'quoteTokenAmountAdded']
const removedAmounts = ['baseTokenAmountRemoved', 'quoteTokenAmountRemoved']
const collectedFees = ['baseFeeAmountCollected', 'quoteFeeAmountCollected']
const walletAddress = traders

/** In the order in which a position lives. */
export async function ranges({ clmm: poolAddress, bot }: World): Promise<readonly Row[]> {
  const price = Number((await bot.get('/trading/clmm/pool-info', { ...generations[0]?.on, poolAddress })).price)
  const bounds = { lowerPrice: price * 0.9, upperPrice: price * 1.1 }
  const amounts = price < 1 ? { baseTokenAmount: 30, quoteTokenAmount: 0.01 } : { baseTokenAmount: 0.01, quoteTokenAmount: 30 }
  const opening = { walletAddress, poolAddress, ...bounds, ...amounts }
  const rows: Row[] = []
  for (const { root, on, names, amount } of generations) {
    const path = (name: string) => `${root('clmm')}/${name}`
    const { positionAddress } = (await bot.post('/trading/clmm/open', { ...generations[0]?.on, ...opening })).data
    const of = { ...on, walletAddress, positionAddress }
    const asked: readonly (readonly [Row['method'], string, object, Row['reads']])[] = [
      ['GET', 'pool-info', { ...on, poolAddress }, { ...pool, activeBinId: 'number', binStep: 'number' }],
      ['GET', names.quote, { ...on, poolAddress, ...bounds, ...amounts, slippagePct: 0.05 }, quoteOf(amount)],
      [
        'POST',
        names.open,
        { ...on, ...opening, slippagePct: 1 },
        { ...data(...addedAmounts, 'positionRent'), 'data.positionAddress': 'text' },
      ],
      ['GET', 'position-info', { ...on, positionAddress }, range],
      ['GET', 'positions-owned', { ...on, walletAddress }, range],
      ['POST', names.add, { ...of, ...amounts, slippagePct: 1 }, data(...addedAmounts)],
      ['POST', names.remove, { ...of, percentageToRemove: 50, slippagePct: 1 }, data(...removedAmounts)],
      ['POST', 'collect-fees', of, data(...collectedFees)],
      ['POST', names.close, { ...of, slippagePct: 1 }, data(...removedAmounts, ...collectedFees, 'positionRentRefunded')],
    ]
    rows.push(...asked.map(([method, name, fields, reads]): Row => ({ method, path: path(name), fields: { ...fields }, reads })))
  }
  const refused = [501, /is not served|There is no path/] as const
  return [
    ...rows,
    { method: 'POST', path: '/trading/clmm/create-pool', fields: { ...generations[0]?.on, walletAddress }, reads: {}, refused },
    { method: 'GET', path: '/trading/clmm/fetch-pools', fields: { chainNetwork, connector: 'meteora' }, reads: {}, refused },
  ]
}

export async function sharesOfPools({ amm: poolAddress, bot }: World): Promise<readonly Row[]> {
  const on = { ...generations[0]?.on }
  const { price } = await bot.get('/trading/amm/pool-info', { ...on, poolAddress })
  const amounts = Number(price) < 1 ? { baseTokenAmount: 30, quoteTokenAmount: 0.01 } : { baseTokenAmount: 0.01, quoteTokenAmount: 30 }
  const rows = generations.flatMap((generation): Row[] => {
    const { names, amount } = generation
    const path = (name: string) => `${generation.root('amm')}/${name}`
    const of = { ...generation.on, poolAddress }
    const ofWallet = { ...of, walletAddress }
    const asked: readonly (readonly [Row['method'], string, object, Row['reads']])[] = [
      ['GET', 'pool-info', of, pool],
      ['GET', 'quote-liquidity', { ...of, ...amounts }, quoteOf(amount)],
      ['POST', names.add, { ...ofWallet, ...amounts, slippagePct: 1 }, data(...addedAmounts)],
      ['GET', 'position-info', ofWallet, shares],
      ['GET', 'positions-owned', { ...generation.on, walletAddress }, shares],
      ['POST', names.remove, { ...ofWallet, percentageToRemove: 50, slippagePct: 1 }, data(...removedAmounts)],
    ]
    return asked.map(([method, name, fields, reads]) => ({ method, path: path(name), fields: { ...fields }, reads }))
  })
  const refused = [501, /is not served|There is no path/] as const
  return [...rows, { method: 'POST', path: '/trading/amm/create-pool', fields: { ...on, walletAddress }, reads: {}, refused }]
}
