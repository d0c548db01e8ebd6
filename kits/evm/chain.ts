import {
  defineChain,
  type At,
  type Chain,
  type ChainPlugin,
  type ChainVenue,
  type EvmVerbs,
  type GasTerms,
  type Head,
  type Token,
} from '../../core/contracts/index.ts'
import { abortable } from '../../core/base/async.ts'
import { createHeadFeed } from '../nodes/head-feed.ts'
import { ask, type ReadRpc, type Rpc } from '../nodes/rpc.ts'
import { defaultPollingSeconds, defaultRequestTimeoutSeconds, refuseBadUrls } from '../nodes/settings.ts'
import { createChanges } from './changes.ts'
import { canonicalAddress, coinPlaceholder, isTransactionHash, nativeAddress } from './encoding.ts'
import { readCoinChanges, readCoinGain } from './coin-gain.ts'
import { createFeeOracle, defaultFeePolicy, min, type FeePolicy } from './fees.ts'
import { readGasPrices } from './gas-prices.ts'
import { limitFromGasUsed } from './gas-limit.ts'
import { noMulticall } from './multicall.ts'
import {
  defaultBumpAfterSeconds,
  defaultFeeCapGwei,
  evmChainSchema,
  gweiRaw,
  multicall3,
  type EvmChainConfig,
  type EvmNetwork,
} from './network.ts'
import { createRollupFees } from './op-stack.ts'
import { evmRail } from './rail.ts'
import { createReader } from './reader.ts'
import { createRecentBlocks } from './recent-blocks.ts'
import { decodeLogs, findTransaction, isUndone } from './receipts.ts'
import { evmRpc } from './rpc.ts'
import { approvalsIn, readAllowanceBefore, readExpiredAllowances } from './set-allowances.ts'
import { createSimulation } from './simulate.ts'
import { createStandingRights, revokeRight } from './standing-rights.ts'
import { gainsIn, movedIn, unwrappedBy } from './movements.ts'
import { createPermit2 } from './permit2.ts'
import { createApprovals, createWrapping, readBalances, noResult, decimalsCall, symbolCall, readToken } from './tokens.ts'
import { createWalletHistory } from './wallet-history.ts'
import { evm } from './family.ts'
import type { Evm } from './types.ts'

