import { readAddress } from '../../../handlers/wallets.ts'
import { fromSigned, showLeverage, showMarginRatio } from '../../../handlers/perp/figures.ts'
import { perpOf } from '../../../handlers/perp/markets.ts'
import type { PerpVerb } from '../perp-verb.ts'

export const margin: PerpVerb<'Margin'> = async (request, { network, venue, signal }) => {
  const perp = perpOf(venue)
  const owner = readAddress(network, request.wallet_address, 'wallet_address')
  const { account, head } = await perp.account(owner, { signal })
  const { decimals, valueRaw, notionalRaw } = account
  const shown = {
    accountValue: fromSigned(valueRaw, decimals),
    freeCollateral: fromSigned(account.freeCollateralRaw, decimals),
    collateral: fromSigned(account.collateralRaw, decimals),
    initialMargin: fromSigned(account.initialMarginRaw, decimals),
    maintenanceMargin: fromSigned(account.maintenanceMarginRaw, decimals),
    marginRatio: showMarginRatio(valueRaw, notionalRaw),
    leverage: showLeverage(notionalRaw, valueRaw),
  }
  return { margin: shown, blockNumber: Number(head.number) }
}
