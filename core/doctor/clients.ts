import type { Settings } from '../config/settings.ts'
import { tradingWallets } from '../devnet/trading-wallets.ts'
import { listWallets } from '../wallet/keystore.ts'
import type { Finding } from './finding.ts'

/** Wallets that a client may use and nobody holds: probably misspelt, and the client would only be told that they are not its own. */
export function examineClients({ clients, data, devnet }: Settings): Finding[] {
  const held = [...listWallets(data.dir).map(({ address }) => address), ...(devnet.enabled ? tradingWallets : [])]
  const known = new Set(held.map((address) => address.toLowerCase()))
  return clients.flatMap(({ name, wallets }) =>
    (wallets === 'all' ? [] : wallets)
      .filter((address) => !known.has(address.toLowerCase()))
      .map((address): Finding => ({
        part: 'clients',
        state: 'warn',
        what: `${name} may use ${address}, and the server holds no such wallet.`,
        cure: 'Correct it in conf/clients.yml, or add the wallet with `bin/sluice wallet add`.',
      })),
  )
}