/** One network of an EVM chain, from its definition and the operator's settings. It connects on first use. */
export function evmChain({ chain, network, config, log, meter }: ChainVenue<EvmChainConfig>, definition: EvmNetwork): Chain<Evm> {
  const { chainId, multicall, blockSeconds, wrapped, coinIsToken = false } = definition
  const name = `${chain}/${network}`
  const confirmations = config.confirmations ?? definition.confirmations
  const { legacyFees: legacy = false, maxGas, rollup } = definition
  const feeCapRaw = gweiRaw(config.feeCap ?? definition.feeCapGwei ?? defaultFeeCapGwei)
  const { tipPercentile, minTip, ...settings } = config.feePolicy ?? {}
  const networkMinTipRaw = gweiRaw(definition.minTipGwei ?? 0)
  const minTipRaw = minTip === undefined ? networkMinTipRaw : gweiRaw(minTip)
  const feePolicy: FeePolicy = {
    baseFeeMultiplier: settings.baseFeeMultiplier ?? defaultFeePolicy.baseFeeMultiplier,
    minTipRaw,
    networkMinTipRaw: min(minTipRaw, networkMinTipRaw),
    legacy,
    bumpPercent: settings.bumpPercent ?? defaultFeePolicy.bumpPercent,
    minBumpPercent: definition.leastBumpPercent ?? defaultFeePolicy.minBumpPercent,
  }
  const nativeCurrency: Token = { symbol: definition.nativeCurrency, address: nativeAddress, decimals: 18, native: true }

  refuseBadUrls(name, config)
  const blockMs = blockSeconds * 1000
  const timeoutMs = (config.requestTimeoutSeconds ?? defaultRequestTimeoutSeconds) * 1000
  const { rpcUrls = [], sendUrls, privateUrls } = config
  const rpc = evmRpc({ rpcUrls, sendUrls, privateUrls, chainId, meter, log, timeoutMs, network: name })
  const blocks = createRecentBlocks(rpc, confirmations)
  const fees = createFeeOracle({ rpc, tipPercentile, minTipRaw, legacy, tipMs: blockMs, log, onBlock: blocks.recordHead })
  const rollupFees = rollup && createRollupFees(chainId)
  const changesBy = (own: ReadRpc) => createChanges(own, name, createRecentBlocks(own, confirmations).read)
  const reader = createReader({ rpc, changesBy, fees, rollup: rollupFees, definition, nativeCurrency, network: name })
  const pollingMs = (config.pollingSeconds ?? defaultPollingSeconds(blockSeconds)) * 1000
  const heads = createHeadFeed({ rpc, poll: () => fees.refresh(), pollingMs, log })

  async function tokens(addresses: readonly string[], at: At): Promise<readonly (Token | undefined)[]> {
    const calls = addresses.flatMap((address) => [symbolCall(address), decimalsCall(address)])
    const { results } = await reader.read(calls, at)
    return addresses.map((address, index) => readToken(address, results[2 * index] ?? noResult, results[2 * index + 1] ?? noResult))
  }
  const token = async (address: string, at: At): Promise<Token | undefined> => (await tokens([address], at))[0]

  /** By the quote's own reading. A quote from memory read nothing: then the last known fee serves for the time of a block, after which it is read. */
  function rollupFeeRaw(gasLimit: bigint, head: Head | undefined, at: At): bigint | Promise<bigint> {
    if (!rollupFees) return 0n
    const known = rollupFees.costRaw(gasLimit, head ? Number.POSITIVE_INFINITY : blockMs)
    if (known !== undefined) return known
    return reader.read([], at).then(() => rollupFees.costRaw(gasLimit, Number.POSITIVE_INFINITY) ?? 0n)
  }

  function gasTerms(units: bigint, head: Head | undefined, at: At): GasTerms | Promise<GasTerms> {
    const gasPriceRaw = fees.priceRaw(head)
    const limit = limitFromGasUsed(units)
    const gasLimit = maxGas === undefined ? limit : min(limit, maxGas)
    const costRaw = gasLimit * gasPriceRaw
    const rollupRaw = rollupFeeRaw(gasLimit, head, at)
    if (!(rollupRaw instanceof Promise)) return { gasLimit, gasPriceRaw, gasCostRaw: costRaw + rollupRaw }
    return rollupRaw.then((raw) => ({ gasLimit, gasPriceRaw, gasCostRaw: costRaw + raw }))
  }

  const coin = (coinIsToken ? wrapped : nativeCurrency).address
  const bumpAfterSeconds = settings.bumpAfterSeconds ?? defaultBumpAfterSeconds(blockSeconds)
  const rail = evmRail({
    rpc,
    chainId,
    network: name,
    nativeCurrency,
    multicall,
    confirmations,
    feeCapRaw,
    policy: feePolicy,
    maxGas,
    rollup,
    gasPaysLayer1: definition.gasPaysLayer1,
    gasLimitIsPaid: definition.gasLimitIsPaid,
    reserveBalance: definition.reserveBalance,
    reader,
    coinToken: coinIsToken ? wrapped.address : undefined,
    blocks,
    blockMs,
    tipFor: fees.tipFor,
    knownTipRaw: fees.tipRaw,
    token,
  })

  const approvals = createApprovals(rpc, reader)
  return {
    chainId,
    nativeCurrency: coinIsToken ? wrapped : nativeCurrency,
    coinAddresses: [nativeAddress, coinPlaceholder, ...(definition.coinAddresses ?? [])],
    reader,
    rail,
    local: definition.local ?? false,
    feeCapRaw,
    confirmations,
    bumpAfterSeconds,
    settings: {
      confirmations,
      feeCap: config.feeCap ?? definition.feeCapGwei ?? defaultFeeCapGwei,
      pollingSeconds: pollingMs / 1000,
      requestTimeoutSeconds: timeoutMs / 1000,
      feePolicy: {
        ...(tipPercentile !== undefined && { tipPercentile }),
        baseFeeMultiplier: feePolicy.baseFeeMultiplier,
        minTip: minTip ?? definition.minTipGwei ?? 0,
        bumpAfterSeconds,
        bumpPercent: feePolicy.bumpPercent,
      },
    },
    rpcUrl: () => rpc.url(),
    nodes: () => rpc.nodes(),
    address: canonicalAddress,
    isTransactionId: isTransactionHash,
    head: ({ signal }) => abortable(fees.refresh(), signal),
    heads,
    changes: createChanges(rpc, name, blocks.read),
    balances: (owner, held, at) => readBalances(reader, multicall, owner, held, at),
    token,
    tokens,
    gas: (units, head, at) => fees.warm(at)?.then(() => gasTerms(units, head, at)) ?? gasTerms(units, head, at),
    decode: decodeLogs,
    find: (id, at) => findTransaction(rpc, id.toLowerCase(), at),
    isUndone: (block, at) => isUndone(rpc, block, at),
    evm: {
      ...approvals,
      ...(!coinIsToken && { wrapped: createWrapping(wrapped) }),
      gasPrices: (at) => readGasPrices(rpc, feePolicy, at),
      permit2: createPermit2(reader, approvals.approve),
      simulate: createSimulation(rpc, { multicall, coin, blockSeconds, policy: feePolicy }),
      standing: createStandingRights(reader),
      revoke: revokeRight,
      ...minedReaders(rpc, { coin, wrapped: wrapped.address }, rollup !== undefined),
      history: createWalletHistory({
        rpc,
        multicall,
        wrapped: wrapped.address,
        coin: coinIsToken ? undefined : nativeAddress,
        isRollup: rollup !== undefined,
      }),
      expiredAllowances: (asked, at) => readExpiredAllowances(rpc, confirmations, asked, at),
    },
    async start(signal) {
      await abortable(fees.refresh(), signal)
      const code = await ask(rpc, 'eth_getCode', [multicall, 'latest'], { signal })
      if (code === '0x') throw noMulticall(name, multicall)
    },
    stop: () => rpc.stop(),
  }
}

