import { EventFragment, getAddress, solidityPackedKeccak256, type Result } from 'ethers'
import { SluiceError, type BookMarket, type BookSide, type Token, type UnlistedMarket, type Venue } from '../../core/contracts/index.ts'
import { revertedSilently } from '../../core/contracts/rail.ts'
import type { Evm, CallResult } from '../evm/types.ts'
import { abiOf } from '../evm/encoding.ts'

/** A market of the exchange: a token and the one that it is priced in. */
export interface Pair {
  readonly id: string
  readonly base: Token
  readonly quote: Token
  /** The names of both sides in the events: SimpleMarket hashes the token that an offer pays with the one that it buys. */
  readonly hashes: Readonly<Record<BookSide, string>>
}

/** The exchange on one network. */
export interface Deployment {
  /** The contract's address. */
  readonly market: string
  readonly pairs: readonly Pair[]
  /** Those of the plugin whose tokens are not listed. */
  readonly unlisted: readonly UnlistedMarket[]
}

/** @throws where the plugin or its configuration lacks the network */
export function deploymentOf({ chain, network, contracts, tokens, log }: Venue<Evm>, { markets }: OasisOptions): Deployment {
  const here = markets[`${chain}/${network}`]
  if (!here)
    throw new Error(`The plugin has no markets for ${chain}/${network}: add them, or take the network out of its available_networks.`)
  const { routerAddress } = contracts
  if (!routerAddress)
    throw new Error(
      `The configuration lacks routerAddress (the matching market) for ${chain}/${network}: add it to the network's entry of contractAddresses.`,
    )
  const listed = (address: string) => tokens.find((each) => each.address === getAddress(address))
  const pairs: Pair[] = []
  const unlisted: UnlistedMarket[] = []
  for (const addresses of here) {
    const [base, quote] = addresses.map(listed)
    if (base && quote) {
      pairs.push(pairOf(base, quote))
      continue
    }
    const missing = base ? addresses[1] : addresses[0]
    const reason = `${missing} is not in the token list of ${chain}/${network}: add it to the list`
    unlisted.push({ market: `${base?.symbol ?? addresses[0]}-${quote?.symbol ?? addresses[1]}`, reason })
    log.warn({ chain, network, market: unlisted.at(-1)?.market, reason }, 'market left out')
  }
  if (pairs.length === 0) throw new Error(`No market of the plugin can be used: ${unlisted.map(({ reason }) => reason).join('; ')}.`)
  return { market: routerAddress, pairs, unlisted }
}

function pairOf(base: Token, quote: Token): Pair {
  const hash = (pays: Token, wants: Token) => solidityPackedKeccak256(['address', 'address'], [pays.address, wants.address])
  return { id: `${base.address}/${quote.address}`, base, quote, hashes: { sells: hash(base, quote), buys: hash(quote, base) } }
}

export function pairOfMarket({ pairs }: Deployment, { id, base, quote }: BookMarket): Pair {
  const pair = pairs.find((each) => each.id === id)
  if (pair) return pair
  throw new SluiceError('PAIR_NOT_FOUND', `The exchange has no market ${base}-${quote}; /clob/markets lists them.`)
}

/** The token that the offers of a side pay, and the one that they buy. */
export const tokensOf = ({ base, quote }: Pair, side: BookSide): readonly [pays: Token, wants: Token] =>
  side === 'sells' ? [base, quote] : [quote, base]

/**
 * The market's events of offers. The maker of an offer pays `pay_gem` and buys `buy_gem`. The taker got `take_amt` of `pay_gem` for `give_amt`
 * of `buy_gem`.
 */
