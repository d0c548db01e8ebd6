// Shares of pools without ranges, in the pool's own order of tokens.
import { divide, isLess, multiply } from 'sluice/decimal'
import { SluiceError, Type, type InterfaceCall, type InterfacePath } from 'sluice/interface'
import { cutTo } from './amounts.ts'
import {
  added,
  addressOf,
  changed,
  fee,
  named,
  removed,
  slippage,
  slippagePct,
  waitUntil,
  walletFields,
  type ChangeParts,
} from './changes.ts'
import type { HummingbotConfig, Networks } from './networks.ts'
import { canonical, canonicalOf, numberBelow } from './numbers.ts'
import type { PollAnswer } from './poll.ts'
import { PoolAddress, poolInfoFields } from './range-pools.ts'
import { signedAnswer, windowsOf } from './signed.ts'
import { Decimal, liquidityPaths, venueFields, venueOf, type Venue } from './venues.ts'

const ofPool = { ...venueFields, poolAddress: PoolAddress }
const ofWallet = { ...ofPool, ...walletFields }

const Position = Type.Object({
  poolAddress: Type.String(),
  walletAddress: Type.String(),
  baseTokenAddress: Type.String(),
  quoteTokenAddress: Type.String(),
  lpTokenAmount: Type.String(),
  baseTokenAmount: Type.String(),
  quoteTokenAmount: Type.String(),
  price: Type.String(),
})

export const sharePaths = (networks: Networks, config: HummingbotConfig): InterfacePath[] => [
  ...liquidityPaths('amm', ['pool-info', 'pool-info'], {
    method: 'GET',
    summary: 'A pool without ranges, in its own order of tokens.',
    permission: 'read',
    request: Type.Object(ofPool),
    response: Type.Object(poolInfoFields),
    async answer(request, call) {
      const { base, quote, price, fee: part, reserves, pool } = await sharePoolAt(request.poolAddress, venueOf(request, networks), call)
      const [baseTokenAmount, quoteTokenAmount] = reserves
      const feePct = multiply(part, '100')
      return { address: pool, baseTokenAddress: base, quoteTokenAddress: quote, price, feePct, baseTokenAmount, quoteTokenAmount }
    },
  }),
  ...liquidityPaths('amm', ['position-info', 'position-info'], {
    method: 'GET',
    summary: 'What a wallet has of a pool: 0 where it has nothing.',
    permission: 'read',
    request: Type.Object(ofWallet),
    response: Position,
    async answer(request, call) {
      const venue = venueOf(request, networks)
      return sharesOf(request.poolAddress, await addressOf(request, venue, networks, call), venue, call)
    },
  }),
  ...liquidityPaths('amm', ['positions-owned', 'positions-owned'], {
    method: 'GET',
    summary: 'What a wallet has of the pools to which it added by this server.',
    permission: 'read',
    request: Type.Object({ ...venueFields, ...walletFields }),
    response: Type.Array(Position),
    async answer(request, call) {
      const venue = venueOf(request, networks)
      const { chain, network, connector } = venue.own
      const address = await addressOf(request, venue, networks, call)
      const { networks: read } = await call.call('Portfolio', { chain, network, address })
      const held = read.flatMap(({ wallets }) => wallets.flatMap(({ shares }) => shares.filter((each) => each.connector === connector)))
      return Promise.all(held.map(async ({ pool }) => sharesOf(pool, address, venue, call)))
    },
  }),
  ...quotePaths(networks),
  ...addPaths({ networks, config }),
  ...removePaths({ networks, config }),
]

const quoted = ['baseTokenAmount', 'quoteTokenAmount', 'baseTokenAmountMax', 'quoteTokenAmountMax'] as const

