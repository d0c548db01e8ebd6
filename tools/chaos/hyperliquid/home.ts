import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Wallet } from 'ethers'
import { stringify } from 'yaml'
import { saveKey } from '../../../core/keys/keystore.ts'
import type { HyperliquidExchange } from '../../hyperliquid-simulator/exchange/start-exchange.ts'
import type { Home } from '../servers/home.ts'

const passphrase = 'correct horse battery'

/** Seconds until the exchange refuses what has not come: short, so that much of what is late is. */
export const ttlSeconds = 5
/** How often memory is compared with the exchange, and how long it is believed in silence. */
export const checkSeconds = 2
export const staleSeconds = 15

/** A home for servers on the exchange alone, with the keys of some wallets and of the agent of the last of them. */
export async function makeHyperliquidHome(
  { apiUrl, wsUrl }: Pick<HyperliquidExchange, 'apiUrl' | 'wsUrl'>,
  { rpcUrl, plugins, wallets, agent }: { rpcUrl: string; plugins: string; wallets: readonly Wallet[]; agent: Wallet },
): Promise<Home> {
  const folder = await mkdtemp(path.join(tmpdir(), 'sluice-chaos-hyperliquid-'))
  const [confDir, certsDir, dataDir] = ['conf', 'certs', 'data'].map((name) => path.join(folder, name)) as [string, string, string]
  const passphraseFile = path.join(folder, 'passphrase')
  const urls = { apiUrl, wsUrl }
  const conf = {
    'clients.yml': { clients: { client: { permissions: ['read', 'trade', 'thin', 'admin'], wallets: 'all' } } },
    'chains/hyperliquid.yml': {
      mainnet: { enabled: false },
      testnet: { required: true, rpcUrls: [rpcUrl], pollingSeconds: 0.2 },
    },
    'connectors/hyperliquid.yml': {
      networks: { mainnet: urls, testnet: urls },
      agents: { [wallets.at(-1)?.address ?? '']: agent.address },
      ttl: ttlSeconds,
      marketsSeconds: 5,
      requestWeightPerMinute: 10_000_000,
    },
  }
  for (const [name, content] of Object.entries(conf)) {
    const file = path.join(confDir, name)
    await mkdir(path.dirname(file), { recursive: true })
    await writeFile(file, stringify(content))
  }
  await mkdir(dataDir)
  await chmod(dataDir, 0o700)
  await writeFile(passphraseFile, `${passphrase}\n`, { mode: 0o600 })
  for (const { privateKey } of [...wallets, agent]) await saveKey({ dataDir, chain: 'hyperliquid', privateKey, passphrase, scryptN: 4096 })
  return {
    folder,
    confDir,
    certsDir,
    dataDir,
    flags: {
      'server.port': 0,
      'server.requestTimeoutSeconds': 8,
      'devnet.enabled': false,
      'log.level': 'warn',
      'data.dir': dataDir,
      // A machine that tests much at once is slow.
      'limits.pluginLoadSeconds': 60,
      'plugins.folders': ['hyperliquid', 'hyperliquid-chain'].map((name) => path.join(plugins, name)),
      'market.checkSeconds': checkSeconds,
      'market.staleSeconds': staleSeconds,
    },
    env: { SLUICE_WALLET_PASSPHRASE_FILE: passphraseFile },
    remove: () => rm(folder, { recursive: true, force: true }),
  }
}
