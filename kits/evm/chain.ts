import { SluiceError } from '../../core/contracts/index.ts'
import type { At, Chain, ChainVenue, GasTerms, Head, Token } from '../../core/contracts/index.ts'
import { ask } from '../../core/kits/nodes/ask.ts'
import { createHeadFeed } from '../nodes/head-feed.ts'
import { defaultPollingSeconds, defaultRequestTimeoutSeconds, refuseBadUrls } from '../nodes/settings.ts'
import { withSignal } from '../../core/kits/nodes/with-signal.ts'
import { canonicalAddress, isTransactionHash, nativeAddress } from '../../core/kits/evm/address.ts'
import { createApprovals } from './tokens.ts'
import { createChanges } from './changes.ts'
import { readBalances, noResult } from '../../core/kits/evm/reading/balances.ts'
import { defaultBumpAfterSeconds, defaultFeeCapGwei, gweiRaw } from '../../core/kits/evm/chain-config.ts'
import type { EvmChainConfig } from '../../core/kits/evm/chain-config.ts'
import { decodeLogs } from '../../core/kits/evm/reading/decode-logs.ts'
import { decimalsCall, symbolCall } from '../../core/kits/evm/reading/erc20.ts'
import { createFees } from './fee-oracle.ts'
import { findTransaction } from '../../core/kits/evm/reading/find-transaction.ts'
import type { EvmNetwork } from './network.ts'
import { evmRail } from './rail.ts'
import { defaultFeePolicy, min } from './fees.ts'
import type { FeePolicy } from './fees.ts'
import { createReader } from './reader.ts'
import { createRollupFees } from '../../core/kits/evm/reading/rollup-fees.ts'
import { evmRpc } from './rpc.ts'
import { readToken } from '../../core/kits/evm/reading/token-metadata.ts'
import type { Evm } from './types.ts'
import { limitFromUsed } from './gas-limit.ts'