/** 2.16 calculates with what it reads of a quote. */
const quotePaths = (networks: Networks): InterfacePath[] =>
  liquidityPaths('amm', ['quote-liquidity', 'quote-liquidity'], {
    method: 'GET',
    summary: 'What of two amounts a pool takes, in its ratio.',
    permission: 'read',
    request: Type.Object({ ...ofPool, baseTokenAmount: Type.Optional(Decimal), quoteTokenAmount: Type.Optional(Decimal), slippagePct }),
    response: Type.Object({
      poolAddress: Type.String(),
      baseLimited: Type.Boolean(),
      ...Object.fromEntries(quoted.map((name) => [name, Type.Union([Type.String(), Type.Number()])])),
    }),
    async answer(request, call) {
      const { pool, reserves } = await sharePoolAt(request.poolAddress, venueOf(request, networks), call)
      const { baseLimited, takes, offers } = quoteShares(
        cutToReserves([request.baseTokenAmount, request.quoteTokenAmount], reserves),
        reserves,
      )
      const shown = [...takes, ...offers].map((amount) => (request.dex === undefined ? amount : numberBelow(amount)))
      return { poolAddress: pool, baseLimited, ...Object.fromEntries(quoted.map((name, index) => [name, shown[index] ?? '0'])) }
    },
  })

type Amounts = readonly [base: string, quote: string]
type GivenAmounts = readonly [base: string | undefined, quote: string | undefined]

/**
 * What an addition takes of two amounts, or of one and what that needs of the other, to the unit: the router (UniswapV2Router02, `_addLiquidity`)
 * rounds down, and is offered what it takes.
 */
function quoteShares([base, quote]: GivenAmounts, reserves: Amounts) {
  const [basePlaces, quotePlaces] = [decimalsOf(reserves[0]), decimalsOf(reserves[1])]
  const quoteFor = (amount: string) => divide(multiply(amount, reserves[1]), reserves[0], quotePlaces, 'down')
  const baseFor = (amount: string) => divide(multiply(amount, reserves[0]), reserves[1], basePlaces, 'down')
  const offers: Amounts = [base ?? baseFor(quote ?? '0'), quote ?? quoteFor(base ?? '0')]
  const takesBase = !isLess(offers[1], quoteFor(offers[0]))
  const taken = takesBase ? offers[0] : baseFor(offers[1])
  return { baseLimited: base !== undefined && takesBase, takes: [taken, quoteFor(taken)], offers }
}

/** @throws SluiceError INCOMPLETE_PARAMS where nothing is left of an amount */
function cutToReserves([base, quote]: GivenAmounts, [baseReserve, quoteReserve]: Amounts): GivenAmounts {
  return [
    base === undefined ? undefined : cutTo(decimalsOf(baseReserve), base, { field: 'baseTokenAmount', token: 'the base token' }),
    quote === undefined ? undefined : cutTo(decimalsOf(quoteReserve), quote, { field: 'quoteTokenAmount', token: 'the quote token' }),
  ]
}

/** A pool's reserves have all decimals of their tokens. */
const decimalsOf = (reserve: string): number => reserve.split('.')[1]?.length ?? 0

const addPaths = ({ networks, config }: ChangeParts): InterfacePath[] =>
  liquidityPaths('amm', ['add', 'add-liquidity'], {
    method: 'POST',
    summary: 'Adds to a pool at most two amounts, in its ratio.',
    permission: 'trade',
    request: Type.Object({ ...ofWallet, baseTokenAmount: Decimal, quoteTokenAmount: Decimal, slippagePct }),
    response: signedAnswer(Type.Object({ ...added, ...fee })),
    async answer(request, call) {
      const untilMs = waitUntil(config.receiptSeconds)
      const venue = venueOf(request, networks)
      const address = await addressOf(request, venue, networks, call)
      const { poolAddress, slippagePct: percent } = request
      const amounts = [canonical(request.baseTokenAmount), canonical(request.quoteTokenAmount)] as const
      return call.once(
        {
          fields: { how: 'add shares', ...named(venue, address), poolAddress, amounts, slippage: canonicalOf(percent) },
          ...windowsOf(config, config.receiptSeconds),
        },
        async () => {
          const { base, quote, pool, version, reserves } = await sharePoolAt(poolAddress, venue, call)
          const [baseAmount = '0', quoteAmount = '0'] = cutToReserves(amounts, reserves)
          return {
            ...venue.own,
            address,
            tokens: [base, quote],
            pool,
            amounts: [baseAmount, quoteAmount],
            ...(await slippage(percent, venue, version, call)),
          }
        },
        async (key, addition) =>
          changed(
            () => call.call('AMMSharesAdd', addition, { key }),
            { venue, call, untilMs },
            amountsBy((baseTokenAmountAdded, quoteTokenAmountAdded) => ({ baseTokenAmountAdded, quoteTokenAmountAdded })),
          ),
      )
    },
  })

