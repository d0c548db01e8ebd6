import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Settings, devnetNetwork } from '../config/settings.ts'
import { agesOwner } from '../market/market-ages.ts'
import { messageOf, registerHook, tryPlugins, type AllowedPlugins, type FoundPlugin } from '../plugins/index.ts'
import type { Store } from '../store/store.ts'
import { anvilBinary, DevnetError, installedDevnet, chainId, refuseTakenPort, startAnvil, toHex, type Anvil } from './anvil.ts'
import type { Outside, Refusal } from './build-state.ts'
import { devnetFileOf, startOutside, type OutsidePlugin } from './outside.ts'
import { inputsHash, saveState, readSavedState } from './saved-state.ts'

export interface DevnetOptions {
  /** 0 takes any free one. */
  port: number
  /** The deployed state is kept in its folder `devnet`. */
  dataDir: string
  /** The `devnet.ts` (or .js) of the release's plugins; exactly one of them is that of a chain. */
  devnetFiles: readonly string[]
  outside?: Outside & {
    /** Which of them may deploy: asked for where something has to be deployed. */
    accepted(): Promise<{ readonly plugins: readonly OutsidePlugin[]; readonly refused: readonly Refusal[] }>
  }
  /** How what is added while it runs is deployed; absent where nothing is. */
  later?: Omit<Outside, 'plugins'> & { readonly chainFile: string }
  log?: (message: string) => void
}

export interface Devnet {
  readonly rpcUrl: string
  readonly chainId: typeof chainId
  /** Whether the contracts were deployed now; else their state was saved by an earlier start. */
  readonly built: boolean
  /** Devnet files that failed, also of what was deployed later. The others are deployed, and the next start tries these again. */
  readonly refused: readonly Refusal[]
  /** Why the contracts that a plugin of a third party deploys need not be on it, and what to do about it; undefined where they are there. */
  whyNotDeployed(plugin: Pick<FoundPlugin, 'name' | 'folder'>): Promise<string | undefined>
  /** Deploys the contracts of a plugin that has none on it yet. Where that fails, `whyNotDeployed` has the reason. */
  deployAdded(plugin: FoundPlugin): Promise<void>
  /** Settles when the chain has ended, by `stop` or by itself. */
  readonly ended: Promise<void>
  stop(): Promise<void>
}

// A block per second, and one at once for a transaction, so that the chain's time is that of the clock. The state of many exchanges is
// larger than the two megabytes that a request may have by default.
const flags = ['--block-time', '1', '--mixed-mining', '--no-request-size-limit']

/** Loaded where something is deployed: most starts find the state, and need none of what deploys. */
const building = () => import('./build-state.ts')

/** Starts the local chain with the plugins' contracts on it. It ends with this process, however that ends. */
export async function startDevnet(options: DevnetOptions): Promise<Devnet> {
  const { accepted, state, ...devnet } = await startDeployed(options)
  const deployed = accepted.filter(({ file }) => !devnet.refused.some((each) => each.file === file))
  /** By name, what their contracts were made of. */
  const deployedFrom = new Map(
    await Promise.all(deployed.map(async ({ plugin, file }) => [plugin.name, await inputsHash([file])] as const)),
  )
  /** By name, of what was to be deployed later. */
  const failures = new Map<string, Refusal>()
  let turn: Promise<void> = Promise.resolve()

  return {
    ...devnet,
    get refused() {
      return [...devnet.refused, ...failures.values()]
    },
    async whyNotDeployed({ name, folder }) {
      const file = devnetFileOf(folder)
      const from = deployedFrom.get(name)
      if (file === undefined || from === (await inputsHash([file]))) return undefined
      return from === undefined
        ? `Its contracts are not on the devnet: ${whyFailed(name) ?? 'they are deployed when that starts. Restart the server.'}`
        : `Its ${path.basename(file)} is another one than the devnet was made with. Where it deploys other contracts, restart the server.`
    },
    deployAdded(plugin) {
      // One after the other: the account that mints tokens is that of all.
      turn = turn.then(() => deployAdded(plugin))
      return turn
    },
  }

  async function deployAdded(plugin: FoundPlugin): Promise<void> {
    const { name } = plugin
    const file = devnetFileOf(plugin.folder)
    if (file === undefined || options.later === undefined || deployedFrom.has(name)) return
    try {
      const from = await inputsHash([file])
      const { deployOnRunning } = await building()
      await deployOnRunning(devnet, {
        ...options.later,
        state: await state(),
        outside: { plugin, file },
      })
      deployedFrom.set(name, from)
      failures.delete(name)
    } catch (error) {
      failures.set(name, { file, reason: `The ${path.basename(file)} of ${name} failed: ${messageOf(error)}` })
    }
  }

  function whyFailed(name: string): string | undefined {
    const reason = failures.get(name)?.reason
    return reason && `${reason.replace(/^The/, 'the')}. Correct it, and update the plugin.`
  }
}

