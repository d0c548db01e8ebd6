import { readFileSync } from 'node:fs'
import { mkdir, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { toQuantity, Interface, MaxUint256, parseUnits } from 'ethers'
import { parse } from 'yaml'
import { loadSettings } from '../../../core/config/settings.ts'
import { startAnvil, rpcTo, type Anvil } from '../../../core/devnet/anvil.ts'
import { bringUpDevnet } from '../../../core/devnet/start-devnet.ts'
import { allowedPlugins } from '../../../core/plugins/index.ts'

/** A chain that outlives the servers, with the exchanges on it. Blocks come when we make them, so that what is pending stays so. */
export interface Chain {
  /** Where its node is now: a node that was restarted has another port. */
  rpcUrl(): string
  rpc(method: string, ...params: readonly unknown[]): Promise<unknown>
  height(): Promise<number>
  /** From now on a block every so often; 0: none. */
  pace(blockMs: number): void
  mine(blocks: number): Promise<void>
  /** Takes the last blocks back: what was in them is in no block and in no mempool any more. Gives the number of the first of them. */
  reorganise(depth: number): Promise<number>
  /** The base fee of every block from now on. */
  holdBaseFee(wei: bigint): void
  baseFee(): Promise<bigint>
  /** Ends the node and starts another one on the same chain, without what was pending. */
  restart(): Promise<void>
  stop(): Promise<void>
}

// A state with thousands of transactions is loaded by one request.
const flags = ['--no-mining', '--no-request-size-limit']

export async function startChain({ blockMs }: { blockMs: number }): Promise<Chain> {
  let anvil = await startFrom(await devnetState())
  let firstOfNode = Number(await anvil.rpc('eth_blockNumber'))
  let blockEveryMs = blockMs
  let failure: unknown
  let timer: NodeJS.Timeout | undefined
  let heldBaseFee: bigint | undefined
  /** One thing at a time: a reorganisation in the middle of a restart means nothing. */
  let queue: Promise<unknown> = Promise.resolve()

  const rpc: Chain['rpc'] = (method, ...params) => anvil.rpc(method, ...params)
  const height = async () => Number(await rpc('eth_blockNumber'))
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = queue.then(() => {
      if (failure !== undefined) throw failure
      return work()
    })
    queue = turn.catch(() => {})
    return turn
  }

  async function mineOne(): Promise<void> {
    // Holds for one block.
    if (heldBaseFee !== undefined) await rpc('anvil_setNextBlockBaseFeePerGas', toQuantity(heldBaseFee))
    await rpc('evm_mine')
  }

  /** Without a chain nothing can be shown: whoever asks next is told why. */
  function fail(error: unknown): void {
    failure = error
  }

  function schedule(): void {
    clearTimeout(timer)
    if (blockEveryMs > 0) timer = setTimeout(() => void inTurn(mineOne).then(schedule, fail), blockEveryMs)
  }
  schedule()

  return {
    rpcUrl: () => anvil.rpcUrl,
    rpc,
    height,
    pace(ms) {
      blockEveryMs = ms
      schedule()
    },
    mine: (blocks) =>
      inTurn(async () => {
        for (let mined = 0; mined < blocks; mined += 1) await mineOne()
      }),
    reorganise: (depth) =>
      inTurn(async () => {
        // A node knows no states from before its start.
        while ((await height()) - firstOfNode < depth) await mineOne()
        const first = (await height()) - depth + 1
        await rpc('anvil_reorg', depth, [])
        // Its clock goes on from the block that is left: after many of them servers would say that it is behind.
        await rpc('evm_setTime', Math.floor(Date.now() / 1000))
        return first
      }),
    holdBaseFee(wei) {
      heldBaseFee = wei
    },
    baseFee: async () => BigInt(String(Reflect.get(Object(await rpc('eth_getBlockByNumber', 'latest', false)), 'baseFeePerGas'))),
    restart: () =>
      inTurn(async () => {
        const state = await rpc('anvil_dumpState')
        await anvil.stop()
        anvil = await startFrom(String(state)).catch((error: unknown) => {
          fail(error)
          throw error
        })
        firstOfNode = await height()
      }),
    async stop() {
      blockEveryMs = 0
      clearTimeout(timer)
      await queue
      await anvil.stop()
    },
  }
}

async function startFrom(state: string): Promise<Anvil> {
  const anvil = await startAnvil(0, flags)
  if ((await anvil.rpc('anvil_loadState', state)) !== true) throw new Error('anvil does not load the state that it dumped.')
  // A block of now: the state has the clock of its making.
  await anvil.rpc('evm_mine')
  return anvil
}

const root = fileURLToPath(new URL('../../../', import.meta.url))

/** The devnet with all its exchanges, as a state that anvil loads. What is deployed is kept between runs, as other tests do. */
async function devnetState(): Promise<string> {
  const temporary = (name: string) => path.join(tmpdir(), `sluice-${name}-${process.getuid?.() ?? ''}`)
  const [dataDir, shared] = [temporary('chaos'), temporary('devnet')]
  for (const folder of [dataDir, shared]) await mkdir(folder, { recursive: true, mode: 0o700 })
  // The folder that servers of other tests share. Who begins at the same moment may have made the link.
  await symlink(shared, path.join(dataDir, 'devnet')).catch(() => {})
  const settings = loadSettings({
    confDir: path.join(root, 'conf'),
    env: {},
    flags: { 'devnet.enabled': true, 'devnet.port': 0, 'plugins.folders': [path.join(root, 'plugins')], 'data.dir': dataDir },
  })
  const devnet = await bringUpDevnet(settings, () => {}, { allowed: await allowedPlugins(settings) })
  try {
    return String(await rpcTo(devnet.rpcUrl)('anvil_dumpState'))
  } finally {
    await devnet.stop()
  }
}

const abi = new Interface([
  'function getSettlementToken() view returns (address)',
  'function approve(address, uint256)',
  'function deposit(address, uint256)',
])
const dollarsRaw = parseUnits('100000', 6)
const gas = toQuantity(1_000_000)

/** Gives wallets collateral in the perpetual exchange, and lets it take more, so that bots can open positions and deposit. */
export async function putCollateral(chain: Chain, wallets: readonly string[]): Promise<void> {
  const { contractAddresses } = parse(readFileSync(new URL('../../../plugins/perp/defaults.yml', import.meta.url), 'utf8'))
  const vault: string = contractAddresses.local.vaultAddress
  const asked = await chain.rpc('eth_call', { to: vault, data: abi.encodeFunctionData('getSettlementToken') }, 'latest')
  const [token] = abi.decodeFunctionResult('getSettlementToken', String(asked))
  const sent: unknown[] = []
  for (const from of wallets) {
    await chain.rpc('anvil_impersonateAccount', from)
    const send = async (to: string, data: string) => sent.push(await chain.rpc('eth_sendTransaction', { from, to, data, gas }))
    await send(token, abi.encodeFunctionData('approve', [vault, MaxUint256]))
    await send(vault, abi.encodeFunctionData('deposit', [token, dollarsRaw]))
    await chain.rpc('anvil_stopImpersonatingAccount', from)
  }
  await chain.mine(1)
  for (const hash of sent) {
    const receipt: unknown = await chain.rpc('eth_getTransactionReceipt', hash)
    if (Reflect.get(Object(receipt), 'status') !== '0x1') throw new Error('A wallet could not put collateral into the exchange.')
  }
}
