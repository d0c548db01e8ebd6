import { AbiCoder, Interface, ZeroAddress } from 'ethers'
import { SluiceError, type At, type Token, type Swap } from '../../core/contracts/index.ts'
import type { EvmReader } from '../evm/types.ts'
import artifact from './artifacts/TransferProbe.json' with { type: 'json' }
import type { Loan } from './protocol.ts'
import type { PoolEdge, PoolGraph } from './routing/graph.ts'

// A fee can be switched on at any time, so no verdict holds for ever.
const verdictSeconds = 600
// A token that could not be tried may be tradable in a moment.
const unknownSeconds = 30
const mostRemembered = 1000

interface Verdict {
  /** Undefined where the token is moved exactly. */
  readonly refusal: string | undefined
  readonly expires: number
}

// What no pool lends, none can sell either; and where less comes to a pool than is due, the pool reverts.
const untried: Verdict = { refusal: undefined, expires: 0 }

/**
 * A check that tokens move exactly, undefined where that is known of all of them. One that takes a fee on transfer breaks what a quote promises: pools revert for
 * what they do not get, and routers count what pools send, not what arrives. It is refused, and so is one whose trial
 * fails. Verdicts are remembered for a while.
 */
export function feeOnTransferCheck(reader: EvmReader): (suspects: readonly UntrustedToken[], at: At) => Promise<void> | undefined {
  const verdicts = new Map<string, Verdict>()

  const known = ({ token }: UntrustedToken): Verdict | undefined => {
    const verdict = verdicts.get(token.address.toLowerCase())
    return verdict && verdict.expires > Date.now() ? verdict : undefined
  }

  const judge = async (suspect: UntrustedToken, at: At): Promise<Verdict> => {
    const before = known(suspect)
    if (before) return before
    const address = suspect.token.address.toLowerCase()
    const loan = suspect.loan()
    if (!loan) return untried
    const measure = await tryTransfer(reader, loan, at)
    const refusal = refusalOf(suspect.token, measure)
    const expires = Date.now() + 1000 * (measure ? verdictSeconds : unknownSeconds)
    if (verdicts.size >= mostRemembered) verdicts.clear()
    verdicts.set(address, { refusal, expires })
    return { refusal, expires }
  }

  return (suspects, at) => {
    if (suspects.every((suspect) => known(suspect)?.refusal === undefined && known(suspect) !== undefined)) return undefined
    return Promise.all(suspects.map((suspect) => judge(suspect, at))).then((judged) => {
      for (const { refusal } of judged) if (refusal) throw new SluiceError('TOKEN_NOT_SUPPORTED', refusal)
    })
  }
}

function refusalOf({ symbol, address }: Token, measure: TransferTrial | undefined): string | undefined {
  const who = `${symbol} (${address})`
  if (!measure) {
    return `${who} cannot be traded here: a trial transfer out of its pool failed, so what a trade would give is unknown. Trade another token, or this one elsewhere.`
  }
  const { sentRaw, arrivedRaw, returnedRaw } = measure
  if (returnedRaw === undefined) {
    return `${who} cannot be traded here: it let itself be bought but not sold in a trial. Trade another token, or this one elsewhere.`
  }
  if (arrivedRaw >= sentRaw && returnedRaw >= arrivedRaw) return undefined
  const [bought, sold] = [lostPercent(sentRaw, arrivedRaw), lostPercent(arrivedRaw, returnedRaw)]
  return `${who} takes a fee on transfer (${bought} when bought, ${sold} when sold), so no exact price can be promised for it. Trade another token, or this one elsewhere.`
}

/** Rounded to hundredths of a percent; what is less than one is said to be so. */
function lostPercent(sentRaw: bigint, arrivedRaw: bigint): string {
  if (arrivedRaw >= sentRaw) return '0 %'
  const hundredths = ((sentRaw - arrivedRaw) * 10_000n + sentRaw / 2n) / sentRaw
  return hundredths === 0n ? 'less than 0.01 %' : `${Number(hundredths) / 100} %`
}

/** A token of a route, and a pool's offer to lend some of it; undefined where none has any to lend. */
interface UntrustedToken {
  readonly token: Token
  loan(): Loan | undefined
}

