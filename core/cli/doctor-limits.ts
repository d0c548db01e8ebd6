// What `sluice doctor` says of conf/limits.yml, of a server without a signer service.
import type { KnownNetwork } from '../config/known-names.ts'
import { shownLimitsFile } from '../config/limits-file.ts'
import { ConfigError, describeProblem } from '../config/problems.ts'
import { devnetNetwork, type Settings } from '../config/settings.ts'
import { tradingWallets } from '../devnet/anvil.ts'
import { listWallets } from '../keys/keystore.ts'
import { servedLimits } from '../wallet/signing-networks.ts'
import type { Finding } from './output.ts'

/** Whether the limits of wallets are right, read and counted, and against whom they hold. */
export function examineLimits(settings: Settings, networks: readonly KnownNetwork[]): Finding[] {
  const { confDir } = settings
  const part = 'limits'
  try {
    const keys = opensKeystoreAlone(settings) ? { wallets: () => heldWallets(settings), locked: () => [] } : undefined
    const served = servedLimits(settings, networks, keys)
    if (!served) return []
    const doubtful = served.doubtful.map((what): Finding => ({
      part,
      state: 'warn',
      what,
      remedy: `Correct it in ${shownLimitsFile(confDir)}, and restart the server.`,
    }))
    if (served.withoutCount !== undefined) return [{ part, state: 'bad', what: served.withoutCount }, ...doubtful]
    const bounded = Object.entries(served.limits).map(([wallet, on]) => `${wallet} on ${Object.keys(on).join(', ')}`)
    return [
      { part, state: 'good', what: `The signer bounds by ${shownLimitsFile(confDir)}: ${bounded.join('; ')}.` },
      ...doubtful,
      {
        part,
        state: 'warn',
        what: "That does not hold against a server that was taken over: the signer and its count are the same user's as the server.",
        remedy: 'Run the signer as a user of its own: docs/operators/signer.md.',
      },
    ]
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return error.problems.map(({ remedy, ...problem }): Finding => {
      const [what = ''] = describeProblem({ ...problem, remedy }).split('\n')
      return { part, state: 'bad', what, remedy }
    })
  }
}

/** Wallets of other sources are known once they are opened. */
const opensKeystoreAlone = ({ wallet }: Settings): boolean => wallet.keySources.every(({ kind }) => kind === 'keystore')

const heldWallets = ({ data, devnet }: Settings): { readonly chain: string; readonly address: string }[] => [
  ...listWallets(data.dir),
  ...(devnet.enabled ? tradingWallets.map((address) => ({ chain: devnetNetwork.chain, address })) : []),
]
