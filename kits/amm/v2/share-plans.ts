import { type Interface, id } from 'ethers'
import type { Json, Need, Plan, SharesAddition, SharesFill, SharesRemoval, SharesTerms } from '../../../core/contracts/index.ts'
import * as json from '../../../core/base/json.ts'
import { abiOf, isAddressTopic, isSameAddress, nativeAddress, wordAt, wordCount } from '../../evm/encoding.ts'
import type { Evm, EvmLog, EvmReceipt } from '../../evm/types.ts'
import { transferredRaw } from '../shares.ts'

interface SharesContracts {
  readonly router: string
  /** As it stands in the names of the router's functions: "ETH". */
  readonly coin: string
  /** The address of the wrapped coin. */
  readonly wrapped: string
}

const abis = new Map<string, Interface>()

/** UniswapV2Router02: forks on chains with another coin name functions after it. */
function sharesAbi(coin: string): Interface {
  const known = abis.get(coin)
  if (known) return known
  const [bounds, coinBounds] = ['uint256 amountAMin, uint256 amountBMin', `uint256 amountTokenMin, uint256 amount${coin}Min`]
  const end = 'address to, uint256 deadline'
  const abi = abiOf([
    `function addLiquidity(address tokenA, address tokenB, uint256 amountADesired, uint256 amountBDesired, ${bounds}, ${end})`,
    `function addLiquidity${coin}(address token, uint256 amountTokenDesired, ${coinBounds}, ${end}) payable`,
    `function removeLiquidity(address tokenA, address tokenB, uint256 liquidity, ${bounds}, ${end})`,
    `function removeLiquidity${coin}(address token, uint256 liquidity, ${coinBounds}, ${end})`,
  ])
  abis.set(coin, abi)
  return abi
}

/**
 * Beyond an estimate that was made in the second of the pool's last change: the first change in a later one writes both of its sums of prices,
 * and a swap in between has shares created for the protocol.
 */
const spareGas = '120000'

/** Which of two tokens is the coin. */
const coinIndex = (tokens: readonly string[], wrapped: string, native: boolean): number => (native ? tokens.indexOf(wrapped) : -1)

/** One call to the router. It offers exactly the expected amounts, so that the least amounts bound the price to both sides. */
export function planAdd(
  { router, coin, wrapped }: SharesContracts,
  { pool: { address: pool, tokens }, amountsRaw, minRaw }: SharesAddition,
  { owner, deadline, native }: SharesTerms,
): Plan<Evm> {
  const ofCoin = coinIndex(tokens, wrapped, native)
  const other = 1 - ofCoin
  const data =
    ofCoin < 0
      ? sharesAbi(coin).encodeFunctionData('addLiquidity', [...tokens, ...amountsRaw, ...minRaw, owner, deadline])
      : sharesAbi(coin).encodeFunctionData(`addLiquidity${coin}`, [
          tokens[other],
          amountsRaw[other],
          minRaw[other],
          minRaw[ofCoin],
          owner,
          deadline,
        ])
  const needs = tokens.flatMap((token, index): Need[] => {
    const amountRaw = amountsRaw[index] ?? 0n
    if (index === ofCoin) return [{ is: 'balance', token: nativeAddress, amountRaw }]
    return [
      { is: 'balance', token, amountRaw },
      { is: 'allowance', token, amountRaw, spender: router },
    ]
  })
  const memo: SharesMemo = { is: 'add', router, pool, owner, tokens, ofCoin }
  return { steps: [{ to: router, data, value: (amountsRaw[ofCoin] ?? 0n).toString(), spareGas }], needs, deadline, memo }
}

/** One call to the router, which takes the shares. */
export function planRemove(
  { router, coin, wrapped }: SharesContracts,
  { pool: { address: pool, tokens }, sharesRaw, minRaw }: SharesRemoval,
  { owner, deadline, native }: SharesTerms,
): Plan<Evm> {
  const ofCoin = coinIndex(tokens, wrapped, native)
  const other = 1 - ofCoin
  const data =
    ofCoin < 0
      ? sharesAbi(coin).encodeFunctionData('removeLiquidity', [...tokens, sharesRaw, ...minRaw, owner, deadline])
      : sharesAbi(coin).encodeFunctionData(`removeLiquidity${coin}`, [
          tokens[other],
          sharesRaw,
          minRaw[other],
          minRaw[ofCoin],
          owner,
          deadline,
        ])
  const memo: SharesMemo = { is: 'remove', router, pool, owner, tokens, ofCoin }
  return {
    steps: [{ to: router, data, value: '0', spareGas }],
    needs: [
      { is: 'balance', token: pool, amountRaw: sharesRaw },
      { is: 'allowance', token: pool, amountRaw: sharesRaw, spender: router },
    ],
    deadline,
    memo,
  }
}

/** What `sharesFill` needs to find a change in a receipt. All strings but `is` are addresses. */
const sharesMemo = json.object({
  is: json.literal('add', 'remove'),
  router: json.string,
  pool: json.string,
  owner: json.string,
  tokens: json.array(json.string),
  /** The index of the token that was paid as the coin, by the router; -1 for none. */
  ofCoin: json.number,
})
type SharesMemo = json.Infer<typeof sharesMemo>

const mintTopic = id('Mint(address,uint256,uint256)')
const burnTopic = id('Burn(address,uint256,uint256,address)')

/**
 * What was really done, from the receipt's logs. Pairs log a change when it is done, so a change that a token's own code makes in between is
 * logged before ours, and logs are searched backward. Undefined where the receipt does not show it.
 */
export function sharesFill({ status, logs }: EvmReceipt, memo: Json): SharesFill | undefined {
  if (status !== 1 || !json.is(sharesMemo, memo)) return undefined
  const { router, pool, owner, tokens, ofCoin } = memo
  const isAdded = memo.is === 'add'
  const end = logs.findLastIndex(
    ({ address, topics: [topic, sender, to] }) =>
      topic === (isAdded ? mintTopic : burnTopic) &&
      isSameAddress(address, pool) &&
      isAddressTopic(sender, router) &&
      (isAdded || isAddressTopic(to, ofCoin < 0 ? owner : router)),
  )
  const before = logs.slice(0, Math.max(end, 0))
  const sharesRaw = isAdded ? transferredRaw(before, pool, nativeAddress, owner) : transferredRaw(before, pool, owner, pool)
  const amounts = tokens.map((token, index) =>
    isAdded ? transferredRaw(before, token, index === ofCoin ? router : owner, pool) : paidRaw(logs[end], index),
  )
  const amountsRaw = amounts.filter((each) => each !== undefined)
  return sharesRaw === undefined || amountsRaw.length < tokens.length ? undefined : { sharesRaw, amountsRaw }
}

/** The pair's own log says what it paid of each token. */
const paidRaw = (log: EvmLog | undefined, index: number): bigint | undefined =>
  log && wordCount(log.data) > index ? wordAt(log.data, index) : undefined
