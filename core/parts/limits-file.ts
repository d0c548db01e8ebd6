// What is doubtful in conf/limits.yml by all that this server knows: said at each start. What is wrong in it is no start.
import { servedLimits } from '../wallet/signing-networks.ts'
import type { ServerParts } from './server-parts.ts'

/** Sentences for the operator. Nothing where the signer is a service: it goes by a file of its own, and says this itself. */
export function doubtfulWalletLimits({ settings, registry, signer }: ServerParts): readonly string[] {
  if (settings.signer.socket !== undefined) return []
  const networks = registry.networks.map(({ chain, network, tokens }) => ({ chain, network, tokens: tokens.listed }))
  const { withoutCount, doubtful = [] } = servedLimits(settings, networks, signer) ?? {}
  return withoutCount === undefined ? doubtful : [withoutCount, ...doubtful]
}
