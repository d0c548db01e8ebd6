// What is doubtful in conf/limits.yml by all that this server knows: said at each start. What is wrong in it is no start.
import { hasCount, withoutCount } from '../wallet/limits/count-file.ts'
import { unboundWallets } from '../wallet/signing.ts'
import { doubtfulByServer, readSigningLimits } from '../wallet/signing-networks.ts'
import type { ServerParts } from './server-parts.ts'

/** Sentences for the operator. Nothing where the signer is a service: it goes by a file of its own, and says this itself. */
export function doubtfulWalletLimits({
  settings: {
    confDir,
    data,
    signer: { socket },
  },
  registry,
  signer,
}: ServerParts): readonly string[] {
  if (socket !== undefined) return []
  const { limits } = readSigningLimits(confDir)
  const wallets = Object.keys(limits).length
  if (wallets === 0) return []
  const networks = registry.networks.map(({ chain, network, tokens }) => ({ chain, network, tokens: tokens.listed }))
  return [...(hasCount(data.dir) ? [] : [withoutCount(wallets)]), ...unboundWallets(limits, signer), ...doubtfulByServer(confDir, networks)]
}
