import { Interface } from 'ethers'

/**
 * What the matching market logs of offers. `pay` is what an offer's maker gives and `buy` what the maker wants; of a take, `take_amt` is
 * what the taker got of `pay_gem`, `give_amt` what the taker gave of `buy_gem`.
 */
export const oasisEvents = [
  'event LogMake(bytes32 indexed id, bytes32 indexed pair, address indexed maker, address pay_gem, address buy_gem, uint128 pay_amt, uint128 buy_amt, uint64 timestamp)',
  'event LogTake(bytes32 id, bytes32 indexed pair, address indexed maker, address pay_gem, address buy_gem, address indexed taker, uint128 take_amt, uint128 give_amt, uint64 timestamp)',
  'event LogKill(bytes32 indexed id, bytes32 indexed pair, address indexed maker, address pay_gem, address buy_gem, uint128 pay_amt, uint128 buy_amt, uint64 timestamp)',
  'event LogSortedOffer(uint256 id)',
  'event LogInsert(address keeper, uint256 id)',
] as const

/** All that is asked of the market: contracts of @dydxprotocol/solo@0.28.0 (TestOasisDex) and @makerdao/dai@0.42.4 (MatchingMarket) agree in it. */
export const oasisAbi = new Interface([
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

export const topicOf = (event: string): string => oasisAbi.getEvent(event)?.topicHash ?? ''