/** One network of an EVM chain, from what is true of it and what the operator set. Connects on first use. */
export function evmChain({ chain, network, config, log, meter }: ChainVenue<EvmChainConfig>, definition: EvmNetwork): Chain<Evm> {
  const { chainId, multicall, blockSeconds, wrapped, coinIsToken = false } = definition
  const name = `${chain}/${network}`
  const confirmations = config.confirmations ?? definition.confirmations
  const { legacyFees: legacy = false, mostGas, rollup } = definition
  const feeCapRaw = gweiRaw(config.feeCap ?? definition.feeCapGwei ?? defaultFeeCapGwei)
  const { tipPercentile, minTip, ...wished } = config.feePolicy ?? {}
  const theirMinTipRaw = gweiRaw(definition.minTipGwei ?? 0)
  const minTipRaw = minTip === undefined ? theirMinTipRaw : gweiRaw(minTip)
  const feePolicy: FeePolicy = {
    baseFeeMultiplier: wished.baseFeeMultiplier ?? defaultFeePolicy.baseFeeMultiplier,
    minTipRaw,
    leastTipRaw: min(minTipRaw, theirMinTipRaw),
    legacy,
    bumpPercent: wished.bumpPercent ?? defaultFeePolicy.bumpPercent,
    leastBumpPercent: definition.leastBumpPercent ?? defaultFeePolicy.leastBumpPercent,
  }
  const nativeCurrency: Token = { symbol: definition.nativeCurrency, address: nativeAddress, decimals: 18, native: true }

  refuseBadUrls(name, config)
  const blockMs = blockSeconds * 1000
  const timeoutMs = (config.requestTimeoutSeconds ?? defaultRequestTimeoutSeconds) * 1000
  const rpc = evmRpc({ rpcUrls: config.rpcUrls ?? [], sendUrls: config.sendUrls, chainId, meter, log, timeoutMs, network: name })
  const fees = createFees({ rpc, tipPercentile, minTipRaw, legacy, tipMs: blockMs, log })
  const rollupFees = rollup && createRollupFees(chainId)
  const reader = createReader({ rpc, fees, rollup: rollupFees, definition, nativeCurrency, network: name })
  const pollingMs = (config.pollingSeconds ?? defaultPollingSeconds(blockSeconds)) * 1000
  const heads = createHeadFeed({ poll: () => fees.refresh(), behind: (number) => rpc.behind(number), pollingMs, log })

  async function token(address: string, at: At): Promise<Token | undefined> {
    const { results } = await reader.read([symbolCall(address), decimalsCall(address)], at)
    return readToken(address, results[0] ?? noResult, results[1] ?? noResult)
  }

  /** Of a quote's own reading; only where nothing was read for it is it asked for, and the last one serves for the time of a block. */
  function rollupFeeRaw(gasLimit: bigint, head: Head | undefined, at: At): bigint | Promise<bigint> {
    if (!rollupFees) return 0n
    const known = rollupFees.costRaw(gasLimit, head ? Number.POSITIVE_INFINITY : blockMs)
    if (known !== undefined) return known
    return reader.read([], at).then(() => rollupFees.costRaw(gasLimit, Number.POSITIVE_INFINITY) ?? 0n)
  }

  function gasTerms(units: bigint, head: Head | undefined, at: At): GasTerms | Promise<GasTerms> {
    const gasPriceRaw = fees.priceRaw(head)
    const wanted = limitFromUsed(units)
    const gasLimit = mostGas === undefined ? wanted : min(wanted, mostGas)
    const costRaw = gasLimit * gasPriceRaw
    const rollupRaw = rollupFeeRaw(gasLimit, head, at)
    if (!(rollupRaw instanceof Promise)) return { gasLimit, gasPriceRaw, gasCostRaw: costRaw + rollupRaw }
    return rollupRaw.then((raw) => ({ gasLimit, gasPriceRaw, gasCostRaw: costRaw + raw }))
  }

  const rail = evmRail({
    rpc,
    chainId,
    network: name,
    nativeCurrency,
    multicall,
    confirmations,
    feeCapRaw,
    policy: feePolicy,
    mostGas,
    rollup,
    gasPaysLayer1: definition.gasPaysLayer1,
    gasLimitIsPaid: definition.gasLimitIsPaid,
    reader,
    coinToken: coinIsToken ? wrapped.address : undefined,
    tipFor: fees.tipFor,
    knownTipRaw: fees.tipRaw,
    token,
  })

  return {
    chainId,
    nativeCurrency: coinIsToken ? wrapped : nativeCurrency,
    reader,
    rail,
    local: definition.local ?? false,
    feeCapRaw,
    confirmations,
    bumpAfterSeconds: wished.bumpAfterSeconds ?? defaultBumpAfterSeconds(blockSeconds),
    rpcUrl: () => rpc.url(),
    nodes: () => rpc.nodes(),
    address: canonicalAddress,
    isTransactionId: isTransactionHash,
    head: ({ signal }) => withSignal(fees.refresh(), signal),
    heads,
    changes: createChanges(rpc, name),
    balances: (owner, tokens, at) => readBalances(reader, multicall, owner, tokens, at),
    token,
    gas: (units, head, at) => fees.warm(at)?.then(() => gasTerms(units, head, at)) ?? gasTerms(units, head, at),
    decode: decodeLogs,
    find: (id, at) => findTransaction(rpc, id.toLowerCase(), at),
    evm: createApprovals(rpc, reader),
    async start(signal) {
      await withSignal(fees.refresh(), signal)
      const code = await ask(rpc, 'eth_getCode', [multicall, 'latest'], { signal })
      if (code === '0x')
        throw new SluiceError('NETWORK', `${name} has no Multicall3 at ${multicall}, which Sluice reads by: check rpcUrls.`)
    },
    stop: () => rpc.stop(),
  }
}
