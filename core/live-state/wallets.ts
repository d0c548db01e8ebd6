import type { Chain, Checked, FeeOverrides, Plan } from '../contracts/index.ts'
import { SluiceError } from '../base/errors.ts'
import type { FollowedNetwork, Synchronisers } from './synchroniser.ts'
import { createStateSource } from './tracked-states.ts'

/** Checks plans by the wallets' balances, allowances and nonces in memory, on networks that are followed anyway. */
export interface WalletChecks {
  /**
   * What the network would answer. Undefined if the network has to be asked; what was missing in memory is loaded for the next check. Waits
   * for nothing.
   */
  checkFromCache(
    network: FollowedNetwork & { readonly chainImpl: Pick<Chain, 'rail'> },
    plan: Pick<Plan, 'steps' | 'needs'>,
    from: string,
    fees: FeeOverrides,
  ): Checked | undefined
}

/** Wallets on one network: every block is asked about each of them. */
const maxWallets = 100
const loadTimeoutMs = 15_000

/** @param idleSeconds wallets that were not used for so long make room for others */
export function createWalletChecks(following: Pick<Synchronisers, 'of'>, idleSeconds: number): WalletChecks {
  const usedAt = new Map<string, Map<string, number>>()

  /** Whether the wallet is followed, or there is room for it. */
  function use({ chain, network }: FollowedNetwork, wallet: string): boolean {
    const now = performance.now()
    const name = `${chain}/${network}`
    const used = usedAt.get(name) ?? new Map<string, number>()
    usedAt.set(name, used)
    for (const [each, at] of used) if (now - at > idleSeconds * 1000) used.delete(each)
    if (!used.has(wallet) && used.size >= maxWallets) return false
    used.set(wallet, now)
    return true
  }

  return {
    checkFromCache(on, { steps, needs }, from, fees) {
      const { chain, network, chainImpl } = on
      const { cachedChecks } = chainImpl.rail
      const synchroniser = following.of(on)
      const basis = synchroniser.tip && cachedChecks?.basis(steps, needs, from)
      if (!cachedChecks || !basis || !use(on, from)) return undefined
      const parts = basis.map(({ followed, ...part }) => ({ ...part, source: createStateSource({ chain, network }, followed) }))
      const bundle = synchroniser.bundle(parts)
      try {
        // States that are not in memory are loaded with the next block.
        const snapshot = bundle.peek()
        const checked = snapshot && cachedChecks.check(steps, needs, from, fees, snapshot.states, snapshot.head)
        if (!checked || !('missing' in checked)) return checked
        // If it fails, the next check asks the network too.
        bundle.loadMissing(checked.missing, { signal: AbortSignal.timeout(loadTimeoutMs) }).catch(() => {})
      } catch (error) {
        // There is no room for more states.
        if (!(error instanceof SluiceError)) throw error
      }
      return undefined
    },
  }
}
