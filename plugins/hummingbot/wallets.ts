// Wallets: those that the certificate may use. Keys never go by this interface, and come where the operator accepts them.
import { badFields, interfacePath, SluiceError, Type, type InterfaceCall, type InterfacePath, type ListenerConfig } from 'sluice/interface'
import { ownWallet, preferenceOf, type Preferences } from './defaults.ts'
import type { Networks } from './networks.ts'

const asked = {
  chain: Type.Optional(Type.String()),
  address: Type.Optional(Type.String()),
  privateKey: Type.Optional(Type.Unknown()),
}
const Message = Type.Object({ message: Type.String() })

export function walletPaths(networks: Networks, { keys }: Pick<ListenerConfig, 'keys'>): InterfacePath[] {
  const refused = (method: InterfacePath['method'], path: string, summary: string, why: string) =>
    interfacePath({
      method,
      path,
      summary,
      request: Type.Object(asked),
      response: Message,
      secrets: ['privateKey'],
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
        const [wallets, set] = await Promise.all([walletsByChain(networks, call), call.preferences.read()])
        return [...wallets].map(([chain, addresses]) => {
          const first = defaultOf(chain, addresses, set)
          const others = [...addresses].filter((address) => address !== first)
          return { chain, walletAddresses: first === undefined ? others : [first, ...others], hardwareWalletAddresses: [] }
        })
      },
    }),
    keys === 'accept' ? addPath(networks) : refused('POST', '/wallet/add', 'Refused: keys do not travel.', keyWords),
    refused('POST', '/wallet/add-hardware', 'Refused: where signatures come from is the operator’s.', hardwareWords),
    refused(
      'DELETE',
      '/wallet/remove',
      'Refused: wallets are the operator’s.',
      'Wallets are removed on the server: sluice wallet remove <address>',
    ),
    interfacePath({
      method: 'POST',
      path: '/wallet/setDefault',
      summary: 'Sets the wallet of requests that name none, for this client alone.',
      permission: 'trade',
      request: Type.Object({ chain: Type.String({ maxLength: 64 }), address: Type.String({ maxLength: 256 }) }),
      response: Type.Object({ message: Type.String(), chain: Type.String(), address: Type.String() }),
      async answer({ chain, address: asked }, call) {
        const address = await setDefaultWallet(chain, asked, networks, call)
        return { message: `${address} is the default wallet of this client on ${chain}.`, chain, address }
      },
    }),
  ]
}

const addPath = (networks: Networks): InterfacePath =>
  interfacePath({
    method: 'POST',
    path: '/wallet/add',
    summary: 'Keeps a private key, for all networks of the chain: it is never given back.',
    permission: 'trade',
    secrets: ['privateKey'],
    request: Type.Object({ chain: Type.String({ maxLength: 64 }), privateKey: Type.String(), setDefault: Type.Optional(Type.Boolean()) }),
    response: Type.Object({ message: Type.String(), address: Type.String() }),
    async answer({ chain, setDefault = false }, call) {
      networks.defaultOf(chain)
      const here = (await networks.here(call)).filter((each) => each.chain === chain)
      if (here.length === 0) throw badFields([{ field: 'chain', problem: `"${chain}" has no network on this server` }])
      const address = await call.addKey('privateKey', [...new Set(here.map(({ own }) => own.chain))])
      if (setDefault) await setDefaultWallet(chain, address, networks, call)
      return { message: `${address} trades from now on. Its key is in the keystore of this server.`, address }
    },
  })

const keyWords =
  'This server takes no private keys over the network: what was sent is not stored. Type on the server, for each chain that the wallet trades on: sluice wallet add --chain <chain>. Then give its address to this client in conf/clients.yml, and restart the server.'
const hardwareWords =
  'This server adds no hardware wallet over the network. An operator names a source of signatures in wallet.keySources of conf/server.yml, and gives its address to this client in conf/clients.yml.'

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

/** What was set, or the first; undefined where there is none, or what was set is not among them any more: another one is not used in its place. */
function defaultOf(chain: string, wallets: ReadonlySet<string>, set: Preferences): string | undefined {
  const [first] = wallets
  const own = ownWallet(chain, set)
  return own === undefined ? first : spelt(own, wallets)
}

/** As it is listed. */
const spelt = (address: string, wallets: ReadonlySet<string>): string | undefined =>
  [...wallets].find((each) => walletKey(each) === walletKey(address))

/** The same text for all spellings of a wallet, in what makes two requests equal: of EVM chains one address has several. */
export const walletKey = (address: string): string => (/^0x/i.test(address) ? address.toLowerCase() : address)

/** Of the caller's wallets on one of Hummingbot's chains. */
export async function defaultWallet(chain: string, networks: Networks, call: InterfaceCall): Promise<string | undefined> {
  const [wallets, set] = await Promise.all([walletsByChain(networks, call), call.preferences.read()])
  return defaultOf(chain, wallets.get(chain) ?? new Set(), set)
}

/** @returns it as it is listed @throws SluiceError INCOMPLETE_PARAMS, LOAD_WALLET */
export async function setDefaultWallet(chain: string, address: string, networks: Networks, call: InterfaceCall): Promise<string> {
  networks.defaultOf(chain)
  const known = spelt(address, (await walletsByChain(networks, call)).get(chain) ?? new Set())
  if (known === undefined)
    throw new SluiceError('LOAD_WALLET', `${address} is no wallet of this client on ${chain}: GET /wallet lists those that it may use.`)
  await call.preferences.set(preferenceOf(chain, 'defaultWallet'), known)
  return known
}

/** The wallet of a request, or the default. @throws SluiceError LOAD_WALLET */
export async function walletOf(address: string | undefined, chain: string, networks: Networks, call: InterfaceCall): Promise<string> {
  const wallet = address ?? (await defaultWallet(chain, networks, call))
  if (wallet !== undefined) return wallet
  const own = ownWallet(chain, await call.preferences.read())
  throw new SluiceError(
    'LOAD_WALLET',
    own === undefined
      ? `This client has no wallet on ${chain}: an operator adds one in conf/clients.yml.`
      : `${own}, the default wallet of this client on ${chain}, is not among its wallets any more: set another one (/wallet/setDefault), or name one.`,
  )
}
