// The whole server with the devnet and wallets of its own, in a process of its own; and with a client that has limits, where these are given.
import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { HDNodeWallet, toQuantity } from 'ethers'
import { loadSettings } from '../../../core/config/settings.ts'
import { startKernel } from '../../../core/kernel.ts'
import { createClient } from '../../../testkit/client.ts'
import { saveKey } from '../../../core/keys/keystore.ts'
import { newClient } from '../../../core/tls/certificates.ts'
import { serve } from '../child.ts'
import { makeHome } from '../home.ts'
import { quotePath } from '../quote-path.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const wallets = 11
const passphrase = 'only for measuring'
const etherEach = 10n ** 24n

const [, , limits] = process.argv
/** Its certificate is `limited`. */
const limited = limits === undefined ? undefined : { permissions: ['read', 'trade'], wallets: 'all', limits: JSON.parse(limits) as object }
const home = await makeHome(limited && { limited })
const dataDir = path.join(home.folder, 'data')
await mkdir(dataDir, { mode: 0o700 })
const passphraseFile = path.join(home.folder, 'passphrase')
await writeFile(passphraseFile, passphrase, { mode: 0o600 })
const keys = Array.from({ length: wallets }, () => HDNodeWallet.createRandom())
for (const { privateKey } of keys) await saveKey({ dataDir, chain: 'ethereum', privateKey, passphrase, scryptN: 2 })

const kernel = await startKernel(
  loadSettings({
    confDir: home.confDir,
    env: { SLUICE_WALLET_PASSPHRASE_FILE: passphraseFile },
    flags: {
      'server.port': 0,
      'devnet.enabled': true,
      'devnet.port': 0,
      'log.level': 'error',
      'data.dir': dataDir,
      'plugins.folders': [path.join(root, 'plugins')],
      // So that the market of a token is known a quarter of a minute after its first quote.
      ...(limited && { 'limits.onLocalNetworks': true, 'limits.marketMinutes': 1 }),
    },
  }),
  { print: () => {} },
)
const certsDir = path.join(home.folder, 'certs')
if (limited) await newClient(certsDir, 'limited')
const rpcUrl = kernel.devnet?.rpcUrl ?? ''
for (const { address } of keys) await rpc('anvil_setBalance', [address, toQuantity(etherEach)])
await firstQuote()

export type TradersProcess = typeof handlers
const handlers = serve(
  {
    where: () => ({ url: kernel.url, certsDir, rpcUrl, keys: keys.map(({ privateKey }) => privateKey) }),
    /** Microseconds of processor time so far. */
    cpu: () => process.cpuUsage(),
  },
  async () => {
    await kernel.stop()
    await home.remove()
  },
)

async function rpc(method: string, params: readonly unknown[]): Promise<void> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  const answer = await fetch(rpcUrl, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  if (!answer.ok) throw new Error(`The devnet answered ${method} with ${answer.status}.`)
}

/** Networks start beside the listener: a quote is there a moment later. */
async function firstQuote(): Promise<void> {
  const client = createClient(kernel.url, certsDir)
  for (let tries = 0; tries < 200; tries += 1) {
    if ((await client.get(quotePath(0))).status === 200) return client.close()
    await sleep(50)
  }
  throw new Error('The server gave no quote within 10 s.')
}
