// The log, and what the operator is told at the start.
import type { Logger } from 'pino'
import { describeClosed } from '../config/clients.ts'
import { createLog } from '../config/log.ts'
import { pluginWarnings } from '../plugins/index.ts'
import { servedLimits } from '../wallet/signing-networks.ts'
import { notAllowedYet } from './plugins.ts'
import type { ServerParts } from './server-parts.ts'
import { keptThinWarnings } from './storage.ts'

export function openLog({ settings }: ServerParts): Logger {
  const log = createLog({ settings })
  for (const { closed, ...why } of settings.closed) log.error(why, `a right in conf is wrong: ${closed}`)
  return log
}

/**
 * What is doubtful in conf/limits.yml by all that this server knows; what is wrong in it is no start. Nothing where the signer is a service: it goes by
 * a file of its own, and says this itself.
 */
export function doubtfulWalletLimits({ settings, registry, signer }: ServerParts): readonly string[] {
  if (settings.signer.socket !== undefined) return []
  const networks = registry.networks.map(({ chain, network, tokens }) => ({ chain, network, tokens: tokens.listed }))
  const { withoutCount, doubtful = [] } = servedLimits(settings, networks, signer) ?? {}
  return withoutCount === undefined ? doubtful : [withoutCount, ...doubtful]
}

/** For the operator; none of them stopped the start. */
export const startWarnings = ({ settings, clients, clientNames, walletLimits, plugins, allowed, signer }: ServerParts): string[] => [
  ...settings.closed.map((each) => `${describeClosed(each)} ${each.remedy}`),
  ...settings.warnings,
  ...clientNames,
  ...walletLimits,
  ...keptThinWarnings(settings, clients.list),
  ...pluginWarnings(settings, plugins),
  ...notAllowedYet(allowed.tried),
  ...signer.locked(),
]
