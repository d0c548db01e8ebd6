import type { PerpAccount, Token } from '../../../contracts/index.ts'
import { asNumber, asNumbers, map, together, type Asked } from '../../../../kits/perp/batch-read.ts'
import { curieDecimals, wholeRatio, type Contracts, type Terms } from '../../../../kits/perp/curie.ts'

/** An account, and what its contracts reckon it from. All with 18 decimals. */
export interface AccountNow {
  readonly account: PerpAccount
  /** What is free of collateral and what an account is worth, before they are cut to the settlement token's decimals. */
  readonly collateralRaw: bigint
  readonly unrealizedRaw: bigint
  readonly debtRaw: bigint
}

/** As Vault and AccountBalance of @perp/curie-contract@2.8.4 give it. */
export function accountNow({ vault, balances, exchange }: Contracts, terms: Terms, { decimals }: Token, owner: string): Asked<AccountNow> {
  const asked = together({
    value: asNumber(vault, 'getAccountValue', owner),
    settlementValue: asNumber(vault, 'getSettlementTokenValue', owner),
    free: asNumber(vault, 'getFreeCollateralByRatio', owner, terms.imRatio),
    balance: asNumber(vault, 'getBalance', owner),
    pnl: asNumbers(balances, 'getPnlAndPendingFee', owner),
    funding: asNumber(exchange, 'getAllPendingFundingPayment', owner),
    debt: asNumber(balances, 'getTotalDebtValue', owner),
    maintenance: asNumber(balances, 'getMarginRequirementForLiquidation', owner),
    notional: asNumber(balances, 'getTotalAbsPositionValue', owner),
  })
  const scale = 10n ** BigInt(curieDecimals - decimals)
  return map(asked, ({ value, settlementValue, free, balance, pnl, funding, debt, maintenance, notional }) => {
    const [realizedRaw = 0n, unrealizedRaw = 0n, pendingFeeRaw = 0n] = pnl
    // What the other tokens are worth is not said by itself.
    const otherTokensRaw = (value - settlementValue) * scale
    const heldRaw = balance * scale + realizedRaw + otherTokensRaw
    return {
      account: {
        decimals: curieDecimals,
        valueRaw: value * scale,
        freeCollateralRaw: free * scale,
        collateralRaw: heldRaw,
        // Vault._getTotalMarginRequirement
        initialMarginRaw: (debt * terms.imRatio) / wholeRatio,
        maintenanceMarginRaw: maintenance,
        notionalRaw: notional,
      },
      collateralRaw: heldRaw + pendingFeeRaw - funding,
      unrealizedRaw,
      debtRaw: debt,
    }
  })
}
