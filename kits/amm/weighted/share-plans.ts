import { AbiCoder } from 'ethers'
import type { Json, Need, Plan, SharesAddition, SharesFill, SharesRemoval, SharesTerms } from '../../../core/contracts/index.ts'
import * as json from '../../../core/base/json.ts'
import { abiOf, isAddressTopic, isSameAddress, listAt, nativeAddress, toInt256 } from '../../evm/encoding.ts'
import type { Evm, EvmReceipt } from '../../evm/types.ts'
import { transferredRaw } from '../shares.ts'
import { poolAddress, vaultTopics } from './pools.ts'

// IVault of npm @balancer-labs/v2-deployments 3.2.0 (tasks/20210418-vault/abi/Vault.json).
const vaultAbi = abiOf([
  `function joinPool(
    bytes32 poolId, address sender, address recipient,
    (address[] assets, uint256[] maxAmountsIn, bytes userData, bool fromInternalBalance) request
  ) payable`,
  `function exitPool(
    bytes32 poolId, address sender, address recipient,
    (address[] assets, uint256[] minAmountsOut, bytes userData, bool toInternalBalance) request
  )`,
])

const coder = AbiCoder.defaultAbiCoder()
// JoinKind and ExitKind of WeightedPoolUserDataHelpers, npm @balancer-labs/v2-pool-weighted 2.0.1.
const [exactTokensInForShares, exactSharesIn] = [1n, 1n]

/** What tells a pool that these amounts are added for at least so many shares. */
export const exactTokensIn = (amountsRaw: readonly bigint[], minSharesRaw: bigint): string =>
  coder.encode(['uint256', 'uint256[]', 'uint256'], [exactTokensInForShares, amountsRaw, minSharesRaw])

/**
 * Beyond an estimate: after a swap that comes in between, the change pays the protocol its part of the fees, or creates shares for it, and a pool
 * with an oracle writes a sample.
 */
const spareGas = '150000'

interface VaultContracts {
  readonly vault: string
  /** Of the pool. */
  readonly id: string
  /** The address of the wrapped coin. */
  readonly wrapped: string
}

/** The Vault wraps and unwraps the coin itself: the zero address stands for it. */
const assetsOf = (tokens: readonly string[], wrapped: string, native: boolean): readonly string[] =>
  tokens.map((token) => (native && token === wrapped ? nativeAddress : token))

/** One call to the Vault, which takes all of the amounts; the pool enforces the least shares. The plan names no deadline. */
export function planJoin(
  { vault, id, wrapped }: VaultContracts,
  { pool: { tokens }, amountsRaw, minSharesRaw }: SharesAddition,
  { owner, native }: SharesTerms,
): Plan<Evm> {
  const assets = assetsOf(tokens, wrapped, native)
  const userData = exactTokensIn(amountsRaw, minSharesRaw)
  const data = vaultAbi.encodeFunctionData('joinPool', [id, owner, owner, [assets, amountsRaw, userData, false]])
  const needs = assets.flatMap((token, index): Need[] => {
    const amountRaw = amountsRaw[index] ?? 0n
    if (amountRaw === 0n) return []
    if (token === nativeAddress) return [{ is: 'balance', token, amountRaw }]
    return [
      { is: 'balance', token, amountRaw },
      { is: 'allowance', token, amountRaw, spender: vault },
    ]
  })
  const value = amountsRaw[assets.indexOf(nativeAddress)] ?? 0n
  const memo: SharesMemo = { is: 'join', vault, id, owner }
  return { steps: [{ to: vault, data, value: value.toString(), spareGas }], needs, memo }
}

/** One call to the Vault, which enforces the least amounts; the pool burns the shares without an allowance. The plan names no deadline. */
export function planExit(
  { vault, id, wrapped }: VaultContracts,
  { pool: { tokens, shareToken }, sharesRaw, minRaw }: SharesRemoval,
  { owner, native }: SharesTerms,
): Plan<Evm> {
  const userData = coder.encode(['uint256', 'uint256'], [exactSharesIn, sharesRaw])
  const request = [assetsOf(tokens, wrapped, native), minRaw, userData, false]
  const data = vaultAbi.encodeFunctionData('exitPool', [id, owner, owner, request])
  const memo: SharesMemo = { is: 'exit', vault, id, owner }
  return {
    steps: [{ to: vault, data, value: '0', spareGas }],
    needs: [{ is: 'balance', token: shareToken, amountRaw: sharesRaw }],
    memo,
  }
}

/** What `sharesFill` needs to find a change in a receipt. */
const sharesMemo = json.object({ is: json.literal('join', 'exit'), vault: json.string, id: json.string, owner: json.string })
type SharesMemo = json.Infer<typeof sharesMemo>

/**
 * What was really done: the amounts by the Vault's log, the shares by the last transfer of theirs before it. Undefined where the receipt does not
 * show it.
 */
export function sharesFill({ status, logs }: EvmReceipt, memo: Json): SharesFill | undefined {
  if (status !== 1 || !json.is(sharesMemo, memo)) return undefined
  const { is, vault, id, owner } = memo
  const end = logs.findLastIndex(
    ({ address, topics: [topic, pool = '', provider] }) =>
      topic === vaultTopics.balanceChanged && isSameAddress(address, vault) && isSameAddress(pool, id) && isAddressTopic(provider, owner),
  )
  const log = logs[end]
  if (!log) return undefined
  const [payer, payee] = is === 'join' ? [nativeAddress, owner] : [owner, nativeAddress]
  const sharesRaw = transferredRaw(logs.slice(0, end), poolAddress(id), payer, payee)
  const deltas = listAt(log.data, 1).map(toInt256)
  return sharesRaw === undefined ? undefined : { sharesRaw, amountsRaw: deltas.map((each) => (each < 0n ? -each : each)) }
}