const removePaths = ({ networks, config }: ChangeParts): InterfacePath[] =>
  liquidityPaths('amm', ['remove', 'remove-liquidity'], {
    method: 'POST',
    summary: 'Removes a percentage of what a wallet has of a pool.',
    permission: 'trade',
    request: Type.Object({ ...ofWallet, percentageToRemove: Decimal, slippagePct }),
    response: signedAnswer(Type.Object({ ...removed, ...fee })),
    async answer(request, call) {
      const untilMs = waitUntil(config.receiptSeconds)
      const venue = venueOf(request, networks)
      const address = await addressOf(request, venue, networks, call)
      const { poolAddress, slippagePct: percent } = request
      const decreasePercent = canonical(request.percentageToRemove)
      return call.once(
        {
          fields: { how: 'remove shares', ...named(venue, address), poolAddress, decreasePercent, slippage: canonicalOf(percent) },
          ...windowsOf(config, config.receiptSeconds),
        },
        async () => {
          const { base, quote, pool, version } = await sharePoolAt(poolAddress, venue, call)
          return { ...venue.own, address, tokens: [base, quote], pool, decreasePercent, ...(await slippage(percent, venue, version, call)) }
        },
        async (key, removal) =>
          changed(
            () => call.call('AMMSharesRemove', removal, { key }),
            { venue, call, untilMs },
            amountsBy((baseTokenAmountRemoved, quoteTokenAmountRemoved) => ({ baseTokenAmountRemoved, quoteTokenAmountRemoved })),
          ),
      )
    },
  })

const amountsBy =
  <D extends object>(show: (base: string, quote: string) => D) =>
  ({ fill }: PollAnswer): D | undefined => {
    const [base, quote] = fill && 'shares' in fill ? fill.amounts : []
    return base === undefined || quote === undefined ? undefined : show(base, quote)
  }

/** @throws SluiceError PAIR_NOT_FOUND, INCOMPLETE_PARAMS; UNSUPPORTED of one with ranges */
async function sharePoolAt(address: string, { own }: Venue, { call }: InterfaceCall) {
  const { baseReserve, quoteReserve, ...pool } = await call('AMMPool', { ...own, pool: address })
  if (baseReserve === undefined || quoteReserve === undefined)
    throw new SluiceError('UNSUPPORTED', `The pool ${address} has ranges of price: ask for it by the paths of clmm.`)
  return { ...pool, reserves: [baseReserve, quoteReserve] as const }
}

async function sharesOf(poolAddress: string, address: string, venue: Venue, call: InterfaceCall) {
  const { base, quote, price, pool } = await sharePoolAt(poolAddress, venue, call)
  const { owner, shares, amounts } = await call.call('AMMSharesPosition', { ...venue.own, address, tokens: [base, quote], pool })
  const [baseTokenAmount = '0', quoteTokenAmount = '0'] = amounts
  return {
    poolAddress: pool,
    walletAddress: owner,
    baseTokenAddress: base,
    quoteTokenAddress: quote,
    lpTokenAmount: shares,
    baseTokenAmount,
    quoteTokenAmount,
    price,
  }
}
