// Exchanges made of pools on Solana as the trading type AMM: quotes from the accounts that the server keeps in memory, or by reading them.
import {
  SluiceError,
  type AMM,
  type At,
  type Basis,
  type Head,
  type Quote,
  type QuoteChoice,
  type Swap,
  type Token,
} from '../../../core/contracts/index.ts'
import { dropOldest } from '../../../core/base/oldest.ts'
import { poolPricing, type CachedPool, type PoolPricing } from '../../pools/pricing.ts'
import type { Pool } from '../../pools/protocol.ts'
import type { RouteTaker } from '../../pools/protocol.ts'
import { swapGasUnits } from '../../pools/routing/gas-cost.ts'
import { clockSysvar, timeOf } from '../accounts.ts'
import { wrappedMint } from '../swap-accounts.ts'
import { canonicalAddress, type Solana, type SolanaAccount, type SolanaReader } from '../types.ts'
import { accountsOfPool, followedPools, isFollowedPool, readPools, type FollowedPool } from './followed.ts'
import { createFindFurther, followedFurther, keyOfPair, withFurther } from './further-pools.ts'
import { slippageReasonsOf, type AccountExchange, type AccountPools, type PoolClasses } from './protocol.ts'
import { createSwapFacts, planSwap, readFill } from './swap-plan.ts'
import { clockAt } from './swap-quote.ts'

/**
 * Compute units of making an account of a token, with the search for its address, and of wrapping and closing one of SOL. Measured with the programs of
 * solana-program: a creation uses 15,000 to 32,000 with one of Token-2022 and most addresses; the limit is 1.5 times the sum.
 */
const accountUnits = 35_000n
const wrappingUnits = 35_000n

/** Pools of classes that no list has are looked for between so many pairs at once: each pair costs as many addresses as there are classes. */
const mostSearched = 20

/** So many pools are remembered for the plans of their swaps, those that were quoted last. */
const maxRemembered = 10_000