type DeployedDevnet = Omit<Devnet, 'whyNotDeployed' | 'deployAdded'> & {
  readonly accepted: readonly OutsidePlugin[]
  /** What it was made of. */
  state(): Promise<Buffer>
}

async function startDeployed({ port, dataDir, devnetFiles, outside, log = () => {} }: DevnetOptions): Promise<DeployedDevnet> {
  await refuseTakenPort(port) // before the work of building
  const folder = path.join(dataDir, 'devnet')
  const saved = async (plugins: readonly OutsidePlugin[]) => {
    const inputs = await inputsHash([...devnetFiles, ...plugins.map(({ file }) => file)])
    const kept = await readSavedState(folder, inputs)
    return { inputs, anvil: kept && (await chainFrom(kept, port)) }
  }
  let { inputs, anvil } = await saved(outside?.plugins ?? [])
  /** Others that share the folder may have removed it; as it is now, it has all blocks since. */
  const stateOf =
    ({ rpc }: Anvil) =>
    async () =>
      (await readSavedState(folder, inputs)) ?? (await building()).dumpOf(rpc)
  if (anvil) return devnet(anvil, { built: false, refused: [], accepted: outside?.plugins ?? [], state: stateOf(anvil) })

  // Nothing of a plugin is deployed that is refused itself.
  const { plugins, refused: notAccepted } = outside ? await outside.accepted() : { plugins: [], refused: [] }
  if (notAccepted.length > 0) {
    ;({ inputs, anvil } = await saved(plugins))
    if (anvil) return devnet(anvil, { built: false, refused: notAccepted, accepted: plugins, state: stateOf(anvil) })
  }

  log('Deploying the exchanges on the devnet; later starts reuse the saved state.')
  const { state, refused } = await deployAll({
    folder,
    devnetFiles,
    log,
    ...(plugins.length > 0 && outside && { outside: { ...outside, plugins } }),
  })
  const fresh = await chainFrom(state, port)
  if (!fresh) throw new DevnetError(notItsOwn)
  return devnet(fresh, { built: true, refused: [...notAccepted, ...refused], accepted: plugins, state: stateOf(fresh) })
}

const notItsOwn = 'anvil does not load its own state. Check that its version is the one in package-lock.json.'

/** What plugins of third parties deploy comes onto the state of the release: it is saved too, and found by starts with other plugins. */
async function deployAll({
  folder,
  devnetFiles,
  outside,
  log,
}: Pick<DevnetOptions, 'devnetFiles'> & { folder: string; outside?: Outside; log: (message: string) => void }) {
  const { deployPlugins, deployOnState } = await building()
  const save = async (files: readonly string[], { state, refused }: Awaited<ReturnType<typeof deployPlugins>>) => {
    if (refused.length > 0) return
    await saveState(folder, await inputsHash(files), state).catch((error: unknown) =>
      log(`The devnet's state could not be saved for the next start: ${String(error)}`),
    )
  }
  if (!outside) {
    const built = await deployPlugins(devnetFiles)
    await save(devnetFiles, built)
    return built
  }
  const onState = async (state: Buffer, before: readonly Refusal[] = []) => {
    const built = await deployOnState(state, devnetFiles, outside)
    if (!built) return undefined
    const all = { state: built.state, refused: [...before, ...built.refused] }
    await save([...devnetFiles, ...outside.plugins.map(({ file }) => file)], all)
    return all
  }
  const kept = await readSavedState(folder, await inputsHash(devnetFiles))
  const onKept = kept && (await onState(kept))
  if (onKept) return onKept
  const ofRelease = await deployPlugins(devnetFiles)
  await save(devnetFiles, ofRelease)
  const onBuilt = await onState(ofRelease.state, ofRelease.refused)
  if (!onBuilt) throw new DevnetError(notItsOwn)
  return onBuilt
}

/** That a block comes while a state is loaded is rare. */
const maxLoads = 20

/** A chain that continues from a state; undefined when anvil refuses the state. */
export async function chainFrom(state: Buffer, port: number, options: readonly string[] = flags): Promise<Anvil | undefined> {
  for (let loads = 1; ; loads += 1) {
    const anvil = await startAnvil(port, options)
    try {
      const taken = await anvil.rpc('anvil_loadState', toHex(state)).catch(() => false)
      // The state has the time of its creation: without a new block, deadlines counted from it would be in the past.
      if (taken === true) await anvil.rpc('evm_mine')
      if (taken === true && (await countsAlike(anvil))) return anvil
      await anvil.stop()
      if (taken !== true) return undefined
      if (loads === maxLoads) throw new DevnetError(`anvil mined a block into each of ${maxLoads} states that it loaded. Start again.`)
    } catch (error) {
      await anvil.stop()
      throw error
    }
  }
}

/**
 * Whether contracts see the number that the chain's blocks have. Anvil does not wait with the next block while it loads a state: one that is mined
 * meanwhile leaves one of the two counts where it was (foundry v1.7.1, anvil `Backend::load_state` takes no mining lock).
 */