export const oasisEvents = [
  'event LogMake(bytes32 indexed id, bytes32 indexed pair, address indexed maker, address pay_gem, address buy_gem, uint128 pay_amt, uint128 buy_amt, uint64 timestamp)',
  'event LogTake(bytes32 id, bytes32 indexed pair, address indexed maker, address pay_gem, address buy_gem, address indexed taker, uint128 take_amt, uint128 give_amt, uint64 timestamp)',
  'event LogKill(bytes32 indexed id, bytes32 indexed pair, address indexed maker, address pay_gem, address buy_gem, uint128 pay_amt, uint128 buy_amt, uint64 timestamp)',
  'event LogSortedOffer(uint256 id)',
  'event LogInsert(address keeper, uint256 id)',
] as const

/** The functions that are called. They are the same in @dydxprotocol/solo@0.28.0 (TestOasisDex) and @makerdao/dai@0.42.4 (MatchingMarket). */
export const oasisAbi = abiOf([
  'function offer(uint256 pay_amt, address pay_gem, uint256 buy_amt, address buy_gem, uint256 pos, bool rounding) returns (uint256)',
  'function sellAllAmount(address pay_gem, uint256 pay_amt, address buy_gem, uint256 min_fill_amount) returns (uint256 fill_amt)',
  'function buyAllAmount(address buy_gem, uint256 buy_amt, address pay_gem, uint256 max_fill_amount) returns (uint256 fill_amt)',
  'function cancel(uint256 id) returns (bool success)',
  'function offers(uint256) view returns (uint256 pay_amt, address pay_gem, uint256 buy_amt, address buy_gem, address owner, uint64 timestamp)',
  'function getBestOffer(address sell_gem, address buy_gem) view returns (uint256)',
  'function getWorseOffer(uint256 id) view returns (uint256)',
  'function getMinSell(address pay_gem) view returns (uint256)',
  'function isClosed() view returns (bool closed)',
  'function matchingEnabled() view returns (bool)',
  'function buyEnabled() view returns (bool)',
  ...oasisEvents,
])

/** Without the functions, which a start does not need. */
export const topicOf = (event: string): string =>
  EventFragment.from(oasisEvents.find((each) => each.startsWith(`event ${event}(`)) ?? '').topicHash

/** What to do where the contract never acts as a market does. */
export const wrongMarket = "If it never does, correct routerAddress in the connector's configuration of this network."

/**
 * Decodes the result of a view function of the market, whose outputs are words. What has another length is nonsense, and so is a flag that is neither
 * 0 nor 1.
 * @throws SluiceError SERVICE_UNINITIALIZED where there is no such contract
 */
export function decodeView(market: string, method: string, result: CallResult | undefined): Result {
  const outputs = oasisAbi.getFunction(method)?.outputs ?? []
  if (result?.ok && result.data.length === 2 + 64 * outputs.length && (outputs[0]?.type !== 'bool' || BigInt(result.data) < 2n))
    try {
      return oasisAbi.decodeFunctionResult(method, result.data)
    } catch {
      // A value beyond its type.
    }
  throw new SluiceError('SERVICE_UNINITIALIZED', `${market} does not answer ${method}() as a matching market does. ${wrongMarket}`)
}

/** In what one exchange of this kind differs from another. */
export interface OasisOptions {
  /**
   * Its markets by `<chain>/<network>`: base and quote by their addresses, which must be in the network's token list. The contract has no
   * list of markets. It accepts any two tokens and has no notion of base and quote.
   */
  readonly markets: Readonly<Record<string, readonly (readonly [base: string, quote: string])[]>>
}

/** What the market's refusals mean, to follow "it would fail: ". Only cancels have a reason on chain: `can_cancel` of MatchingMarket. */
export const oasisRefusals: Readonly<Record<string, string>> = {
  'Offer was deleted or taken, or never existed.': 'the order is over: it was filled or cancelled',
  'Offer can not be cancelled because user is not owner, and market is open, and offer sells required amount of tokens.':
    "the order is another wallet's",
  [revertedSilently]:
    'the market refused it without a reason: it may be closed or paused, the order book may have moved past the bound, or have too little in it',
}
