import { readFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { concat, Contract, Interface, JsonRpcProvider, toBeHex, Wallet } from 'ethers'
import { parse } from 'yaml'
import { startAnvil, type Anvil } from '../../../core/devnet/anvil.ts'
import { multicall3 } from '../../../kits/evm/index.ts'
import { saveKey } from '../../../core/keys/keystore.ts'
import multicall from '../../../plugins/ethereum/artifacts/Multicall3.json' with { type: 'json' }
import testToken from '../../../plugins/ethereum/artifacts/TestToken.json' with { type: 'json' }
import testDepositWallet from '../../fixtures/hyperliquid/TestDepositWallet.json' with { type: 'json' }
import { until } from '../../../tools/hyperliquid-simulator/client.ts'
import { fromUnits } from '../../../tools/hyperliquid-simulator/exchange/amounts.ts'
import { accountOf } from '../../../tools/hyperliquid-simulator/exchange/engine.ts'
import { passphrase, startSite, type Site } from './site.ts'
import { usdc } from './venue.ts'

const plugins = fileURLToPath(new URL('../../../plugins/', import.meta.url))
const { contractAddresses, bridges } = parse(readFileSync(path.join(plugins, 'hyperliquid/defaults.yml'), 'utf8'))
/** Where Arbitrum's testnet accepts deposits, as the connector is configured. */
export const bridge: Readonly<Record<'network' | 'token' | 'recipient', string>> = bridges.testnet.arbitrum
export const { coreDepositWallet }: { coreDepositWallet: string } = contractAddresses.testnet
const arbitrumId = 421614
/** Arbitrum's precompile that returns the block number. */
const arbSys = { at: '0x0000000000000000000000000000000000000064', code: '0x435f5260205ff3' }
const leastBridgedRaw = 5_000_000n

const token = new Interface(testToken.abi)
const depositWallet = new Interface(testDepositWallet.abi)

/** A chain that deposits come from. */
export interface Source {
  /** Mints the token that is deposited. */
  mint(to: string, amountRaw: bigint): Promise<void>
  balanceRaw(owner: string): Promise<bigint>
  /** The number of a wallet's transactions. */
  sent(owner: string): Promise<number>
}

export interface DepositSite extends Site {
  evm: Source
  arbitrum: Source
  /** Looks for deposits on both chains and credits each once, as the exchange does. */
  creditDeposits(): Promise<void>
}

/** The exchange and the chains that deposits come from, with contracts at the connector's addresses. Only the first wallet has a key on Arbitrum. */
export async function startDepositSite(): Promise<DepositSite> {
  const keys = Array.from({ length: 3 }, () => Wallet.createRandom())
  const [site, anvil] = await Promise.all([startSite({}, {}, keys), startAnvil(0)])
  await anvil.rpc('anvil_setChainId', arbitrumId)
  await put(anvil, multicall3, multicall.bytecode)
  await anvil.rpc('anvil_setCode', arbSys.at, arbSys.code)
  await put(site.node, coreDepositWallet, concat([testDepositWallet.bytecode, depositWallet.encodeDeploy([usdc.address])]))
  const wallets = keys.map(({ address }) => address)
  const evm = await sourceOf(site.node, usdc, wallets)
  const arbitrum = await sourceOf(anvil, { symbol: 'USDC2', address: bridge.token, decimals: usdc.decimals }, wallets)
  const { settings, conf } = site.server ?? {}
  await saveKey({
    dataDir: String(settings?.['data.dir']),
    chain: 'arbitrum',
    privateKey: keys[0]?.privateKey ?? '',
    passphrase,
    scryptN: 4096,
  })

  const seen = new Set<string>()
  async function newEvents({ provider }: { provider: JsonRpcProvider }, address: string, abi: Interface) {
    const logs = await provider.getLogs({ address, fromBlock: 0 })
    return logs.flatMap((log) => {
      const key = `${log.transactionHash} ${log.index}`
      const isNew = !seen.has(key)
      seen.add(key)
      return (isNew && abi.parseLog(log)) || []
    })
  }
  const toSpot = (user: string, raw: bigint) => site.exchange.credit(user.toLowerCase(), 'USDC', fromUnits(raw, usdc.decimals))
  const toPerp = (user: string, raw: bigint) => site.exchange.deposit(user.toLowerCase(), fromUnits(raw, usdc.decimals))

  return {
    ...site,
    evm,
    arbitrum,
    async creditDeposits() {
      for (const { name, args } of await newEvents(arbitrum, bridge.token, token)) {
        if (name !== 'Transfer' || args.to !== bridge.recipient || args.value < leastBridgedRaw) continue
        const { mode } = accountOf(site.exchange.engine, args.from.toLowerCase())
        // Accounts that share their balances have them in spot.
        if (mode === 'portfolioMargin') toSpot(args.from, args.value)
        else toPerp(args.from, args.value)
      }
      for (const { name, args } of await newEvents(evm, coreDepositWallet, depositWallet)) {
        if (name === 'SendAsset') toPerp(args.coreRecipient, args.coreAmount / 100n)
        else if (args.from !== coreDepositWallet) toSpot(args.from, args.amount)
      }
    },
    server: {
      ...site.server,
      settings: {
        ...settings,
        'plugins.folders': [
          ...['hyperliquid', 'hyperliquid-chain', 'arbitrum'].map((name) => path.join(plugins, name)),
          // A test can add a plugin of its own here before it starts a server.
          path.join(site.folder, 'greedy'),
        ],
      },
      conf: {
        ...conf,
        'chains/arbitrum.yml': {
          // No test queries the other network.
          mainnet: { rpcUrls: ['http://127.0.0.1:1'] },
          sepolia: { rpcUrls: [anvil.rpcUrl], pollingSeconds: 0.2 },
        },
      },
    },
    async stop() {
      for (const { provider } of [evm, arbitrum]) provider.destroy()
      await anvil.stop()
      await site.stop()
    },
  }
}

/** Puts the code that creation code returns at a chosen address. */
async function put({ rpc }: Anvil, at: string, creationCode: string): Promise<void> {
  await rpc('anvil_setCode', at, await rpc('eth_call', { data: creationCode }, 'latest'))
}

async function sourceOf(node: Anvil, { symbol, address, decimals }: typeof usdc, wallets: readonly string[]) {
  await put(node, address, concat([testToken.bytecode, token.encodeDeploy(['USD Coin', symbol, decimals])]))
  // Storage that the constructor writes is not part of the code: the symbol, as Solidity stores a short string.
  const text = Buffer.from(symbol).toString('hex').padEnd(62, '0')
  await node.rpc('anvil_setStorageAt', address, toBeHex(1, 32), `0x${text}${toBeHex(symbol.length * 2).slice(2)}`)
  const provider = new JsonRpcProvider(node.rpcUrl, undefined, { staticNetwork: true, cacheTimeout: -1, pollingInterval: 50 })
  const minter = Wallet.createRandom(provider)
  for (const wallet of [minter.address, ...wallets]) await node.rpc('anvil_setBalance', wallet, toBeHex(10n ** 20n))
  const contract = new Contract(address, token, minter)
  return {
    provider,
    async mint(to: string, amountRaw: bigint) {
      const { hash } = await contract.getFunction('mint')(to, amountRaw)
      // Of a block that came before ethers looks for blocks, its wait() hears nothing, and this node makes no other one.
      await until(async () => (await provider.getTransactionReceipt(hash)) !== null)
    },
    balanceRaw: (owner: string): Promise<bigint> => contract.getFunction('balanceOf')(owner),
    sent: (owner: string) => provider.getTransactionCount(owner),
  }
}
