/** What a refusal of the exchange is about. */
export type RefusalKind = 'market' | 'price' | 'margin' | 'size' | 'collateral' | 'position' | 'deadline'

interface Refusal {
  readonly about: RefusalKind
  /** In words that go on from "…: ". */
  readonly means: string
}

const notOpen = { about: 'market', means: 'the market takes no orders: it is paused or closed' } as const
const tooDeep = { about: 'size', means: 'the market has too little liquidity for the size: trade less' } as const

/**
 * The codes by which its contracts refuse, with what they mean: @perp/curie-contract@2.8.4, contracts/*.sol, where each stands in a
 * comment, and `OLD` of @uniswap/v3-core@1.0.1, contracts/libraries/Oracle.sol.
 */
export const refusals: Readonly<Record<string, Refusal>> = {
  // ClearingHouse.sol
  CH_TE: { about: 'deadline', means: 'the deadline has passed: ask again' },
  CH_MNO: notOpen,
  CH_MP: notOpen,
  CH_MNC: { about: 'market', means: 'the market is not closed for good, so its positions are not settled yet' },
  CH_TLRS: { about: 'price', means: 'a sale now brings less than the bound' },
  CH_TMRS: { about: 'price', means: 'a sale now takes more than the bound' },
  CH_TLRL: { about: 'price', means: 'a purchase now brings less than the bound' },
  CH_TMRL: { about: 'price', means: 'a purchase now costs more than the bound' },
  CH_NEFCI: { about: 'margin', means: 'too little collateral would be free after it for the initial margin: deposit more, or open less' },
  CH_NEFCM: {
    about: 'margin',
    means:
      'too little collateral would be free after it for the maintenance margin, so only a liquidator may reduce it: deposit more first',
  },
  CH_PSZ: { about: 'position', means: 'there is no position to close' },
  CH_F0S: tooDeep,
  // Exchange.sol, OrderBook.sol, lib/UniswapV3Broker.sol
  EX_BTNE: { about: 'market', means: 'the exchange has no such market' },
  EX_MIP: notOpen,
  EX_OPLAS: {
    about: 'size',
    means: 'the price would move further than the exchange lets it within fifteen seconds: trade less at once, or wait',
  },
  EX_OPB: {
    about: 'price',
    means: 'the price would be further from the index price than the exchange lets it: trade less, or towards the index price',
  },
  UB_UOA: tooDeep,
  // AccountBalance.sol
  AB_MNE: { about: 'position', means: 'the account is in as many markets as it may be: close a position in another one' },
  // Vault.sol
  V_NEFC: { about: 'margin', means: 'less than that can be withdrawn now: close positions or withdraw less' },
  V_GTSTBC: { about: 'collateral', means: 'the exchange takes no more of the token: its cap is reached' },
  V_GTDC: { about: 'collateral', means: 'the exchange takes no more of the token: its cap is reached' },
  V_CTNE: { about: 'collateral', means: 'the account has as many kinds of collateral as it may have' },
  V_OSCT: { about: 'collateral', means: 'the exchange does not take the token as collateral' },
  V_IBA: { about: 'collateral', means: 'the exchange takes no token that moves less than is sent' },
  // The oracles that its prices come from
  OLD: { about: 'price', means: "the market's oracle does not reach back as far as the exchange looks: wait some minutes" },
  // base/OwnerPausable.sol
  'Pausable: paused': { about: 'market', means: 'the exchange is paused' },
}

export const refusalOf = (reason: string): Refusal | undefined => (Object.hasOwn(refusals, reason) ? refusals[reason] : undefined)

/** For people: what it means, with the code. */
export function meaningOf(reason: string): string {
  const means = refusalOf(reason)?.means
  return means === undefined ? reason : `${means} (${reason})`
}
