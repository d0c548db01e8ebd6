const notOpen = 'the market takes no orders: it is paused or closed'
const tooDeep = 'the market has too little liquidity for the size: trade less'
const capped = 'the exchange takes no more of the token: its cap is reached'

/**
 * The codes by which its contracts refuse, in words that go on from "it would fail: ". Each stands in a comment of
 * @perp/curie-contract@2.8.4, contracts/*.sol; OLD is of @uniswap/v3-core@1.0.1, contracts/libraries/Oracle.sol.
 */
export const perpRefusals: Readonly<Record<string, string>> = {
  // ClearingHouse.sol
  CH_TE: 'the deadline has passed: ask again',
  CH_MNO: notOpen,
  CH_MP: notOpen,
  CH_MNC: 'the market is not closed for good, so its positions are not settled yet',
  CH_TLRS: 'the sale brings less than its bound by now: ask again, or allow more slippage',
  CH_TMRL: 'the purchase costs more than its bound by now: ask again, or allow more slippage',
  CH_NEFCI: 'too little collateral would be free after it for the initial margin: deposit more, or open less',
  CH_NEFCM:
    'too little collateral would be free after it for the maintenance margin, so only liquidators may reduce it: deposit more first',
  CH_PSZ: 'there is no position to close',
  CH_F0S: tooDeep,
  // Exchange.sol, lib/UniswapV3Broker.sol
  EX_BTNE: 'the exchange has no such market',
  EX_MIP: notOpen,
  EX_OPLAS: 'the price would move further than the exchange lets it within fifteen seconds: trade less at once, or wait',
  // UniswapV3Pool.sol of @uniswap/v3-core@1.0.1: the price is where it may go already, by the exchange or by the bound of a close.
  SPL: 'the price has moved past its bound by now, or as far as the exchange lets it within fifteen seconds: ask again, or wait',
  EX_OPB: 'the price would be further from the index price than the exchange lets it: trade less, or wait until they are closer',
  UB_UOA: tooDeep,
  // AccountBalance.sol
  AB_MNE: 'the account is in as many markets as it may be: close a position in another one',
  // Vault.sol
  V_NEFC: 'less than that can be withdrawn by now: close positions or withdraw less',
  V_GTSTBC: capped,
  V_GTDC: capped,
  V_CTNE: 'the account has as many kinds of collateral as it may have',
  V_OSCT: 'the exchange does not take the token as collateral',
  V_IBA: 'the exchange takes no token of which less arrives than is sent',
  // The oracles that its prices come from
  OLD: "the market's oracle does not reach back as far as the exchange looks: wait some minutes",
  // base/OwnerPausable.sol
  'Pausable: paused': 'the exchange is paused',
}

/** For people: what it means, with the code. */
export function meaningOf(reason: string): string {
  return Object.hasOwn(perpRefusals, reason) ? `${perpRefusals[reason]} (${reason})` : reason
}
