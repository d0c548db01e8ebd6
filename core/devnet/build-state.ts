import { readFile } from 'node:fs/promises'
import { pathToFileURL, fileURLToPath } from 'node:url'
import { gunzipSync, gzipSync } from 'node:zlib'
import { pause, withTimeout } from '../base/async.ts'
import {
  JsonRpcProvider,
  isHexString,
  Contract,
  ContractFactory,
  toQuantity,
  type BaseContract,
  type TransactionReceipt,
  type TransactionRequest,
  Wallet,
  computeAddress,
  id,
  type Provider,
  Interface,
  type InterfaceAbi,
} from 'ethers'
import type {
  DevnetPlugin,
  DevnetSite,
  DevnetToken,
  DevnetTokenSymbol,
  DevnetTokens,
  MintableToken,
  Artifact,
} from '../contracts/devnet.ts'
import { declaredDevnet, isDeclared, messageOf } from '../plugins/index.ts'
import { DevnetError, chainId, startAnvil, toHex, tradingWallets, type Anvil } from './anvil.ts'
import { deployOutside, readAccounts, type DeployStep, type OutsideBudget, type OutsidePlugin, type StartOutside } from './outside.ts'
import { isObject } from '../base/json.ts'
import { reasonOf } from '../base/errors.ts'

const pluginTimeoutMs = 60_000

/** The deployment of a plugin failed, not the devnet itself. */
class DeploymentFailure extends DevnetError {
  readonly plugin: DevnetPlugin

  constructor(plugin: DevnetPlugin, cause: unknown) {
    super(`The devnet.ts of ${plugin.name} failed: ${reasonOf(cause)}`, { cause })
    this.plugin = plugin
  }
}

/** What plugins of third parties deploy, after all others. */
export interface Outside {
  readonly plugins: readonly OutsidePlugin[]
  readonly start: StartOutside
  readonly budget: OutsideBudget
}

interface BuiltState {
  /** As anvil dumps it (gzipped JSON). */
  readonly state: Buffer
  readonly refused: readonly Refusal[]
}

/** Deploys plugins of the release on a fresh chain. */
async function buildState(plugins: readonly DevnetPlugin[]): Promise<Buffer> {
  const chain = chainOf(plugins)
  const anvil = await startAnvil(0)
  const provider = providerOf(anvil)
  try {
    const tokens = await deployed(chain, chain.tokens(await devnetSite(chain.name, provider)))
    for (const plugin of plugins) {
      const site = await devnetSite(plugin.name, provider)
      if (plugin.deploy) await deployed(plugin, plugin.deploy({ ...site, tokens: mintedBy(site, tokens) }))
    }
    return withoutTraces(await dumpOf(anvil.rpc))
  } finally {
    provider.destroy()
    await anvil.stop()
  }
}

function chainOf(plugins: readonly DevnetPlugin[]) {
  const [chain, ...others] = plugins.filter((plugin) => plugin.tokens)
  if (!chain?.tokens || others.length > 0) throw new DevnetError('The devnet needs exactly one devnet.ts with `tokens`, that of its chain.')
  return { ...chain, tokens: chain.tokens }
}

/** A chain of its own that continues from a state, and its tokens; undefined where anvil refuses the state. */
async function copyOf(state: Buffer, chain: ReturnType<typeof chainOf>) {
  const anvil = await startAnvil(0, ['--no-request-size-limit'])
  const provider = providerOf(anvil)
  const stop = async () => {
    provider.destroy()
    await anvil.stop()
  }
  try {
    // On an empty chain their addresses are those of the state, which has these accounts, too.
    const tokens = await chain.tokens(await devnetSite(chain.name, provider))
    if ((await anvil.rpc('anvil_loadState', toHex(state)).catch(() => false)) === true) return { anvil, provider, tokens, stop }
    await stop()
    return undefined
  } catch (error) {
    await stop()
    throw error
  }
}

