// What conf/clients.yml names and this server does not know: said at the start, and when the file has changed.
import { unknownNames, unknownReferences } from '../limits/unknown-names.ts'
import { certificateNames } from '../tls/issued-certificates.ts'
import type { ServerParts } from './server-parts.ts'
import { reasonOf } from '../base/errors.ts'

export async function watchClientNames({ clients, registry, settings, signer, log }: ServerParts): Promise<readonly string[]> {
  const networks = () => registry.networks.map(({ chain, network, tokens }) => ({ chain, network, tokens: tokens.listed }))
  // Where keys are locked nobody knows which they are.
  const wallets = () => (signer.locked().length > 0 ? undefined : signer.wallets().map(({ address }) => address))
  const read = async () => {
    const held = wallets()
    return unknownNames(clients.list, {
      connectors: registry.plugins.map(({ name }) => name),
      networks: networks(),
      certificates: await certificateNames(settings.ssl.certsDir),
      ...(held && { wallets: held }),
    })
  }
  const tell = (found: readonly string[]) => found.forEach((each) => log.warn({ problem: each }, each))
  // Who changes the file is warned, and a folder that cannot be read for that ends no server.
  const notRead = (error: unknown) => log.warn({ reason: reasonOf(error) }, 'What conf/clients.yml names could not be looked up')
  clients.onChange(() => void read().then(tell, notRead))
  return [...unknownReferences(settings.limits.referenceTokens, networks()), ...(await read())]
}
