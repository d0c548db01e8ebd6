import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { startAnvil } from '../../../core/devnet/anvil.ts'
import { startDevnet } from '../../../core/devnet/start-devnet.ts'
import type { Chain } from '../../../core/contracts/index.ts'
import { evmChain, multicall3, type Evm, type EvmChainConfig, type EvmNetwork } from '../../../kits/evm/index.ts'
import ethereum from '../../../plugins/ethereum/index.ts'
import { keptDataDir } from '../../devnet/test-devnet.ts'

export const at = { signal: new AbortController().signal }
/** The first of anvil's well-known accounts; the node signs for it. */
export const wallet = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'

export interface TestChain {
  chain: Chain<Evm>
  rpcUrl: string
  /** The methods that the chain asked nodes for since this was last called. */
  asked: () => string[]
  /** Asks the node past the chain, and past what is counted. */
  rpc: (method: string, ...params: unknown[]) => Promise<unknown>
  stop(): Promise<void>
}

/** The plugin's local network over any nodes, with what is different on another. */
export function chainOver(config: EvmChainConfig, definition?: Partial<EvmNetwork>): { chain: Chain<Evm>; asked: () => string[] } {
  let methods: string[] = []
  const log = { info() {}, warn() {} }
  const meter = { rpc: (method: string) => void methods.push(method) }
  const venue = { chain: 'ethereum', network: 'local', config, log, meter }
  const chain = definition ? evmChain(venue, { ...bare, ...definition }) : ethereum.create(venue)
  return { chain, asked: () => methods.splice(0) }
}

const bare: EvmNetwork = {
  chainId: 31337,
  nativeCurrency: 'ETH',
  wrapped: { symbol: 'WETH', address: '0x000000000000000000000000000000000000dEaD', decimals: 18 },
  intermediates: [],
  multicall: multicall3,
  blockSeconds: 1,
  confirmations: 2,
  local: true,
}

/** The real devnet with the chain's tokens, and nothing else on it. It makes a block for a transaction or on demand, none by the clock. */
export async function startDevnetChain(): Promise<TestChain> {
  const devnetFiles = [fileURLToPath(new URL('../../../plugins/ethereum/devnet.ts', import.meta.url))]
  const devnet = await startDevnet({ port: 0, dataDir: keptDataDir(devnetFiles), devnetFiles })
  const { chain, asked } = chainOver({ rpcUrls: [devnet.rpcUrl] })
  const stop = async () => {
    await chain.stop?.()
    await devnet.stop()
  }
  const rpc = rpcTo(devnet.rpcUrl)
  await mineOnDemand(rpc)
  return { chain, asked, rpcUrl: devnet.rpcUrl, rpc, stop }
}

/** A bare anvil that makes a block only when it is told to; with Multicall3 unless told otherwise. */
export async function startStillChain({
  multicall = true,
  flags = [],
  config = {},
  definition,
}: {
  multicall?: boolean
  flags?: readonly string[]
  config?: EvmChainConfig
  definition?: Partial<EvmNetwork>
} = {}): Promise<TestChain> {
  const anvil = await startAnvil(0, ['--no-mining', ...flags])
  const { chain, asked } = chainOver({ rpcUrls: [anvil.rpcUrl], ...config }, definition)
  const rpc = rpcTo(anvil.rpcUrl)
  if (multicall) {
    await place(rpc, multicall3, 'plugins/ethereum/artifacts/Multicall3.json')
  }
  const stop = async () => {
    await chain.stop?.()
    await anvil.stop()
  }
  return { chain, asked, rpcUrl: anvil.rpcUrl, rpc, stop }
}

/** Puts a contract where its deployer would have. */
export async function place(rpc: TestChain['rpc'], address: string, file: string): Promise<void> {
  const artifact: unknown = JSON.parse(await readFile(new URL(`../../../${file}`, import.meta.url), 'utf8'))
  const bytecode = typeof artifact === 'object' && artifact !== null && 'bytecode' in artifact ? artifact.bytecode : undefined
  await rpc('anvil_setCode', address, await rpc('eth_call', { data: bytecode }, 'latest'))
}

export function rpcTo(url: string): TestChain['rpc'] {
  return async (method, ...params) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    const answer: unknown = await response.json()
    if (typeof answer === 'object' && answer !== null && 'result' in answer) return answer.result
    throw new Error(`${method}: ${JSON.stringify(answer)}`)
  }
}

/** Until the node has the transaction in a block. */
export async function mined({ rpc }: Pick<TestChain, 'rpc'>, hash: unknown): Promise<void> {
  while ((await rpc('eth_getTransactionReceipt', hash)) === null)
    await new Promise((resolve) => {
      setTimeout(resolve, 20)
    })
}

/** A chain that makes a block with each transaction and where it is asked for, none by the clock. */
export async function mineOnDemand(rpc: TestChain['rpc']): Promise<void> {
  await rpc('evm_setIntervalMining', 0)
  await rpc('evm_setAutomine', true)
}
