import path from 'node:path'
import { deployPlugins, type Refusal } from './deploy-plugins.ts'
import { DevnetError } from './devnet-error.ts'
import { inputsHash } from './inputs-hash.ts'
import { keepState, readKeptState } from './saved-state.ts'
import { chainId, refuseTakenPort, startAnvil, type Anvil } from './anvil.ts'

export interface DevnetOptions {
  /** 0 takes any free one. */
  port: number
  /** The deployed state is kept in its folder `devnet`. */
  dataDir: string
  /** The plugins' `devnet.ts` (or .js), exactly one of them a chain's. */
  devnetFiles: readonly string[]
  log?: (message: string) => void
}

export interface Devnet {
  readonly rpcUrl: string
  readonly chainId: typeof chainId
  /** Whether everything was deployed now; otherwise it was kept from an earlier start. */
  readonly built: boolean
  /** Devnet files that failed: all the others are there, and the next start tries again. */
  readonly refused: readonly Refusal[]
  /** Settles when the chain has ended, whether `stop` asked it to or not. */
  readonly ended: Promise<void>
  stop(): Promise<void>
}

// A block per second and one at once for a transaction: time on the chain is the clock's on the wall. The state of many
// exchanges is more than the two megabytes that a request may have otherwise.
const flags = ['--block-time', '1', '--mixed-mining', '--no-request-size-limit']

/** Brings up the local chain with the plugins' contracts on it. It ends with this process, in whatever way that ends. */
export async function startDevnet({ port, dataDir, devnetFiles, log = () => {} }: DevnetOptions): Promise<Devnet> {
  await refuseTakenPort(port) // before the work of building
  const folder = path.join(dataDir, 'devnet')
  const inputs = await inputsHash(devnetFiles)

  const kept = await readKeptState(folder, inputs)
  const anvil = kept && (await chainFrom(kept, port))
  if (anvil) return devnet(anvil, { built: false, refused: [] })

  log('Deploying the exchanges on the devnet; later starts take what is kept of it.')
  const { state, refused } = await deployPlugins(devnetFiles)
  if (refused.length === 0) {
    await keepState(folder, inputs, state).catch((error: unknown) => log(`The devnet is not kept for the next start: ${String(error)}`))
  }
  const fresh = await chainFrom(state, port)
  if (!fresh) throw new DevnetError('anvil does not load the state that it dumped. Is its version the one in package-lock.json?')
  return devnet(fresh, { built: true, refused })
}

/** A chain that goes on from a state; undefined when anvil does not take the state. */
async function chainFrom(state: Buffer, port: number): Promise<Anvil | undefined> {
  const anvil = await startAnvil(port, flags)
  try {
    const taken = await anvil.rpc('anvil_loadState', `0x${state.toString('hex')}`).catch(() => false)
    if (taken === true) {
      // The state has the clock of its making: without a block of now, a deadline counted from it would be past already.
      await anvil.rpc('evm_mine')
      return anvil
    }
  } catch (error) {
    await anvil.stop()
    throw error
  }
  await anvil.stop()
  return undefined
}

function devnet({ rpcUrl, ended, stop }: Anvil, how: Pick<Devnet, 'built' | 'refused'>): Devnet {
  return { rpcUrl, chainId, ended, stop, ...how }
}
