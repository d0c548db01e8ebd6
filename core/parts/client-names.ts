// What conf/clients.yml names and this server does not know: said at the start, and when the file has changed.
import { unknownNames } from '../limits/unknown-names.ts'
import { certificateNames } from '../tls/certificates.ts'
import type { ServerParts } from './server-parts.ts'

export async function watchClientNames({ clients, registry, settings, log }: ServerParts): Promise<readonly string[]> {
  const read = async () =>
    unknownNames(clients.list, {
      connectors: registry.plugins.map(({ name }) => name),
      networks: registry.networks.map(({ chain, network, tokens }) => ({ chain, network, tokens: tokens.listed })),
      certificates: await certificateNames(settings.ssl.certsDir),
    })
  clients.onChange(() => void read().then((found) => found.forEach((each) => log.warn({ problem: each }, each))))
  return read()
}