/** Deploys what plugins of third parties bring on the state of the release. One that fails leaves nothing. @returns undefined where anvil refuses the state */
export async function deployOnState(
  state: Buffer,
  devnetFiles: readonly string[],
  { plugins, start, budget }: Outside,
): Promise<BuiltState | undefined> {
  const { loaded } = await loadAll(devnetFiles)
  const ofRelease = [...loaded.keys()]
  const copy = await copyOf(state, chainOf(ofRelease))
  if (!copy) return undefined
  const { anvil, provider, tokens, stop } = copy
  try {
    const refused: Refusal[] = []
    let before = await readAccounts(anvil)
    for (const each of plugins) {
      const { name } = each.plugin
      try {
        if (ofRelease.some((plugin) => plugin.name === name)) throw new Error(`another plugin already has the name ${name}`)
        const site = await devnetSite(name, provider)
        before = await deployOutside(each, { anvil, before, site, tokens: mintedBy(site, tokens) }, start, budget)
      } catch (error) {
        refused.push({ file: each.file, reason: `The devnet.ts of ${name} failed: ${messageOf(error)}` })
      }
    }
    return { state: withoutTraces(await dumpOf(anvil.rpc)), refused }
  } finally {
    await stop()
  }
}

const providerOf = ({ rpcUrl }: Pick<Anvil, 'rpcUrl'>): JsonRpcProvider =>
  new JsonRpcProvider(rpcUrl, chainId, { staticNetwork: true, batchMaxCount: 1, cacheTimeout: -1, pollingInterval: 4 })

interface RunningDeployment extends Omit<Outside, 'plugins'> {
  /** The `devnet.ts` with the tokens. */
  readonly chainFile: string
  /** What the chain was made of. */
  readonly state: Buffer
  readonly outside: OutsidePlugin
}

/**
 * Deploys a plugin's contracts on a chain that others trade on, by the same steps as on a copy of it. The plugin's code sees the copy only: a
 * deployment that fails, or changes what is not its own, leaves the chain as it is.
 * @throws Error with what went wrong
 */
export async function deployOnRunning(
  running: Pick<Anvil, 'rpcUrl'>,
  { chainFile, state, outside, start, budget }: RunningDeployment,
): Promise<void> {
  const { name } = outside.plugin
  const copied = await copyOf(state, chainOf([await loadDevnetPlugin(chainFile)]))
  if (!copied) throw new DevnetError('anvil does not load its own state.')
  const { anvil: copy, provider: onCopy, tokens, stop } = copied
  const onChain = providerOf(running)
  try {
    const steps: DeployStep[] = []
    const site = await devnetSite(name, onCopy)
    const to = {
      anvil: copy,
      before: await readAccounts(copy),
      site,
      tokens: mintedBy(site, tokens),
      onStep: (step: DeployStep) => steps.push(step),
    }
    await deployOutside(outside, to, start, budget)
    const here = await devnetSite(name, onChain)
    await repeatSteps(steps, onChain, onCopy, mintedBy(here, tokens))
  } finally {
    onChain.destroy()
    await stop()
  }
}

/** @throws Error where a transaction ends otherwise than on the copy */
async function repeatSteps(
  steps: readonly DeployStep[],
  chain: JsonRpcProvider,
  copy: JsonRpcProvider,
  tokens: DevnetTokens,
): Promise<void> {
  for (const step of steps) {
    if (step.is === 'mint') {
      await tokens[step.symbol].mint(step.to, step.amountRaw)
      continue
    }
    const result: unknown = await chain.send(step.method, [...step.params])
    if (step.method !== 'eth_sendRawTransaction' || typeof result !== 'string') continue
    const expected = await copy.getTransactionReceipt(result)
    const receipt = expected && (await receiptOf(chain, result))
    if (receipt && receipt.status !== expected.status)
      throw new Error(`its transaction ${result} ends otherwise than on a copy of the chain`)
  }
}

/** All of a chain, as anvil writes it. */
export async function dumpOf(rpc: Anvil['rpc']): Promise<Buffer> {
  const dump = await rpc('anvil_dumpState')
  if (!isHexString(dump)) throw new DevnetError('anvil did not return a state.')
  return Buffer.from(dump.slice(2), 'hex')
}

