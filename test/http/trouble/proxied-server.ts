// A program: the whole server with a chain `proxied`, which is the devnet behind the URL given, its connectors `proxyswap`, `proxybook` and `proxyperp`, and its log on
// standard error. A request has less time than a try at the node. It says where it listens in a line of JSON and ends with its input.
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { saveKey } from '../../../core/keys/keystore.ts'
import { startServer } from '../../../testkit/server.ts'
import { admins, coldStore, traders } from './questions.ts'

const [rpcUrl = ''] = process.argv.slice(2)
/** WETH of the devnet. */
const wrapped = '0x1b9f902252Ad25601aCB5E70ac1E2035B285D348'
const folder = await mkdtemp(path.join(tmpdir(), 'sluice-proxied-'))
const plugins = path.join(folder, 'plugins')
const [chain, connector] = [path.join(plugins, 'proxied'), path.join(plugins, 'proxyswap')]
const builtIn = (name: string) => fileURLToPath(new URL(`../../../plugins/${name}`, import.meta.url))
const otherNetworks = /^ +'?(?:mainnet|sepolia|[\w-]+\/(?:mainnet|sepolia))'?: .*\n/gm
const isNoDevnet = (file: string) => !path.basename(file).startsWith('devnet')

await cp(builtIn('ethereum'), chain, { recursive: true, filter: isNoDevnet })
await change(path.join(chain, 'index.ts'), /'ethereum',/, "'proxied', version: '0.1.0',")
await change(path.join(chain, 'index.ts'), otherNetworks, '')
await writeFile(path.join(chain, 'defaults.yml'), `local: { rpcUrls: ['${rpcUrl}'], requestTimeoutSeconds: 12 }\n`)
await cp(builtIn('uniswap'), connector, { recursive: true, filter: isNoDevnet })
await change(path.join(connector, 'index.ts'), /'uniswap',/, "'proxyswap', version: '0.1.0',")
await change(path.join(connector, 'deployments.ts'), otherNetworks, '')
await change(path.join(connector, 'deployments.ts'), /'ethereum\/local'/g, "'proxied/local'")
await change(path.join(connector, 'defaults.yml'), /^ {2}\w*(?:mainnet|sepolia):\n(?: {4}.*\n)+/gm, '')

for (const [name, as, file] of [
  ['oasis', 'proxybook', 'markets.ts'],
  ['perp', 'proxyperp', 'index.ts'],
] as const) {
  const folderOf = path.join(plugins, as)
  await cp(builtIn(name), folderOf, { recursive: true, filter: isNoDevnet })
  await change(path.join(folderOf, 'index.ts'), new RegExp(`name: '${name}'`), `name: '${as}', version: '0.1.0'`)
  await change(path.join(folderOf, 'index.ts'), new RegExp(`spenders: \\{ ${name}: `), `spenders: { ${as}: `)
  await change(path.join(folderOf, file), /^ {2}'\w+\/mainnet': \[\n(?: {4}.*\n)+ {2}\],\n/gm, '')
  await change(path.join(folderOf, file), /'ethereum\/local'/g, "'proxied/local'")
  await change(path.join(folderOf, 'defaults.yml'), /^ {2}mainnet:\n(?: {4}.*\n)+/gm, '')
}

// What the chain wraps its coin in is signed for where somebody declares it.
await change(path.join(connector, 'index.ts'), /'v4PositionManagerAddress'\]/, "'v4PositionManagerAddress', 'wrappedAddress']")
await change(path.join(connector, 'defaults.yml'), /^ {2}local:\n(?= {4}v2RouterAddress)/m, `  local:\n    wrappedAddress: '${wrapped}'\n`)

// The devnet's keys are those of its own chain: accounts that hold something there have a key file for this one.
const [dataDir, passphraseFile, passphrase] = [path.join(folder, 'data'), path.join(folder, 'passphrase'), 'correct horse battery']
await writeFile(passphraseFile, `${passphrase}\n`, { mode: 0o600 })
const privateKeys = [
  '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80',
  '0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d',
  '0x5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a',
]
for (const privateKey of privateKeys) await saveKey({ dataDir, chain: 'proxied', privateKey, passphrase, scryptN: 1024 })

const server = await startServer({
  plugins: [plugins],
  trusted: ['proxied', 'proxyswap', 'proxybook', 'proxyperp'],
  env: { SLUICE_WALLET_PASSPHRASE_FILE: passphraseFile },
  settings: { 'data.dir': dataDir, 'log.level': 'trace', 'server.requestTimeoutSeconds': 8 },
  conf: {
    'clients.yml': {
      clients: {
        client: {
          permissions: ['read', 'trade', 'send', 'admin'],
          wallets: 'all',
          sendTo: { [admins]: [coldStore], [traders]: [coldStore] },
        },
      },
    },
    'chains/ethereum.yml': {
      mainnet: { enabled: false },
      sepolia: { enabled: false },
      local: { required: true },
    },
  },
})
process.stdin.resume().on('end', () => {
  void server
    .stop()
    .then(() => rm(folder, { recursive: true, force: true }))
    .then(() => process.exit(0))
})
console.log(JSON.stringify({ url: server.kernel.url, certsDir: server.settings.ssl.certsDir, node: server.rpcUrl }))

async function change(file: string, found: RegExp, into: string): Promise<void> {
  const text = await readFile(file, 'utf8')
  const changed = text.replace(found, into)
  if (changed === text) throw new Error(`${file} has nothing like ${found}.`)
  await writeFile(file, changed)
}
