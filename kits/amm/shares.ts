// What shares of all kinds of pools have in common: AMM_SHARES.
import { SluiceError, type AMMShares, type SharesDeposit } from '../../core/contracts/index.ts'
import { isTransfer, wordAt, wordCount } from '../evm/encoding.ts'
import type { Evm, EvmLog } from '../evm/types.ts'

/** Of a version that the configuration leaves out. Its fills stay readable. */
export function noShares(version: string | undefined, sharesFill: AMMShares<Evm>['sharesFill']): AMMShares<Evm> {
  const refuse = (): never => {
    throw new SluiceError(
      'UNSUPPORTED',
      `The pools with shares are those of ${version}, which the connector's configuration does not list under versions.`,
    )
  }
  return {
    sharesVersions: [],
    sharePositions: async () => refuse(),
    depositFor: refuse,
    returnFor: refuse,
    addShares: refuse,
    removeShares: refuse,
    sharesFill,
  }
}

/** Of what is added, the part that rounding to whole shares may cost: a thousandth. */
const [mostLost, ofAll] = [1n, 1000n]

/**
 * Where a pool has few shares, or is large beside a deposit, the rounding of the deposit to whole shares can cost much of it.
 * @param lostRaw the most shares that are lost to it
 * @throws SluiceError PRICE_FAILED
 */
export function requireWorth(address: string, { sharesRaw }: Pick<SharesDeposit, 'sharesRaw'>, lostRaw: bigint): void {
  if (sharesRaw === 0n || lostRaw * ofAll <= (sharesRaw + lostRaw) * mostLost) return
  throw new SluiceError(
    'PRICE_FAILED',
    `The pool ${address} would give ${sharesRaw} of its smallest units of shares, and rounding to these would cost more than 0.1 % of what is added. Add more.`,
  )
}

/** What a caller offers of each token; an amount that is absent follows from one that is there, in the ratio of what the pool holds. */
export function completeOffer(maxRaw: readonly (bigint | undefined)[], reservesRaw: readonly bigint[]): readonly bigint[] {
  const given = maxRaw.findIndex((each, index) => each !== undefined && (reservesRaw[index] ?? 0n) > 0n)
  const [givenRaw = 0n, heldRaw = 1n] = [maxRaw[given], reservesRaw[given]]
  return maxRaw.map((each, index) => each ?? (givenRaw * (reservesRaw[index] ?? 0n)) / heldRaw)
}

/** By the last transfer of a token between two addresses. */
export function transferredRaw(logs: readonly EvmLog[], token: string, payer: string, payee: string): bigint | undefined {
  const log = logs.findLast((each) => isTransfer(each, token, payer, payee))
  return log && wordCount(log.data) === 1 ? wordAt(log.data, 0) : undefined
}
