import { AbiCoder, Interface, ZeroAddress } from 'ethers'
import { SluiceError, type At, type Hop, type LoanTrial, type Quote, type Token } from '../../core/contracts/index.ts'
import type { EvmReader } from '../evm/types.ts'
import artifact from './artifacts/TransferProbe.json' with { type: 'json' }
import type { Loan, PoolProtocol } from './protocol.ts'
import type { Pool } from '../pools/protocol.ts'
import { partsOf } from '../pools/route-parts.ts'
import { getOrCreate, type PoolEdge, type PoolGraph } from '../pools/routing/graph.ts'

/** A token can switch on a fee at any time, so a verdict expires. */
const verdictSeconds = 600
/** A token whose trial failed may be tradable in a moment. */
const failedTrialSeconds = 30
const maxVerdicts = 4000

interface Verdict {
  /** The error message. Undefined if transfers of the token are exact. */
  readonly refusal: string | undefined
  /** By `performance.now`. */
  readonly expires: number
}

/** For a token that no pool lends. Then it cannot be sold through a pool either, and a pool that gets less than it is owed reverts. */
const untried: Verdict = { refusal: undefined, expires: 0 }

/** Checks tokens, and knows what it found. */
interface ExactTransferCheck {
  (tokens: readonly UntrustedToken[], at: At): Promise<void> | undefined
  /** Whether a trial has shown that transfers of the token are exact, and none by another pool that they are not. */
  isKnown(token: Token): boolean
}

/**
 * Checks that the transfers of tokens from and to the pools of a trade are exact; returns undefined if this is known of all of them. With a token
 * that takes a fee on transfer a trade does not give what its quote says: pools revert when they get too little, and routers count what pools send,
 * not what arrives. Such a token is refused, and so is one whose trial fails. Verdicts are cached, for each pool that lends: a token may take its
 * fee of some pools only.
 */
export function feeOnTransferCheck(reader: EvmReader): ExactTransferCheck {
  /** By token, then by pool. */
  const verdicts = new Map<string, Map<string, Verdict>>()
  let count = 0

  const isValid = (verdict: Verdict) => verdict.expires > performance.now()
  const cached = ({ address }: Token, pool: string): Verdict | undefined => {
    const verdict = verdicts.get(address)?.get(pool)
    return verdict && isValid(verdict) ? verdict : undefined
  }
  const keep = ({ address }: Token, pool: string, verdict: Verdict) => {
    if (count >= maxVerdicts) {
      verdicts.clear()
      count = 0
    }
    const ofToken = getOrCreate(verdicts, address, () => new Map<string, Verdict>())
    if (!ofToken.has(pool)) count += 1
    ofToken.set(pool, verdict)
  }

  const verdictOf = async ({ token, pool, loan }: UntrustedToken, at: At): Promise<Verdict> => {
    const before = cached(token, pool)
    if (before) return before
    const lent = loan()
    if (!lent) return untried
    const ofLender = cached(token, lent.pool)
    if (ofLender) return ofLender
    const trial = await tryTransfer(reader, lent.loan, at)
    const verdict = {
      refusal: refusalOf(token, trial),
      expires: performance.now() + 1000 * (trial ? verdictSeconds : failedTrialSeconds),
    }
    keep(token, lent.pool, verdict)
    return verdict
  }

  const requireExact = async (tokens: readonly UntrustedToken[], at: At): Promise<void> => {
    const all = await Promise.all(tokens.map((token) => verdictOf(token, at)))
    for (const { refusal } of all) if (refusal) throw new SluiceError('TOKEN_NOT_SUPPORTED', refusal)
  }

  const isExact = (verdict: Verdict | undefined) => verdict !== undefined && verdict.refusal === undefined
  const check = (tokens: readonly UntrustedToken[], at: At) =>
    tokens.every(({ token, pool }) => isExact(cached(token, pool))) ? undefined : requireExact(tokens, at)
  const isKnown = ({ address }: Token) => {
    const valid = [...(verdicts.get(address)?.values() ?? [])].filter(isValid)
    return valid.length > 0 && valid.every(isExact)
  }
  return Object.assign(check, { isKnown })
}

