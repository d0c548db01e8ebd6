// A program: the whole server with a network `proxied`, which is the devnet behind the URL given, and its log on standard
// error. A request has less time than a try at the node. It says where it listens in a line of JSON and ends with its input.
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { startServer } from '../../../testkit/server.ts'

const [rpcUrl = ''] = process.argv.slice(2)
const folder = await mkdtemp(path.join(tmpdir(), 'sluice-proxied-'))
const plugins = path.join(folder, 'plugins')
const root = fileURLToPath(new URL('../../../', import.meta.url))
await cp(path.join(root, 'plugins'), plugins, { recursive: true })
// Where the devnet is not kept, what deploys it imports packages.
await symlink(path.join(root, 'node_modules'), path.join(folder, 'node_modules'))
await add('ethereum/networks.ts', /^ {2}local: (\{.*\},)$/m, '  proxied: $1')
await add('ethereum/defaults.yml', /^local:\n(?: .*\n)+/m, `proxied: { rpcUrls: ['${rpcUrl}'], requestTimeoutSeconds: 6 }`)
await add('uniswap/deployments.ts', /^ {2}'ethereum\/local': (\{.*\},)$/gm, "  'ethereum/proxied': $1")
await add('uniswap/defaults.yml', /^ {2}local:((?:\n {4}.*)+)$/m, '  proxied:$1')

const server = await startServer({
  settings: { 'plugins.folders': [plugins], 'log.level': 'trace', 'server.requestTimeoutSeconds': 4 },
  conf: {
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

/** Adds lines after those found. */
async function add(file: string, found: RegExp, lines: string): Promise<void> {
  const place = path.join(plugins, file)
  const text = await readFile(place, 'utf8')
  const changed = text.replace(found, `$&\n${lines}`)
  if (changed === text) throw new Error(`${file} has nothing like ${found}.`)
  await writeFile(place, changed)
}
