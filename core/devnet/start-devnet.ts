import { existsSync } from 'node:fs'
import path from 'node:path'
import { type Settings, devnetNetwork } from '../config/settings.ts'
import { registerHook } from '../loader/compile.ts'
import { findPlugins } from '../loader/find.ts'
import type { Store } from '../store/store.ts'
import { DevnetError, chainId, refuseTakenPort, startAnvil, type Anvil } from './anvil.ts'
import { deployPlugins, type Refusal } from './build-state.ts'
import { inputsHash, saveState, readSavedState } from './saved-state.ts'

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

  const kept = await readSavedState(folder, inputs)
  const anvil = kept && (await chainFrom(kept, port))
  if (anvil) return devnet(anvil, { built: false, refused: [] })

  log('Deploying the exchanges on the devnet; later starts take what is kept of it.')
  const { state, refused } = await deployPlugins(devnetFiles)
  if (refused.length === 0) {
    await saveState(folder, inputs, state).catch((error: unknown) => log(`The devnet is not kept for the next start: ${String(error)}`))
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

/** The devnet of these settings: everything that the plugins' `devnet.ts` put there. */
export async function bringUpDevnet({ plugins, data, devnet }: Settings, say: (line: string) => void): Promise<Devnet> {
  const { found } = findPlugins(plugins.folders, plugins.disabled)
  await registerHook(found.map(({ folder }) => folder))
  const devnetFiles = found.flatMap(({ folder }) =>
    ['devnet.ts', 'devnet.js']
      .map((name) => path.join(folder, name))
      .filter((file) => existsSync(file))
      .slice(0, 1),
  )
  return startDevnet({ port: devnet.port, dataDir: data.dir, devnetFiles, log: say })
}

/**
 * A devnet that the server brings up begins anew: what the journal has of the one before did not happen on it, its nonces are
 * free again, and the same bytes may be signed a second time. What events told of it stays. A key that was used there alone is free
 * again too: its answer names a transaction that is nowhere any more.
 */
export async function forgetDevnet(store: Store): Promise<void> {
  const { chain, network } = devnetNetwork
  await store.write(async (tx) => {
    const keys = tx.selectFrom('entries').select('idempotency_key').where('idempotency_key', 'is not', null)
    await tx
      .deleteFrom('requests')
      .where('key', 'in', keys.where('chain', '=', chain).where('network', '=', network).$castTo<{ idempotency_key: string }>())
      .where('key', 'not in', keys.where((of) => of.not(of.and({ chain, network }))).$castTo<{ idempotency_key: string }>())
      .execute()
    for (const table of ['hashes', 'orders', 'entries'] as const)
      await tx.deleteFrom(table).where('chain', '=', chain).where('network', '=', network).execute()
  })
}