/**
 * The ends of a route that are not known to move exactly. The route's own pool lends them, or else another one that was
 * read; a token of which no pool lends anything cannot be tried, and is left to the contracts.
 */
export function untrustedTokens(
  { tokenIn, tokenOut }: Swap,
  route: readonly PoolEdge[],
  lanes: PoolGraph,
  trusted: ReadonlySet<string>,
): readonly UntrustedToken[] {
  const ends = [
    { token: tokenIn, lane: route.at(0), address: route.at(0)?.passage.tokenIn },
    { token: tokenOut, lane: route.at(-1), address: route.at(-1)?.passage.tokenOut },
  ]
  return ends.flatMap(({ token, lane, address }) => {
    if (!lane || address === undefined || trusted.has(address)) return []
    const lenders = [lane, ...lanes.edgesFrom(address)].filter(({ protocol }) => protocol.loan !== undefined)
    if (lenders.length === 0) return []
    return [{ token, loan: () => firstLoan(lenders, address) }]
  })
}

function firstLoan(lenders: readonly PoolEdge[], token: string): Loan | undefined {
  for (const { protocol, pool } of lenders) {
    const loan = protocol.loan?.(pool, token)
    if (loan) return loan
  }
  return undefined
}

/** What became of tokens that a pool lent out and got back at once, in smallest units. */
interface TransferTrial {
  readonly sentRaw: bigint
  readonly arrivedRaw: bigint
  /** What the pool had of `arrivedRaw` after it was sent back; undefined where the token refused that. */
  readonly returnedRaw: bigint | undefined
}

const coder = AbiCoder.defaultAbiCoder()
const answer = ['bool', 'uint256', 'bool', 'uint256']
const answerLength = '0x'.length + 4 * 64

// A thousandth of a percent of a pool: below what tokens with a limit per transfer object to.
const poolShare = 100_000n
// Enough units for a fee of a hundredth of a percent to show.
const leastTrialRaw = 10_000n

/** How much of what a pool holds is borrowed; undefined where there is too little to borrow any. */
export function trialAmount(heldRaw: bigint): bigint | undefined {
  const wantedRaw = heldRaw / poolShare > leastTrialRaw ? heldRaw / poolShare : leastTrialRaw
  // A pool lends less than all that it has.
  const sentRaw = wantedRaw < heldRaw ? wantedRaw : heldRaw - 1n
  return sentRaw > 0n ? sentRaw : undefined
}

/**
 * Borrows a little of a token from a pool and gives it back, inside one `eth_call` that needs no balance and changes
 * nothing. Undefined where the pool or the token refused that, so that nothing is known.
 */
export async function tryTransfer(reader: EvmReader, { code, sentRaw }: Loan, at: At): Promise<TransferTrial | undefined> {
  const { ok, data } = await reader.call({ data: code }, at)
  if (!ok || data.length !== answerLength) return undefined
  const [measured, arrivedRaw, accepted, returnedRaw] = coder.decode(answer, data)
  return measured ? { sentRaw, arrivedRaw, returnedRaw: accepted ? returnedRaw : undefined } : undefined
}

const coderOfLoan = AbiCoder.defaultAbiCoder()
const selectorBytes = 4
const wordBytes = 32

/** How pools of a kind send tokens first and call back for what is due. */
interface LendingFunction {
  /** The signature of the pool's function. */
  readonly lends: string
  /** Which of its arguments says whom the tokens go to. */
  readonly recipient: number
}

/** Borrows from a pool by its own call, whose `recipient` is filled in: contracts/TransferProbe.sol. */
export function lender({ lends, recipient }: LendingFunction) {
  const abi = new Interface([`function ${lends}`])
  const recipientAt = selectorBytes + recipient * wordBytes
  return (pool: string, token: string, sentRaw: bigint, args: readonly unknown[]): Loan => {
    const lend = abi.encodeFunctionData(lends, args.toSpliced(recipient, 0, ZeroAddress))
    const parameters = coderOfLoan.encode(['address', 'address', 'bytes', 'uint256'], [pool, token, lend, recipientAt])
    return { code: artifact.bytecode + parameters.slice(2), sentRaw }
  }
}
