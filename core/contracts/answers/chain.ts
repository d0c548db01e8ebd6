import type {
  AltchainVerbs,
  Chain,
  EvmVerbs,
  GasPrice,
  GasPrices,
  Grant,
  HeadChanges,
  NodeState,
  Permit2Allowance,
  SetAllowance,
  SimulatedOutcome,
  StepOutcome,
  StandingRights,
  TokenRisk,
  TokenWarnings,
  Transaction,
} from '../chain.ts'
import type { Plan } from '../rail.ts'
import type { CoinMove, PastBlock, PastHoldings, PastTransfer, PastTransfers, WalletHistory } from '../wallet-history.ts'
import {
  amount,
  answers,
  direct,
  either,
  flag,
  integer,
  json,
  list,
  map,
  number,
  object,
  oneOf,
  opaque,
  optional,
  orNothing,
  part,
  property,
  record,
  shown,
  signedAmount,
  stream,
  text,
  time,
  words,
  type Contract,
  type Schema,
} from './contract.ts'
import { headSchema, maxSteps, planSchema, tokenSchema } from './common.ts'
import { gasTermsSchema, railContract, receiptSchema } from './rail.ts'

const nodeSchema = object<NodeState>({
  url: text(2_000),
  state: words(200),
  inUse: flag(),
  reads: flag(),
  errorRate: number(),
  latencyMs: optional(number()),
  headNumber: optional(integer()),
  lagBlocks: optional(integer()),
  trouble: optional(words()),
  limits: optional(record(number(), 100)),
})

/** Events and images go on to the connectors of the chain's family, which know their form. */
const headChangesSchema = object<HeadChanges>({
  head: headSchema,
  changes: list(opaque(), 1_000_000),
  from: optional(list(text(), 1_000_000)),
})

const transactionSchema = object<Transaction>({
  tx: json(1_000_000),
  receipt: receiptSchema,
  blockNumber: optional(integer()),
  pays: optional(flag()),
})

const maxTokens = 100_000
const grantSchema = object<Grant>({
  token: text(),
  spender: text(),
  amountRaw: optional(amount()),
  tokenId: optional(amount()),
  permit2: optional(text()),
  byPermit2: optional(text()),
  dormantRaw: optional(amount()),
})
type OutcomeOf<Is extends SimulatedOutcome['is']> = Extract<SimulatedOutcome, { is: Is }>
const outcomeSchema: Schema<SimulatedOutcome | 'unavailable'> = either(
  oneOf('unavailable'),
  object<OutcomeOf<'failed'>>({ is: oneOf('failed'), reason: words() }),
  object<OutcomeOf<'done'>>({
    is: oneOf('done'),
    gains: map(signedAmount(), maxTokens),
    grants: list(grantSchema, maxTokens),
    sent: optional(map(amount(), maxTokens)),
    steps: optional(
      list(object<StepOutcome>({ gains: map(signedAmount(), maxTokens), sent: optional(map(amount(), maxTokens)) }), maxSteps),
    ),
  }),
)

type Permit2 = NonNullable<EvmVerbs['permit2']>
const permit2Contract: Contract<Permit2> = {
  allowances: answers(
    list(
      list(orNothing(object<Permit2Allowance>({ amountRaw: amount(), givenRaw: optional(amount()), expires: integer() })), 10_000),
      10_000,
    ),
  ),
  approve: answers(object<Awaited<ReturnType<Permit2['approve']>>>({ plan: planSchema, amountRaw: amount(), expires: integer() })),
}

const wrappedContract: Contract<NonNullable<EvmVerbs['wrapped']>> = {
  token: property(tokenSchema),
  wrap: answers(planSchema),
  unwrap: answers(planSchema),
}

const gasPriceSchema = object<GasPrice>({ maxFeeRaw: amount(), tipRaw: amount() })
const gasPricesSchema = object<GasPrices>({
  blockNumber: amount(),
  baseFeeRaw: optional(amount()),
  slow: gasPriceSchema,
  normal: gasPriceSchema,
  fast: gasPriceSchema,
})

