// Deploys what plugins of third parties bring for the devnet. Their code runs in a process of its own, as their connectors do; what it does to the
// chain is checked on its way, and afterwards by the chain's state.
import { gunzipSync } from 'node:zlib'
import { existsSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { isHexString, Transaction } from 'ethers'
import { withTimeout } from '../base/async.ts'
import { mergedFiles } from '../config/yaml.ts'
import type { DevnetSite, DevnetTokens, DevnetTokenSymbol } from '../contracts/devnet.ts'
import { isObject } from '../base/json.ts'
import {
  declaredFile,
  excessOf,
  findAcceptedBackend,
  findBackend,
  hookUpdate,
  insideUpdate,
  messageOf,
  openChannel,
  otherEndGone,
  uncontained,
  type Bounds,
  type ContainedProcess,
  type ContainmentSettings,
  type FoundPlugin,
  type HookUpdate,
} from '../plugins/index.ts'
import { askNode, type Anvil } from './anvil.ts'

/**
 * Starts it as a host of plugins is started. It sees the devnet's parts and their packages besides. @throws PluginFault where the system
 * cannot contain it
 */
export async function startOutside(plugin: FoundPlugin, settings: ContainmentSettings): ReturnType<StartOutside> {
  const way = await (plugin.tier === 'trusted' || plugin.tier === 'data'
    ? findBackend(settings).catch(() => uncontained)
    : findAcceptedBackend(settings))
  const prepared = await way.prepare('devnet', [plugin])
  return { process: await prepared.start(), inside: prepared.inside, inform: (news) => insideUpdate(news, prepared) }
}

/** What the process is asked to do. */
export interface DeployRequest {
  /** The `devnet.ts`, as the process sees it. */
  readonly file: string
  readonly news: HookUpdate
  readonly name: string
  readonly tokens: readonly { readonly symbol: string; readonly address: string; readonly decimals: number }[]
}

/** A plugin of a third party with a `devnet.ts`. */
export interface OutsidePlugin {
  readonly plugin: FoundPlugin
  readonly file: string
}

/** Starts the process in which a plugin's `devnet.ts` runs. */
export type StartOutside = (plugin: FoundPlugin) => Promise<{
  readonly process: ContainedProcess
  /** A file of the plugin, as the process sees it. */
  inside(file: string): string
  inform(news: HookUpdate): HookUpdate
}>

export interface OutsideBudget {
  readonly processorMs: number
  readonly clockMs: number
  /** So long it may ask nothing of the chain: a deployment is a row of transactions. Without it, as long as `clockMs`. */
  readonly idleMs?: number
}

/** The devnet file of a plugin's folder; of a plugin that is data alone the data, which may say what to deploy. */
export function devnetFileOf(folder: string): string | undefined {
  const isThere = (name: string) => existsSync(path.join(folder, name))
  const isData = isThere(declaredFile) && !isThere('index.ts') && !isThere('index.js')
  const name = isData ? declaredFile : ['devnet.ts', 'devnet.js'].find(isThere)
  return name === undefined || (isData && !declaresDevnet(folder)) ? undefined : path.join(folder, name)
}

const declaresDevnet = (folder: string): boolean => mergedFiles([path.join(folder, declaredFile)])['devnet'] !== undefined

interface DeployContext {
  readonly anvil: Pick<Anvil, 'rpc' | 'rpcUrl'>
  readonly tokens: DevnetTokens
  /** Of the plugin, with its signer. */
  readonly site: DevnetSite
  /** The accounts as they are before. */
  readonly before: Accounts
  /** Gets what changed the chain, in its order. */
  readonly onStep?: (step: DeployStep) => void
}

/** What changed the chain while a plugin deployed its contracts. */
export type DeployStep =
  | { readonly is: 'call'; readonly method: string; readonly params: readonly unknown[] }
  | { readonly is: 'mint'; readonly symbol: DevnetTokenSymbol; readonly to: string; readonly amountRaw: bigint }

/**
 * Has a plugin deploy its contracts. Where that fails, the chain is as it was before. @returns the accounts as they are after it
 * @throws Error with what went wrong
 */
export async function deployOutside(
  outside: OutsidePlugin,
  to: DeployContext,
  start: StartOutside,
  budget: OutsideBudget,
): Promise<Accounts> {
  const { anvil, before, site, tokens } = to
  const snapshot = await anvil.rpc('evm_snapshot')
  const broker = createBroker(to)
  try {
    await runIn(outside, to, broker, start, budget)
    await broker.settled()
    const after = await readAccounts(anvil)
    refuseChanges(before, after, { own: site.signer.address, tokens: Object.values(tokens).map(({ address }) => address) })
    return after
  } catch (thrown) {
    await broker.settled()
    await anvil.rpc('evm_revert', snapshot)
    throw thrown
  }
}

const limits = { residentBytes: 768 * 2 ** 20, processes: 8 }
const maxFrameBytes = 4 * 2 ** 20
const maxQuestions = 64
/** Nobody is served meanwhile. */
const bounds: Bounds = {
  perSecond: { bytes: 32 * 2 ** 20, messages: 10_000 },
  maxUnaskedFrameBytes: maxFrameBytes,
  maxUnaskedBytes: 320 * 2 ** 20,
  maxFrameMs: 60_000,
  maxParts: { ofServing: 30_000, perByte: 1 / 12 },
  processor: { burstMs: 5_000, perSecondMs: 500, perAnswerMs: 0 },
}
const lookMs = 200

async function runIn(
  { plugin, file }: OutsidePlugin,
  { tokens }: DeployContext,
  broker: Broker,
  start: StartOutside,
  { processorMs, clockMs, idleMs = clockMs }: OutsideBudget,
): Promise<void> {
  const { process, inside, inform } = await start(plugin)
  let why: string | undefined
  let [under, lastAsked] = [0, performance.now()]
  const end = (reason: string) => {
    why ??= reason
    process.kill()
  }
  const channel = openChannel({
    socket: process.channel,
    answer(method, args) {
      under += 1
      return broker.answer(method, args).finally(() => {
        under -= 1
        lastAsked = performance.now()
      })
    },
    onTold: () => {},
    onClosed: (error) => end(error.message),
    maxFrameBytes,
    maxQuestions,
    bounds,
  })
  const done = new AbortController()
  const watching = (async () => {
    for (;;) {
      await wait(lookMs, undefined, { signal: done.signal })
      if (under === 0 && performance.now() - lastAsked > idleMs)
        end(`it asked nothing of the chain for ${idleMs / 1000} s: an endless loop, or an await that never settles`)
      const use = process.use()
      if (!use) continue
      const excess = excessOf(use, limits)
      if (excess !== undefined) end(excess)
      if (use.processorMs > processorMs) end(`it was not done after ${processorMs / 1000} s of processor time: an endless loop`)
    }
  })().catch(() => {})
  try {
    const request: DeployRequest = {
      file: inside(file),
      news: inform(await hookUpdate([plugin.folder])),
      name: plugin.name,
      tokens: Object.entries(tokens).map(([symbol, { address, decimals }]) => ({ symbol, address, decimals })),
    }
    await withTimeout(channel.ask('deploy', [request]), clockMs, () => {
      throw new Error(`it was not done after ${clockMs / 1000} s`)
    })
  } catch (thrown) {
    const reason = messageOf(thrown)
    if (reason !== otherEndGone && why !== reason) throw new Error(why ?? reason, { cause: thrown })
    const { reason: how } = await process.ended
    throw new Error(why === undefined || why === otherEndGone ? `its process ended: ${how}` : why, { cause: thrown })
  } finally {
    done.abort()
    await watching
    process.kill()
    await process.ended
  }
}

interface Broker {
  answer(method: string, args: readonly unknown[]): Promise<unknown>
  /** Waits for what was asked and is not answered yet. */
  settled(): Promise<unknown>
}

/** Reading, and transactions of the plugin's own account: nothing that changes the chain in another way, or in another's name. */
const readingMethods = new Set([
  'eth_blockNumber',
  'eth_call',
  'eth_chainId',
  'eth_estimateGas',
  'eth_feeHistory',
  'eth_gasPrice',
  'eth_getBalance',
  'eth_getBlockByHash',
  'eth_getBlockByNumber',
  'eth_getCode',
  'eth_getLogs',
  'eth_getStorageAt',
  'eth_getTransactionByHash',
  'eth_getTransactionCount',
  'eth_getTransactionReceipt',
  'eth_maxPriorityFeePerGas',
  'net_version',
])
const maxTransactions = 5_000
const callTimeoutMs = 60_000
const maxCallGas = 30_000_000n

function createBroker({ anvil, before, tokens, site, onStep = () => {} }: DeployContext): Broker {
  const pending = new Set<Promise<unknown>>()
  let transactions = 0
  const own = site.signer.address

  function refuse(what: string): never {
    throw new Error(`the devnet does not let a plugin do this: ${what}`)
  }

  /** The parameters as they go to the node. */
  async function checked(method: string, params: readonly unknown[]): Promise<readonly unknown[]> {
    const [first, second] = params
    switch (method) {
      case 'eth_sendRawTransaction':
        transactions += 1
        if (transactions > maxTransactions) refuse(`more than ${maxTransactions} transactions`)
        if (!isOwnTransaction(first, own)) refuse(`a transaction that its own account ${own} has not signed`)
        return [first]
      // The kits give contracts addresses that do not depend on earlier transactions.
      case 'anvil_setNonce':
        if (!isSame(first, own) || BigInt(String(second)) < BigInt(String(await anvil.rpc('eth_getTransactionCount', own, 'latest'))))
          refuse('anvil_setNonce of another account, or to an earlier nonce')
        return [own, second]
      case 'anvil_setStorageAt': {
        const isNew = typeof first === 'string' && !before.has(first.toLowerCase())
        if (!isNew || (await anvil.rpc('eth_getCode', first, 'latest')) === '0x')
          refuse('anvil_setStorageAt of a contract that is not its own')
        return params.slice(0, 3)
      }
      case 'eth_call':
      case 'eth_estimateGas': {
        if (!isObject(first)) refuse(`${method} without a transaction`)
        const { gas, ...call } = first
        const isBounded = typeof gas === 'string' && isHexString(gas) && BigInt(gas) <= maxCallGas
        // Without overrides of the state: whatever they do, nobody needs them here.
        return [isBounded ? first : call, second]
      }
    }
    return readingMethods.has(method) ? params : refuse(method)
  }

  async function rpc(method: string, params: readonly unknown[]): Promise<unknown> {
    const taken = await checked(method, params)
    if (!readingMethods.has(method)) onStep({ is: 'call', method, params: taken })
    const { result, error } = await askNode(anvil.rpcUrl, method, taken, callTimeoutMs)
    return error === undefined ? { result } : { error }
  }

  async function answer(method: string, [first, second, third]: readonly unknown[]): Promise<unknown> {
    if (method === 'rpc' && typeof first === 'string' && Array.isArray(second)) return rpc(first, second)
    if (method === 'mint' && isSymbol(first, tokens) && typeof second === 'string' && typeof third === 'bigint') {
      onStep({ is: 'mint', symbol: first, to: second, amountRaw: third })
      return tokens[first].mint(second, third)
    }
    return refuse(method)
  }

  return {
    answer(method, args) {
      const work = answer(method, args)
      const settling = work.catch(() => {}).finally(() => pending.delete(settling))
      pending.add(settling)
      return work
    },
    settled: () => Promise.all(pending),
  }
}

const isSymbol = (symbol: unknown, tokens: DevnetTokens): symbol is DevnetTokenSymbol =>
  typeof symbol === 'string' && Object.hasOwn(tokens, symbol)
const isSame = (address: unknown, own: string): boolean => typeof address === 'string' && address.toLowerCase() === own.toLowerCase()

/** Everybody knows the keys of the devnet. Types after 2 can act for accounts that have only signed something. */
function isOwnTransaction(raw: unknown, own: string): boolean {
  try {
    const { from, type } = Transaction.from(String(raw))
    return isSame(from, own) && (type ?? 3) <= 2
  } catch {
    return false
  }
}

/** By address in lower case, what a plugin of others may not change: nonce, code and storage. */
export type Accounts = ReadonlyMap<string, { readonly nonce: unknown; readonly code: unknown; readonly storage: string }>

/** The accounts of the chain as they are now. */
export async function readAccounts({ rpc }: Pick<Anvil, 'rpc'>): Promise<Accounts> {
  const dump = await rpc('anvil_dumpState')
  if (!isHexString(dump)) throw new Error('anvil did not return a state.')
  const state: unknown = JSON.parse(gunzipSync(Buffer.from(dump.slice(2), 'hex')).toString())
  const accounts = isObject(state) && isObject(state['accounts']) ? state['accounts'] : {}
  return new Map(
    Object.entries(accounts).map(([address, account]) => {
      const { nonce, code, storage } = isObject(account) ? account : {}
      // The order of slots in a dump is that of nothing.
      const slots = isObject(storage) ? Object.entries(storage).filter(([, value]) => !/^0x0*$/.test(String(value))) : []
      return [address.toLowerCase(), { nonce, code, storage: JSON.stringify(slots.toSorted(([a], [b]) => (a < b ? -1 : 1))) }]
    }),
  )
}

/** The chain itself writes there in each block: https://eips.ethereum.org/EIPS/eip-2935, https://eips.ethereum.org/EIPS/eip-4788 */
const writtenByBlocks = ['0x0000f90827f1c53a10cb7a02335b175320002935', '0x000f3df6d732807ef1319fb7b8bb8522d0beac02']

/** What a plugin may change beside what it made: its own account, and who holds how much of the tokens. @throws Error */
function refuseChanges(before: Accounts, after: Accounts, { own, tokens }: { own: string; tokens: readonly string[] }): void {
  for (const [address, was] of before) {
    if (isSame(address, own)) continue
    const is = after.get(address)
    const mayStore = [...tokens, ...writtenByBlocks].some((each) => isSame(each, address))
    if (is && is.nonce === was.nonce && is.code === was.code && (mayStore || is.storage === was.storage)) continue
    throw new Error(`it changed ${address}, which is not its own`)
  }
}
