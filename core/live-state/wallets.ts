import { SluiceError } from '../api/index.ts'
import type { Checked, FeeWish, Plan } from '../contracts/index.ts'
import type { Following, FollowedNetwork } from './synchroniser.ts'
import { createStateSource } from './tracked-states.ts'

/** Checks of plans by what is in memory of wallets, on networks of which something is followed in any case. */
export interface WalletChecks {
  /** What the network would say; undefined where it must be asked. What was not in memory is there the next time. Waits for nothing. */
  checkFromCache(site: FollowedNetwork, plan: Pick<Plan, 'steps' | 'needs'>, from: string, wish: FeeWish): Checked | undefined
}

/** On one network: of each something is asked at every block. */
const mostWallets = 100
const loadMs = 15_000

/** @param idleSeconds after so long a wallet is not followed any more */
export function createWalletChecks(following: Pick<Following, 'of'>, idleSeconds: number): WalletChecks {
  const usedAt = new Map<string, Map<string, number>>()

  /** Whether there is room for it among those that were used lately. */
  function use({ chain, network }: FollowedNetwork, wallet: string): boolean {
    const now = performance.now()
    const name = `${chain}/${network}`
    const used = usedAt.get(name) ?? new Map<string, number>()
    usedAt.set(name, used)
    for (const [each, at] of used) if (now - at > idleSeconds * 1000) used.delete(each)
    if (!used.has(wallet) && used.size >= mostWallets) return false
    used.set(wallet, now)
    return true
  }

  return {
    checkFromCache(site, { steps, needs }, from, wish) {
      const { chain, network, chainImpl } = site
      const { recall } = chainImpl.rail
      const synchroniser = following.of(site)
      const basis = synchroniser.tip && recall?.basis(steps, needs, from)
      if (!recall || !basis || !use(site, from)) return undefined
      const parts = basis.map(({ followed, ...part }) => ({ ...part, source: createStateSource({ chain, network }, followed) }))
      const bundle = synchroniser.bundle(parts)
      try {
        // What is not in memory yet is read with the next block.
        const view = bundle.peek()
        const found = view && recall.check(steps, needs, from, wish, view.states, view.head)
        if (!found || !('wanting' in found)) return found
        // Whatever comes of it: who comes next asks the network where it is not there.
        bundle.loadMissing(found.wanting, { signal: AbortSignal.timeout(loadMs) }).catch(() => {})
      } catch (error) {
        // There is no room for more states.
        if (!(error instanceof SluiceError)) throw error
      }
      return undefined
    },
  }
}
