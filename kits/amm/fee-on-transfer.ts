import { SluiceError, type At, type Token } from '../../core/contracts/index.ts'
import type { EvmReader } from '../evm/types.ts'
import type { Suspect } from '../../core/kits/pools/exact-transfers/suspects.ts'
import { tryTransfers, type TransferMeasure } from '../../core/kits/pools/exact-transfers/trial.ts'

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
export function exactTransfers(reader: EvmReader): (suspects: readonly Suspect[], at: At) => Promise<void> | undefined {
  const verdicts = new Map<string, Verdict>()

  const known = ({ token }: Suspect): Verdict | undefined => {
    const verdict = verdicts.get(token.address.toLowerCase())
    return verdict && verdict.expires > Date.now() ? verdict : undefined
  }

  const judge = async (suspect: Suspect, at: At): Promise<Verdict> => {
    const before = known(suspect)
    if (before) return before
    const address = suspect.token.address.toLowerCase()
    const loan = suspect.loan()
    if (!loan) return untried
    const measure = await tryTransfers(reader, loan, at)
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

function refusalOf({ symbol, address }: Token, measure: TransferMeasure | undefined): string | undefined {
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
