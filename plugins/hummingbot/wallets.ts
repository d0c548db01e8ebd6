// Wallets: those that the certificate may use. Keys never come or go by this interface.
import { interfacePath, SluiceError, Type, type InterfaceCall, type InterfacePath } from 'sluice/interface'
import type { Networks } from './networks.ts'

const asked = { chain: Type.Optional(Type.String()), address: Type.Optional(Type.String()) }
const Message = Type.Object({ message: Type.String() })

export function walletPaths(networks: Networks): InterfacePath[] {
  const refused = (method: InterfacePath['method'], path: string, summary: string, why: string) =>
    interfacePath({
      method,
      path,
      summary,
      request: Type.Object(asked),
      response: Message,
      answer() {
        throw new SluiceError('FORBIDDEN', why)
      },
    })
  return [
    interfacePath({
      method: 'GET',
      path: '/wallet',
      summary: 'The wallets that the certificate may use, by chain.',
      permission: 'read',
      request: Type.Object({ showHardware: Type.Optional(Type.String()) }),
      response: Type.Array(
        Type.Object({
          chain: Type.String(),
          walletAddresses: Type.Array(Type.String()),
          hardwareWalletAddresses: Type.Array(Type.String()),
        }),
      ),
      async answer(_, call) {
        const wallets = await walletsByChain(networks, call)
        return [...wallets].map(([chain, addresses]) => ({ chain, walletAddresses: [...addresses], hardwareWalletAddresses: [] }))
      },
    }),
    refused('POST', '/wallet/add', 'Refused: keys do not travel.', keyWords),
    refused('POST', '/wallet/add-hardware', 'Refused: keys do not travel.', keyWords),
    refused(
      'DELETE',
      '/wallet/remove',
      'Refused: wallets are the operator’s.',
      'Wallets are removed on the server: sluice wallet remove <address>',
    ),
    refused(
      'POST',
      '/wallet/setDefault',
      'Refused: the default is the first wallet of the certificate.',
      'The default wallet is the first that /wallet lists; name another one in each request.',
    ),
  ]
}

const keyWords =
  'This server takes no private keys over the network: what was sent is not stored. Add the wallet on the server: sluice wallet add <chain>, and give it to this client in conf/clients.yml.'

/** By Hummingbot's chain. One address may be of several chains here. */
async function walletsByChain(networks: Networks, { call }: InterfaceCall): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const found = new Map<string, Set<string>>()
  for (const { chain: own, address } of await call('Wallet', {})) {
    const chain = networks.chainOf(own)
    if (chain === undefined) continue
    const known = found.get(chain)
    if (known) known.add(address)
    else found.set(chain, new Set([address]))
  }
  return found
}

/** The first of the caller's wallets on one of Hummingbot's chains. */
export async function defaultWallet(chain: string, networks: Networks, call: InterfaceCall): Promise<string | undefined> {
  const [first] = (await walletsByChain(networks, call)).get(chain) ?? []
  return first
}

/** The wallet of a request, or the default. @throws SluiceError LOAD_WALLET */
export async function walletOf(address: string | undefined, chain: string, networks: Networks, call: InterfaceCall): Promise<string> {
  const wallet = address ?? (await defaultWallet(chain, networks, call))
  if (wallet !== undefined) return wallet
  throw new SluiceError('LOAD_WALLET', `This client has no wallet on ${chain}: an operator adds one in conf/clients.yml.`)
}
