import { existsSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Settings, devnetNetwork } from '../config/settings.ts'
import { registerHook } from '../loader/compile.ts'
import { allowedPlugins } from '../loader/consent.ts'
import type { FoundPlugin } from '../loader/find.ts'
import type { Store } from '../store/store.ts'
import { anvilBinary, DevnetError, installedDevnet, chainId, refuseTakenPort, startAnvil, type Anvil } from './anvil.ts'
import { deployPlugins, type Refusal } from './build-state.ts'
import { inputsHash, saveState, readSavedState } from './saved-state.ts'

export interface DevnetOptions {
  /** 0 takes any free one. */
  port: number
  /** The deployed state is kept in its folder `devnet`. */
  dataDir: string
  /** The `devnet.ts` (or .js) of plugins; exactly one of them is that of a chain. */
  devnetFiles: readonly string[]
  log?: (message: string) => void
}

export interface Devnet {
  readonly rpcUrl: string
  readonly chainId: typeof chainId
  /** Whether the contracts were deployed now; else their state was saved by an earlier start. */
  readonly built: boolean
  /** Devnet files that failed. The others are deployed, and the next start tries these again. */
  readonly refused: readonly Refusal[]
  /** Settles when the chain has ended, by `stop` or by itself. */
  readonly ended: Promise<void>
  stop(): Promise<void>
}

// A block per second, and one at once for a transaction, so that the chain's time is that of the clock. The state of many exchanges is
// larger than the two megabytes that a request may have by default.
const flags = ['--block-time', '1', '--mixed-mining', '--no-request-size-limit']

/** Starts the local chain with the plugins' contracts on it. It ends with this process, however that ends. */
export async function startDevnet({ port, dataDir, devnetFiles, log = () => {} }: DevnetOptions): Promise<Devnet> {
  await refuseTakenPort(port) // before the work of building
  const folder = path.join(dataDir, 'devnet')
  const inputs = await inputsHash(devnetFiles)

  const kept = await readSavedState(folder, inputs)
  const anvil = kept && (await chainFrom(kept, port))
  if (anvil) return devnet(anvil, { built: false, refused: [] })

  log('Deploying the exchanges on the devnet; later starts reuse the saved state.')
  const { state, refused } = await deployPlugins(devnetFiles)
  if (refused.length === 0) {
    await saveState(folder, inputs, state).catch((error: unknown) =>
      log(`The devnet's state could not be saved for the next start: ${String(error)}`),
    )
  }
  const fresh = await chainFrom(state, port)
  if (!fresh) throw new DevnetError('anvil does not load its own state. Check that its version is the one in package-lock.json.')
  return devnet(fresh, { built: true, refused })
}

/** A chain that continues from a state; undefined when anvil refuses the state. */
async function chainFrom(state: Buffer, port: number): Promise<Anvil | undefined> {
  const anvil = await startAnvil(port, flags)
  try {
    const taken = await anvil.rpc('anvil_loadState', `0x${state.toString('hex')}`).catch(() => false)
    if (taken === true) {
      // The state has the time of its creation: without a new block, deadlines counted from it would be in the past.
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

/** @throws DevnetError where its package or anvil is missing or its port is taken: known before anything is made for it */
export async function refuseWithoutDevnet(port: number): Promise<void> {
  anvilBinary()
  await refuseTakenPort(port)
}

/** Starts the devnet of these settings, with the contracts of the `devnet.ts` of the plugins that may run. */
export async function bringUpDevnet(settings: Settings, say: (line: string) => void, allowed?: readonly FoundPlugin[]): Promise<Devnet> {
  const { data, devnet } = settings
  const found = allowed ?? (await allowedPlugins(settings)).found
  const root = installedDevnet()
  await registerHook(found)
  const devnetFiles = found.flatMap((plugin) =>
    ['devnet.ts', 'devnet.js']
      .map((name) => path.join(plugin.builtIn ? fileURLToPath(new URL(`plugins/${plugin.name}`, root)) : plugin.folder, name))
      .filter((file) => existsSync(file))
      .slice(0, 1),
  )
  return startDevnet({ port: devnet.port, dataDir: data.dir, devnetFiles, log: say })
}

/**
 * Deletes the journal of an earlier devnet. A new devnet starts from block 0: the journaled transactions did not happen on it, its nonces are
 * free again, and the same bytes may be signed a second time. Events about the earlier devnet stay. An Idempotency-Key that was used only
 * there is free again too, because its answer names a transaction that no longer exists.
 */
export async function forgetDevnet(store: Store): Promise<void> {
  const { chain, network } = devnetNetwork
  const isDevnets = { chain, network }
  await store.write(async (tx) => {
    const made = (isIt: boolean) => {
      const columns = ['idempotency_key', 'request_id'] as const
      const of = (table: 'entries' | 'archived') =>
        tx
          .selectFrom(table)
          .select(columns)
          .where((eb) => (isIt ? eb.and(isDevnets) : eb.not(eb.and(isDevnets))))
      return tx.selectFrom(of('entries').unionAll(of('archived')).as('made'))
    }
    const keys = (isIt: boolean) =>
      made(isIt).select('idempotency_key').where('idempotency_key', 'is not', null).$castTo<{ idempotency_key: string }>()
    await tx.deleteFrom('requests').where('key', 'in', keys(true)).where('key', 'not in', keys(false)).execute()
    // A part of a batch is journaled under its request alone.
    const requests = (isIt: boolean) => made(isIt).select('request_id')
    await tx.deleteFrom('requests').where('request_id', 'in', requests(true)).where('request_id', 'not in', requests(false)).execute()
    for (const table of ['hashes', 'orders', 'entries', 'archived'] as const)
      await tx.deleteFrom(table).where('chain', '=', chain).where('network', '=', network).execute()
  })
}
