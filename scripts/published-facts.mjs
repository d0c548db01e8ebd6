// Takes what projects publish on npm about their own deployments, for tests to compare ours with: `node scripts/published-facts.mjs`.
// The packages are heavy and some do not install, so only the facts are kept, with where they are from.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { take } from './artifacts.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const target = 'test/fixtures/published'
const chainIds = [1, 11155111]

const wanted = [
  {
    pack: 'viem@2.57.20',
    name: 'viem',
    read: async (files) => Object.fromEntries(await Promise.all(['mainnet', 'sepolia'].map((chain) => viemChain(files, chain)))),
  },
  {
    pack: '@uniswap/sdk-core@7.19.4',
    name: 'uniswap-sdk-core',
    read: async (files) =>
      onOurChains(await constants(path.join(files, 'dist/esm/src/addresses.js'), ['V2_FACTORY_ADDRESSES', 'V2_ROUTER_ADDRESSES'])),
  },
  {
    pack: '@uniswap/v2-sdk@4.21.4',
    name: 'uniswap-v2-sdk',
    // Its module imports half a library: the constant is read as text.
    read: (files) => ({
      INIT_CODE_HASH: /INIT_CODE_HASH = '(0x\w+)'/.exec(readFileSync(path.join(files, 'dist/esm/src/constants.js'), 'utf8'))[1],
    }),
  },
  {
    pack: 'sushi@7.3.15',
    name: 'sushi',
    read: (files) => sushiswap(readFileSync(path.join(files, '_esm/evm/config/features/sushiswap-v2.js'), 'utf8')),
  },
  {
    pack: '@uniswap/default-token-list@22.21.0',
    name: 'uniswap-default-token-list',
    read: (files) => ourTokens(JSON.parse(readFileSync(path.join(files, 'build/uniswap-default.tokenlist.json'), 'utf8'))),
  },
]

const folder = mkdtempSync(path.join(tmpdir(), 'sluice-facts-'))
try {
  mkdirSync(path.join(root, target), { recursive: true })
  for (const { pack, name, read } of wanted) {
    const { files, ...origin } = take(pack, folder)
    const file = path.join(target, `${name}.json`)
    writeFileSync(path.join(root, file), `${JSON.stringify({ ...origin, facts: await read(files) }, null, 1)}\n`)
    console.log(file)
  }
} finally {
  rmSync(folder, { recursive: true })
}

async function viemChain(files, name) {
  const { [name]: chain } = await constants(path.join(files, `_esm/chains/definitions/${name}.js`), [name])
  return [name, { id: chain.id, nativeCurrency: chain.nativeCurrency, multicall3: chain.contracts.multicall3.address }]
}

/** Bundled, since the packages import their own files as only bundlers do. */
async function constants(file, names) {
  const { outputFiles } = await build({
    stdin: { contents: `export { ${names.join(', ')} } from ${JSON.stringify(file)}`, resolveDir: path.dirname(file) },
    bundle: true,
    format: 'esm',
    write: false,
    logLevel: 'silent',
  })
  const module = await import(`data:text/javascript,${encodeURIComponent(outputFiles[0].text)}`)
  return Object.fromEntries(names.map((name) => [name, module[name]]))
}

/** Its module imports all of viem: the maps are read as text, from `export const NAME = {` to the end of the map. */
function sushiswap(text) {
  const maps = ['SUSHISWAP_V2_FACTORY_ADDRESS', 'SUSHISWAP_V2_ROUTER_ADDRESS', 'SUSHISWAP_V2_INIT_CODE_HASH'].map((name) => {
    const [, map] = new RegExp(`export const ${name} = \\{(.*?)\n\\};`, 's').exec(text)
    const of = (chain) => new RegExp(`\\[EvmChainId\\.${chain}\\]: '(0x\\w+)'`).exec(map)[1]
    return [name, { 1: of('ETHEREUM'), 11155111: of('SEPOLIA') }]
  })
  return Object.fromEntries(maps)
}

function onOurChains(maps) {
  return Object.fromEntries(Object.entries(maps).map(([name, map]) => [name, Object.fromEntries(chainIds.map((id) => [id, map[id]]))]))
}

/** Those that stand in a list of ours by address, or have a symbol of ours: a wrong address of ours shows beside the right one. */
function ourTokens({ tokens }) {
  const ours = JSON.parse(readFileSync(path.join(root, 'plugins/ethereum/tokens.json'), 'utf8')).tokens.filter(({ chainId }) =>
    chainIds.includes(chainId),
  )
  const symbols = new Set(ours.map(({ chainId, symbol }) => `${chainId} ${symbol}`))
  return tokens
    .filter(({ chainId, symbol }) => symbols.has(`${chainId} ${symbol}`))
    .map(({ chainId, symbol, address, decimals }) => ({ chainId, symbol, address, decimals }))
}
