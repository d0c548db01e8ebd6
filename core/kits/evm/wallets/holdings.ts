import type { Followed, KnownOf } from '../../../contracts/index.ts'
import { allowanceCall, balanceOfCall, uintOf } from '../reading/erc20.ts'
import type { Evm, EvmReader } from '../../../../kits/evm/types.ts'
import { addressInTopic } from '../../../../kits/evm/encoding.ts'
import { afterTokenLog } from './after-token-log.ts'
import { approvalTopic, depositTopic, transferTopic, walletFollow, withdrawalTopic } from './wallet-logs.ts'

/** What a wallet has of a token, and what others may take of it: by what was logged since it was read, never more than that. */
export interface Holding {
  /** In lower case, as all addresses here. */
  readonly owner: string
  readonly token: string
  readonly balanceRaw: bigint
  /** By spender. */
  readonly allowances: ReadonlyMap<string, bigint>
}

export const isHolding = (state: unknown): state is Holding => typeof state === 'object' && state !== null && 'allowances' in state

export interface Holdings {
  /** By owner and token. `about` and `more` are spenders. */
  readonly followed: Followed<Evm, Holding>
  keyOf(owner: string, token: string): string
  /** Whether wallets were found to have less of a token than it logged: its logs are not to be relied on. */
  isUntold(token: string): boolean
}

const keyOf = (owner: string, token: string) => `${owner.toLowerCase()}/${token.toLowerCase()}`

function partsOf(key: string): { owner: string; token: string } {
  const [owner = '', token = ''] = key.split('/')
  return { owner, token }
}

export function createHoldings(reader: Pick<EvmReader, 'read' | 'wrapped'>): Holdings {
  const wrapped = reader.wrapped.address.toLowerCase()
  const untold = new Set<string>()

  const followed: Followed<Evm, Holding> = {
    follow: [],
    followOf: (key) => [walletFollow(partsOf(key).owner)],
    emitters: (keys) => keys.map((key) => partsOf(key).token),
    keysOf({ address, topics: [event, one, other] }) {
      if (event === transferTopic) return [...new Set([one, other].map((party) => keyOf(addressInTopic(party), address)))]
      const isOwners = event === approvalTopic || event === depositTopic || event === withdrawalTopic
      return isOwners ? [keyOf(addressInTopic(one), address)] : []
    },
    async load(keys, after, at, known) {
      const wanted = keys.map((key) => ({ key, ...partsOf(key), spenders: spendersIn(known?.get(key)) }))
      const calls = wanted.flatMap(({ owner, token, spenders }) => [
        balanceOfCall(token, owner),
        ...spenders.map((spender) => allowanceCall(token, owner, spender)),
      ])
      const { head, results } = await reader.read(calls, at, after)
      // What has no balances holds none.
      const amounts = results.map((result) => uintOf(result) ?? 0n).values()
      const next = () => amounts.next().value ?? 0n
      const states = wanted.map(({ key, owner, token, spenders }): [string, Holding] => {
        const balanceRaw = next()
        return [key, { owner, token, balanceRaw, allowances: new Map(spenders.map((spender) => [spender, next()])) }]
      })
      return { head, states: new Map(states) }
    },
    apply: (holding, log) => afterTokenLog(holding, log, wrapped),
    same(known, loaded) {
      const isCovered = (spender: string, raw: bigint) => raw <= (loaded.allowances.get(spender) ?? raw)
      return known.balanceRaw <= loaded.balanceRaw && [...known.allowances].every(([spender, raw]) => isCovered(spender, raw))
    },
    foundWrong: ({ token }) => void untold.add(token),
  }
  return { followed, keyOf, isUntold: (token) => untold.has(token.toLowerCase()) }
}

function spendersIn(known: KnownOf | undefined): readonly string[] {
  const said = known ? [known.about, ...known.more] : []
  return [...new Set(said.flatMap((each) => (typeof each === 'string' ? [each.toLowerCase()] : [])))]
}
