import { responseKey } from '../live-state/token-book.ts'
import type { NetworkStatusResponse } from '../api/index.ts'
import { withTimeout } from '../base/async.ts'
import { maskedCopy } from '../config/mask.ts'
import { didYouMean } from '../config/problems.ts'
import { mergeOver, type Section } from '../config/tree.ts'
import { fromRaw } from '../base/decimal.ts'
import { SluiceError } from '../base/errors.ts'
import { isObject } from '../base/json.ts'
import { printable } from '../base/printable.ts'
import type { Handler, Handlers } from './context.ts'
import { originalOf } from '../live-state/looks.ts'
import { findNetworks, isInUse, type NetworkEntry } from '../plugins/index.ts'
import { unavailableTokens } from './tokens.ts'
import { readAddress } from './wallets.ts'

/**
 * The time that each network has to answer, so that one that is down does not delay the others. Its nodes go on until their own timeouts,
 * so that what is wrong with them is logged once.
 */
const deadlineMs = 3_000
const noAnswer = `No answer within ${deadlineMs / 1000} s.`

const networkStatus: Handler<'NetworkStatus'> = async ({ chain, network, inUse }, { services: { registry }, signal }) =>
  networkStatuses(
    findNetworks(registry, { chain, network }).filter((each) => inUse !== true || isInUse(each)),
    signal,
  )

/** Also for the summary of `sluice start`. */
export const networkStatuses = (networks: readonly NetworkEntry[], signal: AbortSignal): Promise<NetworkStatusResponse> =>
  Promise.all(networks.map((each) => statusOf(each, signal)))

async function statusOf({ chain, network, impl, whyAway }: NetworkEntry, signal: AbortSignal): Promise<NetworkStatusResponse[number]> {
  const known = { chain, network, rpcUrl: impl.rpcUrl(), nativeCurrency: impl.nativeCurrency.symbol }
  const down = (error: string) => ({
    ...known,
    currentBlockNumber: -1,
    currentBlockSeconds: -1,
    error: whyAway?.() ?? error,
    ...nodesOf(impl),
  })
  try {
    const head = await withTimeout(impl.head({ signal }), deadlineMs, () => undefined)
    if (!head) return down(noAnswer)
    const age = Math.max(0, Math.floor(Date.now() / 1000 - head.timestamp))
    return { ...known, rpcUrl: impl.rpcUrl(), currentBlockNumber: Number(head.number), currentBlockSeconds: age, ...nodesOf(impl) }
  } catch (cause) {
    return down(cause instanceof SluiceError ? cause.message : noAnswer)
  }
}

/** A plugin that fails at it keeps nobody from the rest. */
function nodesOf(impl: NetworkEntry['impl']): Pick<NetworkStatusResponse[number], 'nodes'> {
  try {
    const nodes = impl.nodes?.()
    return nodes
      ? {
          nodes: nodes.map((node) => ({
            ...node,
            ...(node.trouble !== undefined && { trouble: printable(node.trouble) }),
          })),
        }
      : {}
  } catch {
    return {}
  }
}

/** The configuration of a chain's networks, with the defaults of core and of the chain's family. */
function inForce(shown: Readonly<Record<string, unknown>>, networks: readonly NetworkEntry[]): Section {
  return Object.fromEntries(
    Object.entries(shown).map(([network, given]) => {
      const entry = networks.find((each) => each.network === network)
      if (!entry || !isObject(given)) return [network, given]
      const defaults = mergeOver({ required: false, enabled: true, tokenLists: [] }, maskedCopy({ ...entry.impl.settings }, new Map()))
      return [network, mergeOver(defaults, given)]
    }),
  )
}

const networkChainConfig: Handler<'NetworkChainConfig'> = async ({ chain }, { services: { registry } }) => {
  const chains = registry.plugins.filter(({ kind, state }) => kind === 'chain' && state === 'loaded')
  const plugin = chains.find(({ name }) => name === chain)
  if (plugin)
    return inForce(
      plugin.maskedConfig ?? {},
      registry.networks.filter((each) => each.chain === chain),
    )

  const names = chains.map(({ name }) => name)
  throw new SluiceError('UNKNOWN_CHAIN_ERROR', `There is no chain "${chain}"${didYouMean(chain, names)}.`)
}

const networkTokens: Handler<'NetworkTokens'> = async ({ tokenSymbols }, { network: { chain, network, tokens }, signal }) => {
  const found = tokenSymbols === undefined ? tokens.listed : await tokens.resolveAll(tokenSymbols, 'tokenSymbols', { signal })
  return found.map((token) => {
    const { symbol, address, decimals } = token
    const original = originalOf(token, tokens.listed)
    return { chain, network, symbol, address, decimals, ...(original && { impostorOf: original.address }) }
  })
}

const networkBalances: Handler<'NetworkBalances'> = async ({ address, tokenSymbols }, { network, signal }) => {
  const at = { signal }
  const owner = readAddress(network, address)
  const asked = await network.tokens.resolveEach(tokenSymbols, 'tokenSymbols', at)
  const raws = await network.impl.balances(
    owner,
    asked.found.map(({ token }) => token),
    at,
  )
  return {
    ...unavailableTokens(asked, (i) => raws[i]),
    balances: Object.fromEntries(
      asked.found.flatMap(({ name, token }, i) => {
        const raw = raws[i]
        return raw === undefined ? [] : [[responseKey(name, token), fromRaw(raw, token.decimals)]]
      }),
    ),
  }
}

export const networkHandlers = {
  NetworkStatus: networkStatus,
  NetworkChainConfig: networkChainConfig,
  NetworkTokens: networkTokens,
  NetworkBalances: networkBalances,
} satisfies Partial<Handlers>