/** Drops the traces of the deployments: nobody reads them, and they are most of the state, which each start loads. */
function withoutTraces(dump: Buffer): Buffer {
  const state: unknown = JSON.parse(gunzipSync(dump).toString())
  return gzipSync(JSON.stringify(state, (key, value: unknown) => (key === 'traces' ? [] : value)))
}

async function deployed<T>(plugin: DevnetPlugin, work: Promise<T>): Promise<T> {
  try {
    return await withTimeout(work, pluginTimeoutMs, () => {
      throw new Error(`deploying took more than ${pluginTimeoutMs / 1000} seconds`)
    })
  } catch (cause) {
    throw new DeploymentFailure(plugin, cause)
  }
}

function mintedBy(site: DevnetSite, tokens: Record<DevnetTokenSymbol, MintableToken>): DevnetTokens {
  const bind = ({ address, decimals, mint }: MintableToken): DevnetToken => ({
    address,
    decimals,
    mint: (to, amountRaw) => mint(site, to, amountRaw),
  })
  return {
    WETH: bind(tokens.WETH),
    USDC: bind(tokens.USDC),
    DAI: bind(tokens.DAI),
    WBTC: bind(tokens.WBTC),
    USDT: bind(tokens.USDT),
    TAX: bind(tokens.TAX),
  }
}

export interface Refusal {
  file: string
  reason: string
}

/** Those that can be loaded, with their files. */
async function loadAll(devnetFiles: readonly string[]): Promise<{ loaded: Map<DevnetPlugin, string>; refused: Refusal[] }> {
  const loaded = new Map<DevnetPlugin, string>()
  const refused: Refusal[] = []
  for (const file of devnetFiles) {
    try {
      const plugin = await loadDevnetPlugin(file)
      const namesake = [...loaded].find(([{ name }]) => name === plugin.name)
      if (namesake) throw new Error(`${namesake[1]} already has the name ${plugin.name}`)
      loaded.set(plugin, file)
    } catch (error) {
      refused.push({ file, reason: reasonOf(error) })
    }
  }
  return { loaded, refused }
}

/** Deploys every plugin of the release. After a failure the other plugins are deployed again on a fresh chain, without the one that failed. */
export async function deployPlugins(devnetFiles: readonly string[]): Promise<BuiltState> {
  const { loaded: files, refused } = await loadAll(devnetFiles)
  for (;;) {
    try {
      return { state: await buildState([...files.keys()]), refused }
    } catch (error) {
      const file = error instanceof DeploymentFailure && !error.plugin.tokens ? files.get(error.plugin) : undefined
      if (!(error instanceof DeploymentFailure) || file === undefined) throw error
      files.delete(error.plugin)
      refused.push({ file, reason: error.message })
    }
  }
}

const deployerEther = 1_000_000n

/** What a plugin deploys with. Transactions are sent one after another, so nonces follow the order of calls. */
export async function devnetSite(pluginName: string, provider: JsonRpcProvider): Promise<DevnetSite> {
  await provider.send('anvil_setBalance', [deployerAddress(pluginName), toQuantity(deployerEther * 10n ** 18n)])
  return siteOf(pluginName, provider)
}

/** The same for an account that has ether already. */
export function siteOf(pluginName: string, provider: JsonRpcProvider): DevnetSite {
  const signer = deployer(pluginName, provider)
  return {
    provider,
    signer,
    wallets: tradingWallets,
    artifact: readArtifact,
    async deploy({ abi, bytecode }, ...constructorArguments) {
      const creation = await new ContractFactory(abi, bytecode).getDeployTransaction(...constructorArguments)
      const { contractAddress } = await mined(provider, signer, creation)
      if (contractAddress === null) throw new Error('The transaction created no contract.')
      return new Contract(contractAddress, abi, signer)
    },
    async send(contract: BaseContract, method: string, ...args: unknown[]): Promise<TransactionReceipt> {
      const call = contract.connect(signer).getFunction(method)
      return mined(provider, signer, await call.populateTransaction(...args))
    },
  }
}

// Fixed values: an estimate takes longer than the transaction. Half of a block's gas, and many times the initial base fee.
const gasLimit = 15_000_000n
const maxFeePerGas = 100_000_000_000n
const askAgainMs = 2

