import { AbiCoder, Interface, MaxUint256, getCreateAddress, toQuantity } from 'ethers'
import { readArtifact } from '../../core/devnet/build-state.ts'
import type { Rpc } from '../../core/devnet/anvil.ts'
import { addresses } from '../devnet/addresses.ts'

export interface NodeCall {
  readonly to?: string
  readonly data: string
  readonly gas: number
  readonly value?: bigint
}

export type ManyPairs = Awaited<ReturnType<typeof openManyPairs>>

/** Nobody's, and no bot's: the node signs for it. */
export const maker = '0x00000000000000000000000000000000000a11ce'
const { router } = addresses.exchanges.uniswap
const abi = new Interface([
  'function mint(address to, uint256 value)',
  'function approve(address spender, uint256 value)',
  'function addLiquidity(address,address,uint256,uint256,uint256,uint256,address,uint256)',
  'function swapExactTokensForTokens(uint256 amountIn, uint256 amountOutMin, address[] path, address to, uint256 deadline)',
])
const ether = 10n ** 18n
const plentyWei = 2n ** 100n
const maxGas = { deployment: 2_000_000, pair: 4_000_000, call: 300_000, block: 2 ** 31 }
const inABlock = 250

/**
 * Tokens of our own, all with 18 decimals, and a real pair of Uniswap's between each two of them, made in a few large blocks. From then on
 * the node makes no blocks but those that are asked for here.
 */
export async function openManyPairs(rpc: Rpc, count: number) {
  await rpc('evm_setIntervalMining', 0)
  await rpc('evm_setAutomine', false)
  await rpc('evm_setBlockGasLimit', toQuantity(maxGas.block))
  await rpc('anvil_impersonateAccount', maker)
  await rpc('anvil_setBalance', maker, toQuantity(plentyWei))
  let nonce = Number(await rpc('eth_getTransactionCount', maker, 'latest'))

  /** All of it in one block, in this order. Gives its number. */
  async function block(calls: readonly NodeCall[]): Promise<number> {
    await Promise.all(
      calls.map(({ to, data, gas, value = 0n }, index) =>
        rpc('eth_sendTransaction', {
          from: maker,
          ...(to !== undefined && { to }),
          data,
          gas: toQuantity(gas),
          value: toQuantity(value),
          nonce: toQuantity(nonce + index),
        }),
      ),
    )
    nonce += calls.length
    await rpc('evm_mine')
    const receipts = await rpc('eth_getBlockReceipts', 'latest')
    const done = Array.isArray(receipts) ? receipts.filter((receipt: unknown) => Reflect.get(Object(receipt), 'status') === '0x1') : []
    if (done.length !== calls.length) throw new Error(`Of ${calls.length} transactions ${done.length} were carried out.`)
    return Number(await rpc('eth_blockNumber'))
  }
  async function blocks(calls: readonly NodeCall[]): Promise<void> {
    for (let at = 0; at < calls.length; at += inABlock) await block(calls.slice(at, at + inABlock))
  }
  const call = (to: string, name: string, args: readonly unknown[], gas = maxGas.call): NodeCall => ({
    to,
    data: abi.encodeFunctionData(name, args),
    gas,
  })

  // The fewest of which each two are enough pairs.
  const tokenCount = Math.ceil((1 + Math.sqrt(1 + 8 * count)) / 2)
  const { bytecode } = await readArtifact('TestToken', new URL('../../plugins/ethereum/devnet.ts', import.meta.url).href)
  const tokens = Array.from({ length: tokenCount }, (_, index) => getCreateAddress({ from: maker, nonce: nonce + index }))
  await blocks(
    tokens.map((_, index) => {
      const args = AbiCoder.defaultAbiCoder().encode(['string', 'string', 'uint8'], [`Own ${index}`, `OWN${index}`, 18])
      return { data: bytecode + args.slice(2), gas: maxGas.deployment }
    }),
  )
  await blocks(tokens.flatMap((token) => [call(token, 'mint', [maker, 2n ** 128n]), call(token, 'approve', [router, MaxUint256])]))
  const pairs = tokens.flatMap((a, index) => tokens.slice(index + 1).map((b): readonly [string, string] => [a, b])).slice(0, count)
  await blocks(
    pairs.map(([a, b], index) => {
      const [rawA, rawB] = [1_000n * ether, BigInt(1_000 + index) * ether]
      return call(router, 'addLiquidity', [a, b, rawA, rawB, 0n, 0n, maker, MaxUint256], maxGas.pair)
    }),
  )

  const swap = (place: number, amountRaw: bigint, isForth = true): NodeCall => {
    const pair = pairs[place % pairs.length] ?? []
    return call(router, 'swapExactTokensForTokens', [amountRaw, 0n, isForth ? pair : pair.toReversed(), maker, MaxUint256])
  }

  return {
    pairs,
    block,
    /** A swap in the pair of this place. */
    swap,
    /** One block with a swap in each of these pairs. Gives its number. */
    trade: (places: readonly number[], amountRaw = ether) => block(places.map((place) => swap(place, amountRaw))),
  }
}
