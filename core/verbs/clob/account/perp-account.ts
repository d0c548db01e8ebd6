import { showLeverage, showMarginRatio } from '../../../handlers/perp/figures.ts'
import { readAddress } from '../../../handlers/wallets.ts'
import { bookOf } from '../book-type.ts'
import type { BookVerb } from '../book-verb.ts'
import { inOneScale, plain } from '../figures/exact.ts'

export const perpAccount: BookVerb<'Account'> = async (request, { network, venue, signal }) => {
  const account = await bookOf('PERP_CLOB', venue).account(readAddress(network, request.address), { signal })
  const { aRaw: valueRaw, bRaw: notionalRaw } = inOneScale(account.accountValue, account.notional)
  return {
    accountValue: plain(account.accountValue),
    freeCollateral: plain(account.freeCollateral),
    collateral: plain(account.collateral),
    initialMargin: plain(account.initialMargin),
    maintenanceMargin: plain(account.maintenanceMargin),
    marginRatio: showMarginRatio(valueRaw, notionalRaw),
    leverage: showLeverage(notionalRaw, valueRaw),
  }
}
