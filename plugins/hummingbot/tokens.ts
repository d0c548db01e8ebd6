// The token list of a network.
import { interfacePath, SluiceError, Type, type InterfaceCall, type InterfacePath } from 'sluice/interface'
import { networkFields, type NamedNetwork, type Networks } from './networks.ts'

const Token = Type.Object({ symbol: Type.String(), address: Type.String(), decimals: Type.Number(), name: Type.String() })
const byAddress = Type.Object({ ...networkFields, address: Type.String({ minLength: 1, maxLength: 256 }) })
const Saved = Type.Object({ message: Type.String(), token: Token })

const shown = ({ symbol, address, decimals }: { symbol: string; address: string; decimals: number }) => ({
  symbol,
  address,
  decimals,
  name: symbol,
})

export function tokenPaths(networks: Networks): InterfacePath[] {
  return [
    interfacePath({
      method: 'GET',
      path: '/tokens',
      summary: 'The tokens of a network.',
      permission: 'read',
      request: Type.Object({ ...networkFields, search: Type.Optional(Type.String({ maxLength: 256 })) }),
      response: Type.Object({ tokens: Type.Array(Token) }),
      async answer({ search = '', ...request }, { call }) {
        const wanted = search.toLowerCase()
        const listed = await call('NetworkTokens', networks.of(request).own)
        return { tokens: listed.filter(({ symbol, address }) => `${symbol} ${address}`.toLowerCase().includes(wanted)).map(shown) }
      },
    }),
    interfacePath({
      method: 'POST',
      path: '/tokens',
      summary: 'Adds a token to the list, which no symbol and no address of it then means another.',
      permission: 'admin',
      request: Type.Object({
        ...networkFields,
        token: Type.Object({
          address: Type.String(),
          symbol: Type.Optional(Type.String()),
          decimals: Type.Optional(Type.String({ pattern: '^\\d{1,3}$' })),
        }),
      }),
      response: Saved,
      answer: async ({ token: { address, symbol, decimals }, ...request }, call) =>
        saved(networks.of(request), call, {
          token: address,
          ...(symbol !== undefined && { symbol }),
          ...(decimals !== undefined && { decimals: Number(decimals) }),
        }),
    }),
    interfacePath({
      method: 'GET',
      path: '/tokens/find/:address',
      summary: 'A token by its address, listed or not.',
      permission: 'read',
      request: byAddress,
      response: Token,
      answer: async ({ address, ...request }, { call }) =>
        shown(await call('NetworkToken', { ...networks.of(request).own, token: address })),
    }),
    interfacePath({
      method: 'POST',
      path: '/tokens/save/:address',
      summary: 'Adds a token to the list, as its contract names it.',
      permission: 'admin',
      request: byAddress,
      response: Saved,
      answer: async ({ address, ...request }, call) => saved(networks.of(request), call, { token: address }),
    }),
    interfacePath({
      method: 'GET',
      path: '/tokens/:symbolOrAddress',
      summary: 'A token by its symbol or address.',
      permission: 'read',
      request: Type.Object({ ...networkFields, symbolOrAddress: Type.String({ minLength: 1, maxLength: 256 }) }),
      response: Type.Object({ token: Token, chainNetwork: Type.String() }),
      async answer({ symbolOrAddress, ...request }, { call }) {
        const { own, chainNetwork } = networks.of(request)
        const [token] = await call('NetworkTokens', { ...own, tokenSymbols: [symbolOrAddress] })
        if (!token) throw new SluiceError('TOKEN_NOT_SUPPORTED', `There is no token ${symbolOrAddress} on ${chainNetwork}.`)
        return { token: shown(token), chainNetwork }
      },
    }),
    interfacePath({
      method: 'DELETE',
      path: '/tokens/:address',
      summary: 'Refused: the list is the operator’s.',
      permission: 'read',
      request: byAddress,
      response: Type.Object({ message: Type.String() }),
      answer({ address }) {
        throw new SluiceError('FORBIDDEN', `${address} stays on the list: the operator of this server takes tokens out, in conf/tokens.`)
      },
    }),
  ]
}

interface NewToken {
  readonly token: string
  readonly symbol?: string
  readonly decimals?: number
}

async function saved({ own }: NamedNetwork, { call }: InterfaceCall, token: NewToken) {
  const answer = await call('NetworkTokensAdd', { ...own, ...token })
  const { symbol } = answer
  return { message: answer.added ? `${symbol} was added to the list.` : `${symbol} was on the list before.`, token: shown(answer) }
}
