// What an account of perpetuals is worth to limits: its collateral, without gains that are not realized, since these are by the mark, which can be pushed; and
// less the loss of each position that has one, so that no gain of another position hides it.
import { add, isLess, normalize, rescale, sum } from '../../base/decimal.ts'
import { SluiceError } from '../../base/errors.ts'
import { leftOutOf } from '../../contracts/answers/contract.ts'
import type { At, PerpAccount, PerpAMM, PerpBookAccount, PerpCLOB, PerpPosition } from '../../contracts/index.ts'

/** @param profits of each position, at the mark */
export function accountWorth(
  { accountValue, collateral }: Pick<PerpBookAccount, 'accountValue' | 'collateral'>,
  profits: readonly string[],
): string {
  const lessLosses = add(collateral, sum(profits.filter((each) => isLess(each, '0'))))
  return isLess(accountValue, lessLosses) ? normalize(accountValue) : lessLosses
}

/** The same, of an account on the chain. */
export function accountWorthRaw(
  { valueRaw, collateralRaw, decimals }: Pick<PerpAccount, 'valueRaw' | 'collateralRaw' | 'decimals'>,
  positions: readonly Pick<PerpPosition, 'market' | 'unrealizedProfitRaw'>[],
): bigint {
  const lossRaw = positions.reduce(
    (total, { market, unrealizedProfitRaw: raw }) => (raw < 0n ? total + rescale(-raw, market.quoteDecimals, decimals) + 1n : total),
    0n,
  )
  const lessLossesRaw = collateralRaw - lossRaw
  return valueRaw < lessLossesRaw ? valueRaw : lessLossesRaw
}

export interface BookWorth {
  readonly worth: string
  readonly notional: string
}

/** Positions first: the loss of one that is closed meanwhile counts twice then, and else not at all. @throws SluiceError PRICE_FAILED where a position cannot be read */
export async function readBookWorth(perp: Pick<PerpCLOB, 'account' | 'positions'>, owner: string, at: At): Promise<BookWorth> {
  const profits = await readProfits(perp, owner, at)
  return worthOf(await perp.account(owner, at), profits)
}

/** Of each position, at the mark. @throws SluiceError PRICE_FAILED where a position cannot be read */
export async function readProfits(perp: Pick<PerpCLOB, 'positions'>, owner: string, at: At): Promise<readonly string[]> {
  const positions = await perp.positions(owner, at)
  if (leftOutOf(positions).length > 0) throw notRead()
  return positions.map(({ unrealizedProfit }) => unrealizedProfit)
}

/** @param profits as they were before the account was read */
export const worthOf = ({ notional, ...account }: PerpBookAccount, profits: readonly string[]): BookWorth => ({
  worth: accountWorth(account, profits),
  notional,
})

type PerpReader = Pick<PerpAMM, 'funding' | 'position'>

/** The positions of a wallet on the chain: one question, and one for each. @throws SluiceError PRICE_FAILED where one cannot be read */
export async function readPositions(perp: PerpReader, owner: string, at: At): Promise<readonly PerpPosition[]> {
  const { funding, unread = [] } = await perp.funding(owner, at)
  if (unread.length > 0) throw notRead()
  return Promise.all(funding.map(async ({ market }) => (await perp.position(owner, market, at)).position))
}

export const notRead = () =>
  new SluiceError(
    'PRICE_FAILED',
    'The exchange cannot tell what is open in the account now, and the client has limits of that: nothing was sent. Try again.',
  )
