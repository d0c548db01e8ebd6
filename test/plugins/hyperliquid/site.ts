import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { Wallet } from 'ethers'
import { startAnvil, type Anvil } from '../../../core/devnet/anvil.ts'
import { multicall3 } from '../../../kits/evm/index.ts'
import type { ContractSite } from '../../../testkit/index.ts'
import { saveKey } from '../../../core/keys/keystore.ts'
import multicall from '../../../plugins/ethereum/artifacts/Multicall3.json' with { type: 'json' }
import {
  startExchange,
  type ExchangeOptions,
  type HyperliquidExchange,
} from '../../../tools/hyperliquid-simulator/exchange/start-exchange.ts'
import { operatorsOf } from './operators.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url))
export const passphrase = 'correct horse battery'
const chainId = 998

/** What a server needs: the exchange, a node of its chain, and wallets with keys and money at the exchange. */
export interface Site extends ContractSite {
  exchange: HyperliquidExchange
  /** The node of the exchange's chain. */
  node: Anvil
  /** The folder of conf, keys and journal, for servers that are started again on it. */
  folder: string
}

/** @param keys of the three wallets */
export async function startSite(
  rules: ExchangeOptions = {},
  settings: Readonly<Record<string, unknown>> = {},
  keys: readonly Pick<Wallet, 'address' | 'privateKey'>[] = Array.from({ length: 3 }, () => Wallet.createRandom()),
): Promise<Site> {
  const [exchange, anvil] = await Promise.all([startExchange({ testnet: true, ...rules }), startAnvil(0)])
  await anvil.rpc('anvil_setChainId', chainId)
  const code = await anvil.rpc('eth_call', { data: multicall.bytecode }, 'latest')
  await anvil.rpc('anvil_setCode', multicall3, code)
  const folder = await mkdtemp(path.join(tmpdir(), 'sluice-hyperliquid-'))
  const dataDir = path.join(folder, 'data')
  await mkdir(dataDir, { mode: 0o700 })
  await writeFile(path.join(folder, 'passphrase'), `${passphrase}\n`, { mode: 0o600 })
  for (const { privateKey } of keys) await saveKey({ dataDir, chain: 'hyperliquid', privateKey, passphrase, scryptN: 4096 })
  const [first = '', second = '', third = ''] = keys.map(({ address }) => address)
  const operators = operatorsOf(exchange, [first, second, third])
  operators.fund()
  const urls = { apiUrl: exchange.apiUrl, wsUrl: exchange.wsUrl }
  return {
    chain: 'hyperliquid',
    network: 'testnet',
    exchange,
    node: anvil,
    folder,
    wallets: [first, second, third],
    bookOperators: operators,
    server: {
      settings: {
        'plugins.folders': ['hyperliquid', 'hyperliquid-chain'].map((name) => path.join(root, 'plugins', name)),
        'data.dir': dataDir,
        'devnet.enabled': false,
      },
      env: { SLUICE_WALLET_PASSPHRASE_FILE: path.join(folder, 'passphrase') },
      conf: {
        // No test queries the other network.
        'chains/hyperliquid.yml': {
          mainnet: { rpcUrls: ['http://127.0.0.1:1'] },
          testnet: { rpcUrls: [anvil.rpcUrl], pollingSeconds: 0.2 },
        },
        'connectors/hyperliquid.yml': {
          networks: { mainnet: urls, testnet: urls },
          requestWeightPerMinute: 10_000_000,
          marketsSeconds: 1,
          ...settings,
        },
      },
    },
    async stop() {
      await anvil.stop()
      await rm(folder, { recursive: true, force: true })
      await exchange.stop()
    },
  }
}