/** The trading type AMM of an exchange made of pools of one kind or of several. Its programs need no allowances: they move what the wallet signs for. */
export function accountsAMM(reader: SolanaReader, exchange: AccountExchange): AMM<Solana> {
  const { protocols } = exchange
  const labels = [...new Set(protocols.map(({ version }) => version))]
  const versions = labels.length > 1 ? labels : []
  // A swap wraps SOL and unwraps it.
  const wrapped: Token = { symbol: 'WSOL', address: wrappedMint, decimals: reader.nativeCurrency.decimals }
  const pricing = poolPricing<AccountPools, RouteTaker>({
    exchange: { protocols, routers: protocols.map(takerOf) },
    wrapped,
    intermediates: [],
    gasPriceRaw: () => 0n,
    ...(protocols.some(({ asOf }) => asOf) && { asOf: poolAsOf }),
  })
  const quoted = createQuotedPools()
  const factsOf = createSwapFacts(reader)
  const followable = protocols.map((protocol) => ({
    protocol,
    followed: followedPools(protocol, reader),
    ...(protocol.classes && furtherOf(protocol, protocol.classes, reader)),
  }))
  function priced(swap: Swap, choice: QuoteChoice, given: readonly unknown[], head: Head) {
    const states = withFurther(given)
    return quoted.note(quoteBy(pricing, swap, choice, states, head), states)
  }
  const usable = (tokens: Pick<Swap, 'tokenIn' | 'tokenOut'>, version: string | undefined) => {
    const reached = pricing.reach(tokens, version)
    return { pairs: reached.pairs, kinds: followable.filter(({ protocol }) => reached.protocols.has(protocol)) }
  }

  /** The pools between some tokens, read from the chain at one slot. */
  async function read(pairs: readonly Pick<Swap, 'tokenIn' | 'tokenOut'>[], version: string | undefined, at: At) {
    const all = await Promise.all(
      followable.map(async ({ protocol, find }) => {
        const reached = pairs.map((pair) => usable(pair, version)).filter(({ kinds }) => kinds.some((kind) => kind.protocol === protocol))
        const usual = reached.flatMap((each) => protocol.places(each.pairs))
        const further =
          find && pairs.length <= mostSearched ? await Promise.all(reached.flatMap((each) => each.pairs.map((pair) => find(pair, at)))) : []
        return [...new Set([...usual, ...further.flat()])].map((address) => ({ protocol, address }))
      }),
    )
    const places = all.flat()
    if (places.length === 0) {
      const { head, accounts } = await reader.accounts([clockSysvar], at)
      return { head: headOf(head.number, accounts), states: [] }
    }
    const { number, pools, beside } = await readPools(reader, places, at, undefined, clockSysvar)
    return { head: headOf(number, beside), states: pools }
  }

  /** The one pool at an address that a caller names, wherever the program put it. @throws SluiceError PAIR_NOT_FOUND */
  async function readNamed(address: string, version: string | undefined, at: At) {
    const kinds = protocols.filter((each) => version === undefined || each.version === version)
    // A node is put aside that refuses what is no address.
    const found = canonicalAddress(address) === address ? await accountsOfPool(kinds, reader, address, at) : undefined
    if (!found) throw notOfProgram(address, kinds)
    const { number, pools, beside } = await readPools(reader, [{ ...found, address }], at, undefined, clockSysvar)
    return { head: headOf(number, beside), states: pools }
  }

  return {
    versions,
    slippageReasons: slippageReasonsOf(exchange),
    async quote(swap, choice, at) {
      requireVersion(choice, labels, versions)
      const { head, states } =
        choice.pool === undefined ? await read([swap], choice.version, at) : await readNamed(choice.pool, choice.version, at)
      return priced(swap, choice, states, head)
    },
    followed: {
      basis: (tokens, { version }): readonly Basis<Solana>[] => {
        const { pairs, kinds } = usable(tokens, version)
        return kinds.flatMap(({ protocol, followed, further }): readonly Basis<Solana>[] => [
          ...protocol.places(pairs).map((key) => ({ followed, key })),
          ...(further ? pairs.map((pair) => ({ followed: further, key: keyOfPair(pair) })) : []),
        ])
      },
      quote: priced,
      bound(swap, choice, states, head) {
        const bound = pricing.bound(swap, choice, withFurther(states), head)
        return bound && withAccounts(swap, bound)
      },
      pools: (tokens, choice, states, head, at) => pricing.pools(tokens, choice, withFurther(states), head, at),
      conditions: pricing.conditions,
      // What tokens do in transfers is in the accounts that pools are made of.
      vet: () => undefined,
    },
    async pools(pairs, choice, at) {
      const { head, states } = await read(pairs, choice.version, at)
      const views = await Promise.all(pairs.map((pair) => pricing.pools(pair, choice, states, head, at)))
      return { head, pools: views.flat() }
    },
    async poolTokens(address, at) {
      // A node is put aside that refuses what is no address.
      if (canonicalAddress(address) !== address) return undefined
      const found = await accountsOfPool(protocols, reader, address, at)
      if (!found) return undefined
      const { pools } = await readPools(reader, [{ ...found, address }], at)
      return pools[0]?.pool?.tokens
    },
    readForSwap: ({ swap }, { recipient }, at) => factsOf(swap, recipient, at),
    swap(quote, terms) {
      const { protocol, pool } = quoted.of(quote)
      return planSwap(protocol, pool, quote, terms, wrapped.address)
    },
    fill: readFill,
  }
}

function furtherOf(protocol: AccountPools, classes: PoolClasses, reader: SolanaReader) {
  const find = createFindFurther(protocol, classes, reader)
  return { find, further: followedFurther(protocol, reader, find) }
}

type Pricing = PoolPricing<AccountPools, RouteTaker>

/** Its program takes the route through one of its pools. */
const takerOf = ({ program, version }: AccountPools): RouteTaker => ({
  address: program,
  carries: (versions) => versions.length === 1 && versions[0] === version,
})

const poolAsOf = ({ protocol, pool }: CachedPool<AccountPools>, head: Head): Pool | null =>
  pool && protocol.asOf ? protocol.asOf(pool, clockAt(head)) : pool

function quoteBy(pricing: Pricing, swap: Swap, choice: QuoteChoice, states: readonly unknown[], head: Head): Quote {
  const [tokenIn, tokenOut] = [swap.tokenIn, swap.tokenOut].map(({ native, address }) => (native ? wrappedMint : address))
  if (pricing.graphOf(states, head).edgesBetween(tokenIn ?? '', tokenOut ?? '').length === 0) throw noPool(swap, states, head)
  const quote = pricing.quote(swap, choice, states, head, 0)
  // All accounts of a pool are read at once.
  if ('missing' in quote) throw new Error('A pool of Solana has missing state.')
  return withAccounts(swap, quote)
}