function refusalOf({ symbol, address }: Token, trial: TransferTrial | undefined): string | undefined {
  const name = `${symbol} (${address})`
  if (!trial) {
    return `${name} cannot be traded here: a trial transfer out of its pool failed, so the result of a trade is unknown. Trade another token, or this one elsewhere.`
  }
  const { sentRaw, arrivedRaw, returnedRaw } = trial
  if (returnedRaw === undefined) {
    return `${name} cannot be traded here: in a trial it could be bought but not sold. Trade another token, or this one elsewhere.`
  }
  if (arrivedRaw >= sentRaw && returnedRaw >= arrivedRaw) return undefined
  if (isRounding(sentRaw, arrivedRaw) && isRounding(arrivedRaw, returnedRaw)) {
    const [sent, arrived] = arrivedRaw < sentRaw ? [sentRaw, arrivedRaw] : [arrivedRaw, returnedRaw]
    return `${name} rounds by a unit when it is transferred (of ${sent} smallest units ${arrived} arrived), as tokens do whose balances are shares of something, so no exact amount can be promised for it. It takes no fee. Trade its wrapped form, if it has one, another token, or this one elsewhere.`
  }
  const [bought, sold] = [lostPercent(sentRaw, arrivedRaw), lostPercent(arrivedRaw, returnedRaw)]
  return `${name} takes a fee on transfer (${bought} when bought, ${sold} when sold), so no exact price can be promised for it. Trade another token, or this one elsewhere.`
}

/** Units that a token whose balances are shares may lose: one where the sender's shares are rounded, one where the receiver's balance is (lido-dao#442). */
const maxRoundingRaw = 2n
/** Of so few units, one or two may be a fee. */
const minRoundedRaw = 10_000n

const isRounding = (sentRaw: bigint, arrivedRaw: bigint) =>
  arrivedRaw >= sentRaw || (sentRaw - arrivedRaw <= maxRoundingRaw && sentRaw >= minRoundedRaw - maxRoundingRaw)

/** Rounded to hundredths of a percent. */
function lostPercent(sentRaw: bigint, arrivedRaw: bigint): string {
  if (arrivedRaw >= sentRaw) return '0 %'
  const hundredths = ((sentRaw - arrivedRaw) * 10_000n + sentRaw / 2n) / sentRaw
  return hundredths === 0n ? 'less than 0.01 %' : `${Number(hundredths) / 100} %`
}

/** A token that a pool of a route takes or gives, if its transfers are not known to be exact. */
interface UntrustedToken {
  readonly token: Token
  /** The address of that pool. */
  readonly pool: string
  /** A loan for the trial. Undefined if no pool can lend any. */
  loan(): PoolLoan | undefined
}

interface PoolLoan {
  readonly loan: Loan
  /** The address of the pool that the trial says something about. */
  readonly pool: string
}

/**
 * The first and last token of each route of a quote, if their transfers are not known to be exact. The route's own pool lends them, or another one
 * that was read. A token that no pool can lend is not tried; a trade with it may revert.
 */
export function untrustedTokens(
  quote: Pick<Quote, 'swap' | 'amountRaw' | 'route' | 'parts'>,
  graph: PoolGraph<PoolProtocol>,
  trusted: ReadonlySet<string>,
): readonly UntrustedToken[] {
  const { tokenIn, tokenOut } = quote.swap
  return partsOf(quote).flatMap(({ route }) => {
    const [first, last] = [route.at(0), route.at(-1)]
    return [
      ...(first ? untrustedToken(tokenIn, first.tokenIn, first, graph, trusted) : []),
      ...(last ? untrustedToken(tokenOut, last.tokenOut, last, graph, trusted) : []),
    ]
  })
}

function untrustedToken(
  token: Token,
  address: string,
  hop: Hop,
  graph: PoolGraph<PoolProtocol>,
  trusted: ReadonlySet<string>,
): readonly UntrustedToken[] {
  if (trusted.has(address)) return []
  const edge = graph.edgesBetween(hop.tokenIn, hop.tokenOut).find(({ pool }) => pool.address === hop.pool)
  if (!edge) return []
  const ofKind = edge.protocol.loan !== undefined
  if (!ofKind && !graph.edgesFrom(address).some(({ protocol }) => protocol.loan !== undefined)) return []
  return [
    {
      token,
      pool: hop.pool,
      loan() {
        const lent = firstLoan([edge, ...graph.edgesFrom(address)], address)
        // The trial by another pool stands for one whose kind never lends: nothing will ever be known of that itself.
        return lent && !ofKind ? { loan: lent.loan, pool: hop.pool } : lent
      },
    },
  ]
}

function firstLoan(lenders: readonly PoolEdge<PoolProtocol>[], token: string): PoolLoan | undefined {
  for (const lender of lenders) {
    const loan = loanOf(lender, token)
    if (loan) return { loan, pool: lender.pool.address }
  }
  return undefined
}

interface Lender {
  readonly protocol: PoolProtocol
  readonly pool: Pool
}

function loanOf({ protocol, pool }: Lender, token: string): Loan | undefined {
  const loan = protocol.loan?.(pool, token)
  if (loan !== undefined && (!/^0x([0-9a-f]{2})+$/i.test(loan.code) || typeof loan.sentRaw !== 'bigint'))
    throw new Error(
      `loan of the protocol '${protocol.version}' must return code as hexadecimal text and sentRaw as a bigint, or undefined; lender makes both`,
    )
  return loan
}

/** Of the pools that the contract tests try. */
const maxTriedPools = 100