const blockNumber = integer(0)
const historyContract: Contract<WalletHistory> = {
  blocks: answers(list(object<PastBlock>({ number: blockNumber, hash: text(), timestamp: time() }), 10_000)),
  holdings: answers(
    list(orNothing(object<PastHoldings>({ nonce: integer(0), coinRaw: amount(), balances: list(orNothing(amount()), 100_000) })), 10_000),
  ),
  transfers: answers(
    object<PastTransfers>({
      transfers: list(
        object<PastTransfer>({
          wallet: text(),
          token: text(),
          amountRaw: signedAmount(),
          txHash: text(),
          blockNumber,
          blockHash: text(),
          logIndex: integer(0),
        }),
        10_000_000,
      ),
      since: optional(blockNumber),
    }),
  ),
  coinMoves: answers(
    list(
      object<CoinMove>({
        blockNumber,
        txHash: optional(text()),
        nonce: optional(integer(0)),
        feeRaw: optional(amount()),
        amountRaw: signedAmount(),
      }),
      1_000_000,
    ),
  ),
}

const evmContract: Contract<EvmVerbs> = {
  allowances: answers(list(list(orNothing(amount()), 10_000), 10_000)),
  approve: answers(object<{ plan: Plan; amountRaw: bigint }>({ plan: planSchema, amountRaw: amount() })),
  permit2: part(permit2Contract),
  wrapped: part(wrappedContract),
  gasPrices: answers(gasPricesSchema),
  transfer: answers(planSchema),
  simulate: answers(outcomeSchema),
  standing: answers(
    either(object<StandingRights>({ head: headSchema, grants: list(grantSchema, 1_000_000) }), list(grantSchema, 1_000_000)),
  ),
  revoke: answers(planSchema),
  moved: answers(orNothing(map(signedAmount(), maxTokens))),
  gains: answers(map(signedAmount(), maxTokens)),
  coinGain: answers(orNothing(signedAmount())),
  coinChanges: answers(list(orNothing(signedAmount()), 10_000)),
  unwrappedBy: answers(orNothing(amount())),
  approvals: answers(
    list(
      object<SetAllowance>({
        token: text(),
        spender: text(),
        amountRaw: amount(),
        permit2: optional(text()),
        expires: optional(integer()),
      }),
      maxTokens,
    ),
  ),
  allowanceBefore: answers(amount()),
  history: part(historyContract),
  expiredAllowances: answers(list(orNothing(amount()), 100_000)),
}

const altchainContract: Contract<AltchainVerbs> = {
  createToken: answers(
    either(object<{ exists: string }>({ exists: text() }), object<{ plan: Plan; account: string }>({ plan: planSchema, account: text() })),
  ),
  contain: answers(planSchema),
  simulate: answers(outcomeSchema),
  moved: answers(orNothing(map(signedAmount(), maxTokens))),
}

const warningsContract: Contract<TokenWarnings> = {
  refused: property(list(text(100), 100)),
  of: { answer: list(object<TokenRisk>({ code: text(100), token: text(), text: words() }), 10_000), atOnce: true },
}

export const chainContract: Contract<Chain> = {
  chainId: property(integer()),
  nativeCurrency: property(tokenSchema),
  coinAddresses: property(list(text(), 100)),
  reader: direct,
  rail: part(railContract),
  local: property(flag()),
  feeCapRaw: property(amount()),
  confirmations: property(integer(0)),
  bumpAfterSeconds: property(number()),
  settings: property(shown()),
  rpcUrl: answers(text(2_000)),
  nodes: answers(list(nodeSchema, 1_000)),
  address: answers(orNothing(text())),
  head: answers(headSchema),
  hashedHead: answers(headSchema),
  heads: answers(stream(headSchema)),
  images: property(flag()),
  changes: answers(either(oneOf('forked'), list(headChangesSchema, 100_000))),
  balances: answers(list(orNothing(amount()), 10_000)),
  token: answers(orNothing(tokenSchema)),
  tokens: answers(list(orNothing(tokenSchema), 1_000)),
  gas: { answer: gasTermsSchema, atOnce: true },
  find: answers(orNothing(transactionSchema)),
  isUndone: answers(flag()),
  isTransactionId: answers(flag()),
  decode: answers(receiptSchema),
  movements: answers(orNothing(map(signedAmount(), maxTokens))),
  evm: part(evmContract),
  altchain: part(altchainContract),
  warnings: part(warningsContract),
  start: direct,
  stop: direct,
}