async function countsAlike({ rpc }: Anvil): Promise<boolean> {
  // Where a block comes in between, the call is answered by the one before, which has the right number.
  for (let looks = 0; looks < 5; looks += 1) {
    const before = Number(await rpc('eth_blockNumber'))
    const seen = Number(await rpc('eth_call', { data: returnsBlockNumber }, 'latest'))
    if (seen < before || seen > Number(await rpc('eth_blockNumber'))) return false
  }
  return true
}

/** NUMBER, PUSH1 0, MSTORE, PUSH1 32, PUSH1 0, RETURN */
const returnsBlockNumber = '0x4360005260206000f3'

function devnet({ rpcUrl, ended, stop }: Anvil, how: Pick<DeployedDevnet, 'built' | 'refused' | 'accepted' | 'state'>): DeployedDevnet {
  return { rpcUrl, chainId, ended, stop, ...how }
}

/** @throws DevnetError where its package or anvil is missing or its port is taken: known before anything is made for it */
export async function refuseWithoutDevnet(port: number): Promise<void> {
  anvilBinary()
  await refuseTakenPort(port)
}

/**
 * Starts the devnet of these settings, with the contracts of the `devnet.ts` of the plugins that may run.
 * @param hostsLater without those of plugins in hosts: `deployAdded` deploys each when its host is there, so that none delays the start
 */
export async function bringUpDevnet(
  settings: Settings,
  say: (line: string) => void,
  { allowed: plugins, hostsLater = false }: { allowed: AllowedPlugins; hostsLater?: boolean },
): Promise<Devnet> {
  const { data, devnet } = settings
  const root = installedDevnet()
  const builtIn = plugins.found.filter((plugin) => plugin.builtIn)
  if (!builtIn.some(({ name }) => name === devnetNetwork.chain))
    throw new DevnetError(
      `The devnet is ${devnetNetwork.chain}/${devnetNetwork.network}, and the built-in plugin ${devnetNetwork.chain} is left out: by plugins.disabled, or by plugins.folders, where \`plugins\` stands for the built-in ones. Put it back, or switch devnet.enabled off.`,
    )
  await registerHook(builtIn)
  const fileOf = (name: string) => devnetFileOf(fileURLToPath(new URL(`plugins/${name}`, root)))
  const devnetFiles = builtIn.flatMap(({ name }) => fileOf(name) ?? [])
  const chainFile = fileOf(devnetNetwork.chain)
  const outside = plugins.found.flatMap((plugin): OutsidePlugin[] => {
    const isLater = hostsLater && plugin.tier === 'contained'
    const file = plugin.builtIn || isLater ? undefined : devnetFileOf(plugin.folder)
    return file === undefined ? [] : [{ plugin, file }]
  })
  const deploying = { start: (plugin: FoundPlugin) => startOutside(plugin, settings), budget: outsideBudget }
  const started = await startDevnet({
    port: devnet.port,
    dataDir: data.dir,
    devnetFiles,
    ...(chainFile !== undefined && { later: { ...deploying, chainFile } }),
    log: say,
    ...(outside.length > 0 && {
      outside: {
        plugins: outside,
        ...deploying,
        async accepted() {
          // The others cost the start nothing.
          const needed = plugins.found.filter((each) => each.builtIn || outside.some(({ plugin }) => plugin === each))
          const { refused } = await tryPlugins(settings, { ...plugins, found: needed })
          const refusalOf = ({ plugin }: OutsidePlugin) => refused.find(({ folder }) => folder === plugin.origin)
          return {
            plugins: outside.filter((each) => !refusalOf(each)),
            refused: outside.flatMap((each) => {
              const refusal = refusalOf(each)
              return refusal
                ? [{ file: each.file, reason: `The devnet.ts of ${each.plugin.name} is not run: the plugin is refused: ${refusal.reason}` }]
                : []
            }),
          }
        },
      },
    }),
  })
  for (const { reason } of started.refused) say(reason)
  return started
}

/** As deploying a large exchange on a slow machine takes. Others wait for it, so one that does not get on is ended soon. */
const outsideBudget = { processorMs: 10_000, clockMs: 60_000, idleMs: 15_000 }

/**
 * Deletes the journal of an earlier devnet. A new devnet starts from block 0: the journaled transactions did not happen on it, its nonces are
 * free again, and the same bytes may be signed a second time. Events about the earlier devnet stay. An Idempotency-Key that was used only
 * there is free again too, because its answer names a transaction that no longer exists. Its tokens have no market yet, and so no age of one.
 */
export async function forgetDevnet(store: Store, chain: string = devnetNetwork.chain): Promise<void> {
  const { network } = devnetNetwork
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
    for (const table of ['hashes', 'orders', 'entries', 'archived', 'market_samples'] as const)
      await tx.deleteFrom(table).where('chain', '=', chain).where('network', '=', network).execute()
    await tx.deleteFrom('budgets').where('owner', '=', agesOwner(isDevnets)).execute()
  })
}
