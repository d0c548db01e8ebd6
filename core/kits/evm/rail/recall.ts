import { SluiceError } from '../../../contracts/index.ts'
import type { FeeWish, Head, Need, Recall } from '../../../contracts/index.ts'
import type { EvmIntent, EvmReader } from '../../../../kits/evm/types.ts'
import { followedAccounts, isAccount } from '../../../../kits/evm/wallets.ts'
import { createHoldings, isHolding } from '../wallets/holdings.ts'
import { besideOf } from '../../../../kits/evm/check.ts'
import { checkWish, costOf, feesOf, priceFees } from '../../../../kits/evm/fees.ts'
import type { EvmFees, PricedFees } from '../../../../kits/evm/fees.ts'
import type { GasTable } from './gas-table.ts'
import { nativeAddress } from './needs.ts'
import type { EvmRailOptions } from '../../../../kits/evm/rail.ts'
import type { EvmSynced } from '../../../../kits/evm/nonces.ts'

/** One call that is like some that were simulated, by a wallet whose coins, tokens and nonces are in memory. */
export function createRecall(
  options: EvmRailOptions,
  gasTable: Pick<GasTable, 'limitOf'>,
  reader: Pick<EvmReader, 'read' | 'wrapped'>,
): Recall<EvmIntent, string, EvmSynced, EvmFees> {
  const accounts = followedAccounts(options.rpc)
  const holdings = createHoldings(reader)

  /** As the network would be asked now; undefined where it would refuse: that it may say itself. */
  function priceAt({ baseFeeRaw }: Head, wish: FeeWish): PricedFees | undefined {
    const { policy, feeCapRaw, knownTipRaw } = options
    const tipRaw = knownTipRaw?.()
    if (tipRaw === undefined || (baseFeeRaw === undefined && !policy.legacy)) return undefined
    try {
      checkWish(wish, feeCapRaw)
      return priceFees(wish, undefined, { baseFeeRaw: policy.legacy ? 0n : (baseFeeRaw ?? 0n), tipRaw, policy, feeCapRaw })
    } catch (error) {
      if (error instanceof SluiceError) return undefined
      throw error
    }
  }

  return {
    basis(steps, needs, from) {
      if (steps.length !== 1 || !steps[0]?.alike) return undefined
      if (needs.some(({ is, token }) => is === 'allowance-at-most' || token === options.coinToken || holdings.isUntold(token)))
        return undefined
      return [
        { followed: accounts, key: from.toLowerCase() },
        ...tokensOf(needs).map((token) => ({
          followed: holdings.followed,
          key: holdings.keyOf(from, token),
          about: spenderOf(needs, token),
        })),
      ]
    },

    check([step], needs, from, wish, [account, ...held], head) {
      const limit = step && gasTable.limitOf(step, from)
      const price = priceAt(head, wish)
      // What was not read after this very block may be older than that.
      if (!step || limit === undefined || !price || !isAccount(account) || account.number !== head.number) return undefined
      const { nativeRaw, latest, pending } = account
      const tokens = tokensOf(needs)
      const wanting = needs.flatMap((need) => {
        if (need.token === nativeAddress) return []
        const index = tokens.indexOf(need.token)
        if (bears(held[index], need)) return []
        return [{ index: index + 1, more: need.is === 'balance' ? null : need.spender }]
      })
      if (wanting.length > 0) return { wanting }
      const prepared = { step, ...feesOf(limit, price, options.policy) }
      const neededRaw = costOf(step, prepared.fees)
      const coinsRaw = needs.flatMap((need) => (need.token === nativeAddress ? need.amountRaw : []))
      if ([neededRaw, ...coinsRaw].some((raw) => nativeRaw < raw)) return undefined
      return { prepared: [prepared], synced: { latest, pending }, beside: besideOf(options, nativeRaw, neededRaw) }
    },
  }
}

const tokensOf = (needs: readonly Need[]) => [...new Set(needs.map(({ token }) => token))].filter((token) => token !== nativeAddress)

const spenderOf = (needs: readonly Need[], token: string) =>
  needs.flatMap((need) => (need.is === 'allowance' && need.token === token ? [need.spender] : []))[0]

/** What is in memory is never more than there is: that an allowance is small enough is not known by it. */
function bears(holding: unknown, need: Need): boolean {
  if (!isHolding(holding) || need.is === 'allowance-at-most') return false
  const raw = need.is === 'balance' ? holding.balanceRaw : holding.allowances.get(need.spender.toLowerCase())
  return raw !== undefined && raw >= need.amountRaw
}
