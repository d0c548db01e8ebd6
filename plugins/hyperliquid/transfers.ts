import { word } from 'sluice/evm'
import type { Evm } from 'sluice/evm'
import { badFields, SluiceError } from 'sluice/plugin'
import type { At, BridgePlan, Plan, Token } from 'sluice/plugin'
import type { Ask } from './api.ts'
import { compare, ofRaw } from './decimal.ts'
import type { Listed } from './markets.ts'
import { isShared, readMode } from './accounts/account-mode.ts'
import { requireDollar } from './accounts/dollars.ts'

/** deposit(uint256 amount, uint32 destinationDex): https://developers.circle.com/cctp/references/coredepositwallet-contract-interface */
const depositSelector = '0x2b2dfd2c'
/** Where it is credited, by the same page: the largest uint32 is the spot account. */
const dexes = { perp: 0n, spot: 2n ** 32n - 1n } as const

/**
 * Of a new account's first deposit the exchange keeps so much: https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/activation-gas-fee
 * and `newCoreAccountFee` of https://github.com/circlefin/hyperevm-circle-contracts/blob/master/src/CoreDepositWallet.sol. Of no more than that
 * nothing would be left.
 */
const newAccountFee = '1'
/** "If you send an amount less than this, it will not be credited and be lost forever": https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/bridge2 */
const leastBridged = '5'

interface Depositing {
  readonly ask: Ask
  readonly user: string
  readonly kind: Listed['kind']
}

/**
 * From HyperEVM, by the contract that keeps what is at the exchange. Where the spot account and the perpetual one share what they have, that is
 * in spot.
 * @throws SluiceError UNSUPPORTED, INCOMPLETE_PARAMS
 */
export async function depositFromEvm(
  { ask, user, kind }: Depositing,
  token: Token,
  amountRaw: bigint,
  { tokens, coreDepositWallet }: { readonly tokens: readonly Token[]; readonly coreDepositWallet: string },
  at: At,
): Promise<Plan<Evm>> {
  requireDollar(token, tokens)
  if (compare(ofRaw(amountRaw, token.decimals), newAccountFee) <= 0)
    throw badFields([
      { field: 'amount', problem: `must be more than ${newAccountFee}: that is what the exchange keeps of a new account's first deposit` },
    ])
  const dex = kind === 'perp' && !isShared(await readMode(ask, user, at)) ? dexes.perp : dexes.spot
  const { address } = token
  return {
    steps: [{ to: coreDepositWallet, data: `${depositSelector}${word(amountRaw)}${word(dex)}`, value: '0' }],
    needs: [
      { is: 'balance', token: address, amountRaw },
      { is: 'allowance', token: address, spender: coreDepositWallet, amountRaw },
    ],
    memo: null,
  }
}

/**
 * Over the bridge, which credits the perpetual account, or the one that both share.
 * @throws SluiceError UNSUPPORTED, INCOMPLETE_PARAMS
 */
export async function depositOverBridge({ ask, user, kind }: Depositing, token: Token, amountRaw: bigint, at: At): Promise<BridgePlan> {
  if (compare(ofRaw(amountRaw, token.decimals), leastBridged) < 0)
    throw badFields([{ field: 'amount', problem: `must be at least ${leastBridged}: the bridge does not credit less, and keeps it` }])
  if (kind === 'spot' && !isShared(await readMode(ask, user, at)))
    throw new SluiceError(
      'UNSUPPORTED',
      "What comes over the bridge is credited to the perpetual account: deposit at /clob/perp/deposit, or leave fromChain out to deposit from the exchange's own chain.",
    )
  return { via: 'bridge' }
}