/** What mined transactions did, by their receipts, and by what the node has of their blocks. */
function minedReaders(rpc: Rpc, tokens: { readonly coin: string; readonly wrapped: string }, isRollup: boolean): Partial<EvmVerbs<Evm>> {
  return {
    gains: (receipt, wallet) => gainsIn(receipt, wallet, tokens),
    coinGain: (receipt, wallet, at) => readCoinGain(rpc, receipt, wallet, isRollup, at),
    coinChanges: (asked, at) => readCoinChanges(rpc, asked, isRollup, at),
    unwrappedBy: (receipt, contract) => unwrappedBy(receipt, contract, tokens.wrapped),
    approvals: approvalsIn,
    allowanceBefore: (receipt, wallet, allowance, at) => readAllowanceBefore(rpc, receipt, wallet, allowance, at),
    moved: (receipt, sentRaw, wallet) => movedIn(receipt, sentRaw, wallet, tokens),
  }
}

/** One network in the table of a chain plugin. Its tokens are symbols of the plugin's `tokens.json`. */
export interface EvmNetworkTable extends Omit<EvmNetwork, 'wrapped' | 'intermediates' | 'multicall'> {
  /** First the token that wraps the native coin (with `coinIsToken`: that is the native coin), then those that routes usually pass through. */
  readonly tokens: readonly [string, ...string[]]
  /** The address of Multicall3, if it is not the usual one. */
  readonly multicall?: string
}

export interface EvmChainTables {
  /** Of the chain and of its folder. */
  readonly name: string
  /** The version of the plugin interface that the plugin is written for. */
  readonly apiVersion: string
  readonly version?: string
  readonly networks: Readonly<Record<string, EvmNetworkTable>>
  /** `tokens.json`, in the Uniswap Token Lists format. */
  readonly list: { readonly tokens: readonly ListedToken[] }
}

interface ListedToken {
  readonly chainId: number
  readonly address: string
  readonly symbol: string
  readonly decimals: number
}

/** A whole chain plugin, from a table of networks and a list of tokens. @throws Error if a network names a token that is not in the list */
export function evmChainPlugin({ name, apiVersion, version, networks, list }: EvmChainTables): ChainPlugin<Evm, EvmChainConfig> {
  const tables = new Map(Object.entries(networks).map(([network, table]) => [network, definitionOf(table, list.tokens)]))
  return defineChain({
    family: evm,
    manifest: {
      name,
      apiVersion,
      ...(version !== undefined && { version }),
      trading_type: [],
      available_networks: [{ chain: name, networks: [...tables.keys()] }],
      schema: evmChainSchema,
    },
    create(venue: ChainVenue<EvmChainConfig>): Chain<Evm> {
      const definition = tables.get(venue.network)
      if (!definition) throw new Error(`Chain ${name} has no network "${venue.network}": it has ${[...tables.keys()].join(', ')}.`)
      return evmChain(venue, definition)
    },
  })
}

function definitionOf({ tokens, ...table }: EvmNetworkTable, list: readonly ListedToken[]): EvmNetwork {
  const [first, ...others] = tokens
  const wrapped = tokenNamed(list, table.chainId, first)
  const intermediates = [wrapped, ...others.map((symbol) => tokenNamed(list, table.chainId, symbol))]
  return { multicall: multicall3, ...table, wrapped, intermediates }
}

function tokenNamed(list: readonly ListedToken[], chainId: number, symbol: string): Token {
  const found = list.find((token) => token.chainId === chainId && token.symbol === symbol)
  if (!found) throw new Error(`tokens.json has no ${symbol} for chain id ${chainId}.`)
  return { symbol, address: found.address, decimals: found.decimals }
}
