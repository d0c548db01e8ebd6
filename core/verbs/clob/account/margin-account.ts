import type { MarginToken } from '../../../contracts/index.ts'
import type { Verb } from '../../../handlers/context.ts'
import { readAddress } from '../../../handlers/wallets.ts'
import { bookOf } from '../book-type.ts'
import { plain } from '../figures/exact.ts'

export const marginAccount: Verb<'CLOBMarginAccount'> = async (request, { network, venue, signal }) => {
  const account = await bookOf('MARGIN_CLOB', venue).account(readAddress(network, request.address), { signal })
  return {
    mode: account.mode,
    sharedWith: [...account.sharedWith],
    equity: plain(account.equity),
    collateral: plain(account.collateral),
    borrowed: plain(account.borrowed),
    freeCollateral: plain(account.freeCollateral),
    initialMargin: plain(account.initialMargin),
    maintenanceMargin: plain(account.maintenanceMargin),
    marginRatio: plain(account.marginRatio ?? '0'),
    tokens: Object.fromEntries(account.tokens.map((token) => [token.symbol, showToken(token)])),
  }
}

const showToken = ({ deposited, borrowed, available, borrowRate, borrowCap }: MarginToken) => ({
  deposited: plain(deposited),
  borrowed: plain(borrowed),
  available: plain(available),
  borrowRate: plain(borrowRate),
  ...(borrowCap !== undefined && { borrowCap: plain(borrowCap) }),
})
