import type { At, BookBalance, PerpBookAccount, PerpBookPosition } from 'sluice/plugin'
import type { Ask } from '../api.ts'
import { compare, divided, minus, plain, plus, sum, withoutSign } from '../decimal.ts'
import type { Listing } from '../markets.ts'
import { perpState } from '../accounts.ts'
import type { PerpState, WirePosition } from '../accounts.ts'

/** What perpetual positions are paid in. */
const collateralToken = 'USDC'
/** Of figures that the exchange does not give and that come out of a division. */
const scale = 12

export const readPerpState = (ask: Ask, user: string, at: At): Promise<PerpState> =>
  ask({ type: 'clearinghouseState', user }, perpState, at)

export async function readPositions(ask: Ask, user: string, { byId }: Listing, at: At): Promise<readonly PerpBookPosition[]> {
  const { assetPositions } = await readPerpState(ask, user, at)
  return assetPositions.flatMap(({ position }) => {
    const listed = byId.get(position.coin)
    const size = withoutSign(position.szi)
    if (!listed || size === '0') return []
    return [
      {
        market: listed.market,
        side: compare(position.szi, '0') > 0 ? 'LONG' : 'SHORT',
        amount: size,
        entryPrice: plain(position.entryPx ?? '0'),
        // What it is valued at; the list of all marks is ten times the weight.
        markPrice: plain(divided(position.positionValue, size, scale, 'down')),
        unrealizedProfit: plain(position.unrealizedPnl),
        // The exchange moves funding every hour, and keeps none back.
        pendingFunding: '0',
        leverage: String(position.leverage.value),
        marginMode: position.leverage.type === 'isolated' ? 'isolated' : 'cross',
        ...(position.liquidationPx !== null && { liquidationPrice: plain(position.liquidationPx) }),
      },
    ]
  })
}

export function perpAccountOf({ marginSummary, crossMaintenanceMarginUsed, withdrawable, assetPositions }: PerpState): PerpBookAccount {
  const positions = assetPositions.map(({ position }) => position)
  const isolated = positions.filter(({ leverage }) => leverage.type === 'isolated')
  return {
    accountValue: plain(marginSummary.accountValue),
    freeCollateral: plain(withdrawable),
    collateral: minus(marginSummary.accountValue, sum(positions.map(({ unrealizedPnl }) => unrealizedPnl))),
    initialMargin: plain(marginSummary.totalMarginUsed),
    maintenanceMargin: plus(crossMaintenanceMarginUsed, sum(isolated.map(maintenanceOf))),
    notional: plain(marginSummary.totalNtlPos),
  }
}

/** Half of what the highest leverage asks for: https://hyperliquid.gitbook.io/hyperliquid-docs/trading/margining. The exchange adds up those of cross margin only. */
const maintenanceOf = ({ positionValue, maxLeverage }: WirePosition): string => divided(positionValue, String(2 * maxLeverage), scale, 'up')

/** What is free to leave, and what positions and orders hold. */
export function perpBalancesOf({ marginSummary: { accountValue }, withdrawable }: PerpState): readonly BookBalance[] {
  if (compare(accountValue, '0') === 0) return []
  return [
    { symbol: collateralToken, total: plain(accountValue), available: plain(withdrawable), locked: minus(accountValue, withdrawable) },
  ]
}