/** The pools that quotes pass, as they were quoted last: what is traded is what was quoted, also of a pool that could not be traded before. */
function createQuotedPools() {
  const known = new Map<string, { readonly protocol: AccountPools; readonly pool: Pool }>()
  return {
    note(quote: Quote, states: readonly unknown[]): Quote {
      for (const { pool: address } of quote.route) {
        const state = states.find((each) => isFollowedPool(each) && each.pool?.address === address)
        if (!isFollowedPool(state) || !state.pool) continue
        // A map goes by the order of insertion: what was quoted longest ago is forgotten first.
        known.delete(address)
        known.set(address, { protocol: state.protocol, pool: state.pool })
        dropOldest(known, maxRemembered)
      }
      return quote
    },
    of({ route: [hop] }: Quote) {
      const found = known.get(hop?.pool ?? '')
      if (!found) throw new SluiceError('NETWORK', `The pool ${hop?.pool} is to be read again. Try again.`, { retryAfterSeconds: 1 })
      return found
    },
  }
}

const notOfProgram = (address: string, kinds: readonly AccountPools[]): SluiceError =>
  new SluiceError(
    'PAIR_NOT_FOUND',
    `${address} is no pool of ${kinds.map(({ program }) => program).join(' or ')}: give the address of the pool's own account.`,
  )

/** Says of a pool that is there, and is not traded, why; and how one is traded that is not found by its tokens. */
function noPool({ tokenIn, tokenOut }: Swap, states: readonly unknown[], head: Head): SluiceError {
  const reasons = states.flatMap((state) => (isFollowedPool(state) ? (reasonOf(state, head, tokenIn, tokenOut) ?? []) : []))
  const other = 'A pool at an address of its own is traded with pool=<its address>, or once conf/connectors lists it in pools.'
  const said = reasons.length > 0 ? ` that is traded here. ${reasons.join(' ')}` : ` at the addresses that are looked for. ${other}`
  return new SluiceError('PAIR_NOT_FOUND', `There is no pool of ${tokenIn.symbol} and ${tokenOut.symbol}${said}`)
}

function reasonOf({ protocol, accounts }: FollowedPool, head: Head, ...tokens: readonly Token[]): string | undefined {
  const [address = ''] = accounts.keys()
  const found = protocol.leftOut?.(address, accounts, clockAt(head))
  const isBetween = tokens.every((token) => found?.tokens.includes(token.native ? wrappedMint : token.address))
  return found && isBetween ? `The pool ${address} is left out: ${found.why}.` : undefined
}

/** Of a swap through one pool: what the pool's program uses, and what the instructions for the wallet's accounts use around it. */
const withAccounts = <T extends { readonly gasUnits: bigint }>({ tokenIn, tokenOut }: Pick<Swap, 'tokenIn' | 'tokenOut'>, of: T): T => {
  // What an EVM chain's router uses is counted in what is passed.
  const ofPool = of.gasUnits < swapGasUnits ? of.gasUnits : of.gasUnits - swapGasUnits
  return { ...of, gasUnits: ofPool + accountUnits + (tokenIn.native || tokenOut.native ? wrappingUnits : 0n) }
}

/** @throws SluiceError UNSUPPORTED */
function requireVersion({ version }: QuoteChoice, labels: readonly string[], versions: readonly string[]): void {
  if (version === undefined || labels.includes(version)) return
  const remedy = versions.length > 0 ? `, or give ${versions.join(', ')}` : ''
  throw new SluiceError('UNSUPPORTED', `This connector has no version ${version}: leave it out${remedy}.`)
}

/** A slot, with the cluster's own time there: that of the oldest clock which was read. */
function headOf(number: bigint, clocks: readonly (SolanaAccount | undefined)[]): Head {
  const times = clocks.map(timeOf).filter((time) => time !== undefined)
  if (times.length === 0) throw new SluiceError('NETWORK', 'The node gave no clock. Try again.', { retryAfterSeconds: 1 })
  return { number, timestamp: Math.min(...times) }
}