/**
 * Polls for the receipt. ethers waits for the next block instead, which never comes where the transaction was in the last one: this chain
 * makes blocks for transactions only.
 */
async function mined(provider: JsonRpcProvider, signer: Wallet, wanted: TransactionRequest): Promise<TransactionReceipt> {
  const { chainId } = await provider.getNetwork()
  const nonce = await provider.getTransactionCount(signer.address)
  const fees = { type: 2, maxFeePerGas, maxPriorityFeePerGas: 0n }
  const transaction = { gasLimit, ...wanted, ...fees, nonce, chainId, from: signer.address }
  const signed = await signer.signTransaction(transaction)
  const hash: unknown = await provider.send('eth_sendRawTransaction', [signed])
  if (typeof hash !== 'string') throw new Error('The chain returned no transaction hash.')
  const receipt = await receiptOf(provider, hash)
  if (receipt.status === 0) {
    // Throws the reason of the revert.
    await provider.call({ ...transaction, nonce: null })
    throw new Error(`The transaction ${hash} reverted.`)
  }
  return receipt
}

async function receiptOf(provider: JsonRpcProvider, hash: string): Promise<TransactionReceipt> {
  for (;;) {
    const receipt = await provider.getTransactionReceipt(hash)
    if (receipt) return receipt
    await pause(askAgainMs)
  }
}

/** The account that deploys a plugin's contracts. Its key is derived from the plugin's name, so it is the same in every build. */
export function deployer(pluginName: string, provider: Provider): Wallet {
  return new Wallet(deployerKey(pluginName), provider)
}

export function deployerAddress(pluginName: string): string {
  return computeAddress(deployerKey(pluginName))
}

// Not a secret: the account holds only the devnet's play money.
function deployerKey(pluginName: string): string {
  return id(`sluice devnet: ${pluginName}`)
}

/** Imports a plugin's `devnet.ts` and checks its default export. */
export async function loadDevnetPlugin(file: string): Promise<DevnetPlugin> {
  const declared = isDeclared({ entry: file }) ? await declaredDevnet(file) : undefined
  if (declared) return declared
  const module: unknown = await import(pathToFileURL(file).href)
  if (isObject(module) && 'default' in module && isDevnetPlugin(module.default)) return module.default
  throw new Error('the default export must be defineDevnet({ name, deploy })')
}

function isDevnetPlugin(value: unknown): value is DevnetPlugin {
  if (!isObject(value)) return false
  if (!('name' in value) || typeof value.name !== 'string' || value.name === '') return false
  const methods = [
    'tokens' in value ? value.tokens : undefined,
    'deploy' in value ? value.deploy : undefined,
    'quoter' in value ? value.quoter : undefined,
    'clusterQuoter' in value ? value.clusterQuoter : undefined,
    'perpOperator' in value ? value.perpOperator : undefined,
    'bookOperators' in value ? value.bookOperators : undefined,
  ]
  return methods.every((method) => method === undefined || typeof method === 'function') && methods.some((method) => method !== undefined)
}

/** Reads `artifacts/<name>.json` in the folder of the module that asks for it. */
export async function readArtifact(name: string, moduleUrl: string): Promise<Artifact> {
  const file = fileURLToPath(new URL(`artifacts/${name}.json`, moduleUrl))
  const artifact: unknown = JSON.parse(await readFile(file, 'utf8'))
  if (!isArtifact(artifact))
    throw new DevnetError(
      `${file} is no artifact: it needs contractName, abi, bytecode and license. Write it again with tools/artifacts/artifacts.mjs.`,
    )
  return artifact
}

function isArtifact(value: unknown): value is Artifact {
  if (!isObject(value)) return false
  return (
    'contractName' in value &&
    typeof value.contractName === 'string' &&
    'license' in value &&
    typeof value.license === 'string' &&
    'bytecode' in value &&
    isHexString(value.bytecode) &&
    'abi' in value &&
    isAbi(value.abi)
  )
}

function isAbi(value: unknown): value is InterfaceAbi {
  if (!Array.isArray(value)) return false
  try {
    return Interface.from(value).fragments.length === value.length
  } catch {
    return false
  }
}