/** What these pools do with each of their tokens, where they lend it. @throws what `loan` throws */
export async function tryLoans(reader: EvmReader, pools: readonly Lender[], at: At): Promise<readonly LoanTrial[]> {
  const loans = pools.slice(0, maxTriedPools).flatMap((lender) =>
    lender.pool.tokens.flatMap((token) => {
      const loan = loanOf(lender, token)
      return loan ? [{ pool: lender.pool.address, version: lender.protocol.version, token, loan }] : []
    }),
  )
  return Promise.all(
    loans.map(async ({ loan, ...of }): Promise<LoanTrial> => {
      const trial = await tryTransfer(reader, loan, at)
      if (!trial) return { ...of, outcome: 'failed' }
      const { sentRaw, arrivedRaw, returnedRaw = 0n } = trial
      return { ...of, outcome: arrivedRaw >= sentRaw && returnedRaw >= arrivedRaw ? 'exact' : 'inexact' }
    }),
  )
}

/** What happened to tokens that a pool lent and got back at once, in smallest units. */
interface TransferTrial {
  readonly sentRaw: bigint
  readonly arrivedRaw: bigint
  /** What the pool got of `arrivedRaw`. Undefined if the token refused to be sent back. */
  readonly returnedRaw: bigint | undefined
}

const coder = AbiCoder.defaultAbiCoder()
const answerTypes = ['bool', 'uint256', 'bool', 'uint256']
const answerLength = '0x'.length + 4 * 64

/** A thousandth of a percent of a pool: below the limits that some tokens set per transfer. */
const poolShare = 100_000n
/** Enough units to show a fee of a hundredth of a percent. */
const minTrialRaw = 10_000n

/** How much to borrow of what a pool holds, in smallest units. Undefined if it holds too little. */
export function trialAmount(heldRaw: bigint): bigint | undefined {
  const wantedRaw = heldRaw / poolShare > minTrialRaw ? heldRaw / poolShare : minTrialRaw
  // A pool cannot lend everything that it has.
  const sentRaw = wantedRaw < heldRaw ? wantedRaw : heldRaw - 1n
  return sentRaw > 0n ? sentRaw : undefined
}

/**
 * Borrows a little of a token from a pool and gives it back, inside one `eth_call`, which needs no balance and changes nothing. Undefined if
 * the pool or the token refused: then the trial shows nothing.
 */
export async function tryTransfer(reader: EvmReader, { code, sentRaw }: Loan, at: At): Promise<TransferTrial | undefined> {
  const { ok, data } = await reader.call({ data: code }, at)
  if (!ok || data.length !== answerLength) return undefined
  const [measured, arrivedRaw, accepted, returnedRaw] = coder.decode(answerTypes, data)
  return measured ? { sentRaw, arrivedRaw, returnedRaw: accepted ? returnedRaw : undefined } : undefined
}

const selectorBytes = 4
const wordBytes = 32

/** The function by which pools of a kind lend: they send tokens first, and call back to be paid. */
interface LendingFunction {
  /** Its signature. */
  readonly lends: string
  /** The index of the argument that names the receiver of the tokens, counted from 0 among all arguments: an address. */
  readonly recipient: number
}

/**
 * Borrows from a pool by its own function. The probe writes its own address in place of `recipient`: contracts/TransferProbe.sol.
 * @returns what makes a loan: of a pool, the token and how much of it is lent (`trialAmount`), and all arguments of the function in their order but
 *   `recipient` @throws Error where these are not the function's
 */
export function lender({ lends, recipient }: LendingFunction) {
  const abi = new Interface([`function ${lends}`])
  const { inputs, name } = abi.getFunction(lends.slice(0, lends.indexOf('('))) ?? { inputs: [], name: lends }
  if (inputs[recipient]?.type !== 'address')
    throw new Error(
      `lender: argument ${recipient} of ${name}, counted from 0, is ${inputs[recipient]?.type ?? 'not there'}; recipient is the index of the address that gets the tokens`,
    )
  const recipientAt = selectorBytes + recipient * wordBytes
  return (pool: string, token: string, sentRaw: bigint, args: readonly unknown[]): Loan => {
    if (args.length !== inputs.length - 1)
      throw new Error(`lender: ${name} has ${inputs.length - 1} arguments beside its recipient, and ${args.length} were given`)
    if (typeof sentRaw !== 'bigint' || sentRaw <= 0n)
      throw new Error(
        'lender: sentRaw is not a bigint above 0; take trialAmount of what the pool holds, and lend nothing where it is undefined',
      )
    const lend = abi.encodeFunctionData(lends, args.toSpliced(recipient, 0, ZeroAddress))
    const parameters = coder.encode(['address', 'address', 'bytes', 'uint256'], [pool, token, lend, recipientAt])
    return { code: artifact.bytecode + parameters.slice(2), sentRaw }
  }
}
