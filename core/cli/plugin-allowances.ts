// What spenders of a plugin may still take from the wallets, as a running server reads it from the chain, and how that is taken back.
import * as Type from 'typebox'
import * as Value from 'typebox/value'
import type { LockedPlugin } from '../config/lock.ts'
import type { ServerClient } from './server-client.ts'

/** A spender that a wallet may have approved. */
export interface Approvable {
  readonly chain: string
  readonly network: string
  readonly address: string
  readonly spender: string
}

export interface Allowance extends Approvable {
  /** Its address. */
  readonly token: string
  readonly symbol: string
  /** A decimal string. */
  readonly amount: string
}

interface WalletName {
  readonly chain: string
  readonly address: string
}

/** Whether it has spenders on EVM chains. */
export const hasSpenders = ({ networks }: LockedPlugin): boolean =>
  Object.values(networks).some(({ spenders }) => spenders.some((each) => each.startsWith('0x')))

/** The wallets of the running server that its certificate may use. @throws Error where the server does not say */
export const walletsOf = async (server: ServerClient): Promise<readonly WalletName[]> =>
  (await answer(server, '/wallet', {}, Wallets)) ?? []

/** Every wallet with every spender of the plugin, on EVM chains. */
export const approvableOf = ({ networks }: LockedPlugin, wallets: readonly WalletName[]): Approvable[] =>
  Object.entries(networks).flatMap(([on, { spenders }]) => {
    const [chain = '', network = ''] = on.split('/')
    const evm = spenders.filter((each) => each.startsWith('0x'))
    const distinct = [...new Map(wallets.map((each) => [`${each.chain} ${each.address.toLowerCase()}`, each])).values()]
    return distinct.flatMap(({ chain: own, address }) =>
      own === chain && address.startsWith('0x') ? evm.map((spender) => ({ chain, network, address, spender })) : [],
    )
  })

/** The same record with those of its spenders alone that the next one has not, on the networks where that is so. */
export const droppedSpenders = (before: LockedPlugin, next: Pick<LockedPlugin, 'networks'>): LockedPlugin => ({
  ...before,
  networks: Object.fromEntries(
    Object.entries(before.networks).map(([on, network]) => {
      const kept = new Set(next.networks[on]?.spenders.map((each) => each.toLowerCase()))
      return [on, { ...network, spenders: network.spenders.filter((each) => !kept.has(each.toLowerCase())) }]
    }),
  ),
})

const Wallets = Type.Array(Type.Object({ chain: Type.String(), address: Type.String() }))
const Tokens = Type.Array(Type.Object({ symbol: Type.String(), address: Type.String() }))
const Approvals = Type.Object({ approvals: Type.Record(Type.String(), Type.String()) })
/** More than any list has on one network is asked in several requests, whose addresses have to fit into a URL. */
const tokensAtOnce = 100

/**
 * The allowances that are not 0, of the tokens in the networks' lists.
 * @throws Error where the server cannot be reached, or does not say
 */
export async function standingAllowances(server: ServerClient, all: readonly Approvable[]): Promise<Allowance[]> {
  const found: Allowance[] = []
  for (const each of all) {
    const { chain, network, address, spender } = each
    const listed = (await answer(server, '/network/tokens', { chain, network }, Tokens)) ?? []
    // The coin itself needs no allowance.
    const tokens = listed.filter((token) => !/^0x0{40}$/.test(token.address))
    const ask = async (some: typeof tokens): Promise<void> => {
      const tokenSymbols = some.map((token) => token.address).join(',')
      const query = { chain, network, address, spender, tokenSymbols }
      const approvals = (await answer(server, '/evm/allowances', query, Approvals, { none: 404 }))?.approvals
      if (approvals === undefined && some.length > 1) {
        // One of them is in the list and no token here.
        const half = Math.ceil(some.length / 2)
        for (const part of [some.slice(0, half), some.slice(half)]) await ask(part)
      }
      for (const { address: token, symbol } of some) {
        const amount = approvals?.[token] ?? '0'
        if (/[1-9]/.test(amount)) found.push({ ...each, token, symbol, amount })
      }
    }
    for (let from = 0; from < tokens.length; from += tokensAtOnce) await ask(tokens.slice(from, from + tokensAtOnce))
  }
  return found
}

async function answer<T extends Type.TSchema>(
  server: ServerClient,
  path: string,
  query: Readonly<Record<string, string>>,
  schema: T,
  { none }: { none?: number } = {},
): Promise<Type.Static<T> | undefined> {
  const { status, text } = await server.get(path, query)
  if (status === none) return undefined
  const read: unknown = status === 200 ? JSON.parse(text) : undefined
  if (Value.Check(schema, read)) return read
  throw new Error(`The server did not say what is allowed (${path}, ${status}): ${text.slice(0, 300)}`)
}

/** The request that takes an allowance back. */
export const revocationOf = ({ chain, network, address, spender, token }: Omit<Allowance, 'symbol' | 'amount'>) => ({
  chain,
  network,
  address,
  spender,
  token,
  amount: '0',
})

/** @returns the hash of the transaction @throws Error with what the server says */
export async function revoke(server: ServerClient, allowance: Allowance): Promise<string> {
  const { status, text } = await server.post('/evm/approve', revocationOf(allowance))
  const read: unknown = status === 200 ? JSON.parse(text) : undefined
  if (Value.Check(Type.Object({ txHash: Type.String() }), read)) return read.txHash
  throw new Error(`The server did not revoke ${allowance.symbol} (${status}): ${text.slice(0, 300)}`)
}
