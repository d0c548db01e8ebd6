import type {
  Checked,
  GasTerms,
  PaidFees,
  PollResult,
  Outline,
  Prepared,
  Rail,
  CachedChecks,
  BroadcastResult,
  Sealed,
  AttemptStatus,
  Signable,
} from '../rail.ts'
import type { Permit } from '../permit2.ts'
import type { SignedActions } from '../plugin.ts'
import type { MissingState } from '../followed.ts'
import {
  amount,
  answers,
  bytes,
  callback,
  either,
  flag,
  integer,
  json,
  list,
  map,
  object,
  oneOf,
  optional,
  orNothing,
  part,
  property,
  stream,
  text,
  words,
  type Contract,
  type Schema,
} from './contract.ts'
import { basisSchema, headSchema, missingStateSchema } from './common.ts'

const maxSteps = 1_000
const maxAttempts = 100_000
const maxBases = 10_000
/** With all logs of a transaction. */
export const receiptSchema = json(16_000_000)

const sealedSchema = object<Sealed>({ id: text(), raw: bytes() })

const signableSchema = object<Signable>({
  scheme: oneOf('evm-transaction', 'solana-message', 'typed-data'),
  bytes: bytes(),
  body: optional(json(1_000_000)),
  signers: optional(list(text(), 16)),
})

const landedSchema = object<NonNullable<Extract<BroadcastResult, { is: 'accepted' }>['landed']>>({
  ok: flag(),
  receipt: receiptSchema,
  reason: optional(words()),
})

const receptionSchema: Schema<BroadcastResult> = either(
  object<Extract<BroadcastResult, { is: 'accepted' }>>({ is: oneOf('accepted'), node: optional(words()), landed: optional(landedSchema) }),
  object<Extract<BroadcastResult, { is: 'refused' | 'unclear' }>>({
    is: oneOf('refused', 'unclear'),
    reason: words(),
    meaning: optional(oneOf('sequence-used', 'sequence-ahead', 'underpriced', 'outbid', 'unfunded', 'not-now', 'invalid')),
  }),
)

type StatusOf<Is extends AttemptStatus['is']> = Extract<AttemptStatus, { is: Is }>
const attemptStatusSchema: Schema<AttemptStatus> = either(
  object<StatusOf<'unseen'>>({ id: text(), is: oneOf('unseen'), underpriced: optional(flag()), next: optional(flag()) }),
  object<StatusOf<'pending'>>({
    id: text(),
    is: oneOf('pending'),
    underpriced: flag(),
    next: optional(flag()),
    kept: optional(oneOf(false)),
  }),
  object<StatusOf<'landed'>>({
    id: text(),
    is: oneOf('landed'),
    ok: flag(),
    blockNumber: integer(-1),
    blockHash: optional(text()),
    depth: integer(),
    receipt: receiptSchema,
    reason: optional(words()),
  }),
  object<StatusOf<'dead'>>({ id: text(), is: oneOf('dead'), by: optional(text()) }),
  object<StatusOf<'expired'>>({ id: text(), is: oneOf('expired') }),
)

export const gasTermsSchema = object<GasTerms>({
  gasLimit: amount(),
  gasPriceRaw: amount(),
  gasPriceDecimals: optional(integer(0, 77)),
  gasCostRaw: amount(),
  tipRaw: optional(amount()),
  rentRaw: optional(amount()),
})

const preparedSchema = object<Prepared>({ step: json(), fees: json(), gas: gasTermsSchema })
const permitSchema = object<Permit>({
  permit2: text(),
  token: text(),
  spender: text(),
  amountRaw: amount(),
  expires: integer(0),
  nonce: integer(0),
})
const checkedSchema = object<Checked>({
  prepared: list(preparedSchema, maxSteps),
  synced: json(),
  checkFunds: callback(),
  permits: optional(list(permitSchema, maxSteps)),
  head: optional(object<NonNullable<Checked['head']>>({ number: amount(), timestamp: integer(0) })),
})
const sequencesSchema = list(json(), maxAttempts)

export const railContract: Contract<Rail> = {
  sequences: property(oneOf('ordered', 'independent', 'increasing')),
  outline: answers(object<Outline>({ contracts: list(text(), 1_000), valueRaw: amount(), rentRaw: optional(amount()) })),
  check: answers(checkedSchema),
  cachedChecks: part<CachedChecks>({
    basis: answers(orNothing(list(basisSchema, maxBases))),
    check: answers(
      orNothing(
        either(object<{ readonly missing: readonly MissingState[] }>({ missing: list(missingStateSchema, maxBases) }), checkedSchema),
      ),
    ),
  }),
  cost: answers(amount()),
  maxFee: answers(amount()),
  paidFees: answers(orNothing(object<PaidFees>({ feeRaw: amount(), gasUsed: optional(amount()), layer1FeeRaw: optional(amount()) }))),
  sync: answers(json()),
  syncAll: answers(list(json(), 1_000)),
  merge: answers(json()),
  needsSync: answers(flag()),
  claim: answers(sequencesSchema),
  sequencesFrom: answers(sequencesSchema),
  nonceOf: answers(integer()),
  sequenceStatus: answers(oneOf('past', 'taken', 'free')),
  gaps: answers(sequencesSchema),
  draft: answers(signableSchema),
  seal: answers(sealedSchema),
  sendsPrivately: property(flag()),
  transferGas: property(amount()),
  send: answers(receptionSchema),
  poll: answers(object<PollResult>({ statuses: list(attemptStatusSchema, maxAttempts), synced: map(json(), maxAttempts) })),
  permits: part<NonNullable<Rail['permits']>>({ seal: answers(text()), nonces: answers(list(integer(0), maxAttempts)) }),
  replace: part<NonNullable<Rail['replace']>>({
    outbids: answers(flag()),
    minimumReplacement: answers(words()),
    cancel: answers(json()),
    cancelAgain: answers(json()),
    bump: answers(orNothing(json())),
    cancelIsCheaper: answers(flag()),
  }),
}

export const signedActionsContract: Contract<SignedActions> = { rail: part(railContract), heads: answers(stream(headSchema)) }
