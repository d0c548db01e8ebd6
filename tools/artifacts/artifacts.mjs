// Takes the contracts that the devnet deploys out of their npm packages: `node tools/artifacts/artifacts.mjs`, or only those of
// some folders: `node tools/artifacts/artifacts.mjs kits/amm/v3`.
// The packages are heavy and some do not install, so only what is needed is kept, with where it is from.
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { keccak256 } from 'ethers'

const root = fileURLToPath(new URL('../..', import.meta.url))
// What Perpetual Protocol v2 needs to run.
const curieContracts = [
  'AccountBalance',
  'BaseToken',
  'ClearingHouse',
  'ClearingHouseConfig',
  'CollateralManager',
  'Exchange',
  'InsuranceFund',
  'MarketRegistry',
  'OrderBook',
  'QuoteToken',
  'Vault',
]
const wanted = [
  {
    pack: '@uniswap/v2-core@1.0.1',
    contract: 'UniswapV2Factory',
    file: 'build/UniswapV2Factory.json',
    to: 'kits/amm/v2/artifacts',
  },
  { pack: '@uniswap/v2-core@1.0.1', contract: 'UniswapV2Pair', file: 'build/UniswapV2Pair.json', to: 'kits/amm/v2/artifacts' },
  {
    pack: '@uniswap/v2-periphery@1.1.0-beta.0',
    contract: 'UniswapV2Router02',
    file: 'build/UniswapV2Router02.json',
    to: 'kits/amm/v2/artifacts',
  },
  { pack: 'canonical-weth@1.4.0', contract: 'WETH9', file: 'build/contracts/WETH9.json', to: 'plugins/ethereum/artifacts' },
  // viem has ABI and creation code as constants of two modules.
  {
    pack: 'viem@2.57.20',
    contract: 'Multicall3',
    modules: ['_esm/constants/abis.js', '_esm/constants/contracts.js'],
    exports: ['multicall3Abi', 'multicall3Bytecode'],
    to: 'plugins/ethereum/artifacts',
  },
  // For tests of what rollups charge.
  ...['GasPriceOracle', 'L1Block'].map((contract) => ({
    pack: '@eth-optimism/contracts-bedrock@0.17.3',
    contract,
    file: `forge-artifacts/${contract}.sol/${contract}.json`,
    to: 'test/fixtures/op-stack',
  })),
  ...uniswapV3('@uniswap/v3-core@1.0.1', ['UniswapV3Factory']),
  ...uniswapV3('@uniswap/v3-periphery@1.4.4', ['NonfungiblePositionManager', 'SwapRouter', 'lens/QuoterV2']),
  ...uniswapV3('@uniswap/swap-router-contracts@1.3.1', ['SwapRouter02', 'lens/MixedRouteQuoterV1']),
  // What is under other licences is read from node_modules where the devnet is deployed (kits/amm/v4/devnet.ts).
  {
    pack: '@uniswap/v4-periphery@1.0.3',
    contract: 'V4Quoter',
    file: 'foundry-out/V4Quoter.sol/V4Quoter.json',
    to: 'kits/amm/v4/artifacts',
  },
  // As it is at its address on every chain, with the package's own script that puts it there.
  {
    pack: '@uniswap/v4-periphery@1.0.3',
    contract: 'Permit2',
    runtime: 'lib/permit2/test/utils/DeployPermit2.sol',
    to: 'kits/amm/v4/artifacts',
  },
  // As they were deployed on Avalanche: the others of the package make pairs that the router does not find.
  ...['JoeFactory', 'JoeRouter02'].map((contract) => ({
    pack: '@traderjoe-xyz/core@2.4.6',
    contract,
    file: `deployments/avalanche/${contract}.json`,
    to: 'plugins/traderjoe/artifacts',
  })),
  ...pangolin('@pangolindex/exchange-contracts@2.1.9'),
  // Curve's own pool of DAI, USDC, USDT and sUSD, which the package deploys in its tests.
  ...['Stableswap', 'CurvePoolERC20'].map((contract) => ({
    pack: '@setprotocol/set-protocol-v2@0.1.16',
    contract,
    file: `external/abi/curve/${contract}.json`,
    to: 'kits/amm/stable/artifacts',
  })),
  // For tests: another's port of Curve's later pools, whose library lies where the tests put it.
  ...['libraries/SwapUtilsExternal', 'helpers/StableSwap', 'helpers/LPToken'].map((place) => ({
    pack: '@connext/smart-contracts@2.4.0',
    contract: path.basename(place),
    file: `artifacts/contracts/core/connext/${place}.sol/${path.basename(place)}.json`,
    library: '000000000000000000000000000000000057ab1e',
    to: 'test/fixtures/stable/artifacts',
  })),
  // For tests of its pools.
  {
    pack: '@pancakeswap/v3-core@1.0.2',
    contract: 'PancakeV3Pool',
    file: 'artifacts/contracts/PancakeV3Pool.sol/PancakeV3Pool.json',
    to: 'test/fixtures/pancakeswap',
  },
  ...balancer('@balancer-labs/v2-deployments@3.2.0'),
  ...curie('@perp/curie-contract@2.8.4', curieContracts),
  ...curie('@perp/perp-oracle-contract@0.6.8', ['ChainlinkPriceFeedV3', 'PriceFeedDispatcher']),
  // The matching market without whose owner's permissions: anybody may do there what the owner may on mainnet.
  {
    pack: '@dydxprotocol/solo@0.28.0',
    contract: 'TestOasisDex',
    file: 'dist/build/published_contracts/TestOasisDex.json',
    to: 'kits/oasis/artifacts',
  },
  // For tests: what the exchange itself quotes by.
  {
    pack: '@perp/curie-deployments@2023.4.12-1681295833590',
    contract: 'Quoter',
    file: 'optimism/periphery/artifacts/contracts/lens/Quoter.sol/Quoter.json',
    to: 'test/fixtures/perp',
  },
]

/** Of its first deployment only ABI and code are there, in a file each; of later ones the artifacts. */
function balancer(pack) {
  const to = 'kits/amm/weighted/artifacts'
  const first = (task, contract) => {
    const [file, code] = ['abi', 'bytecode'].map((part) => `dist/tasks/20210418-${task}/${part}/${contract}.json`)
    return { pack, contract, file, code, to }
  }
  const later = (task, file, contract = file) => ({ pack, contract, file: `dist/tasks/${task}/artifact/${file}.json`, to })
  return [
    first('authorizer', 'Authorizer'),
    first('vault', 'Vault'),
    first('weighted-pool', 'WeightedPool'),
    first('weighted-pool', 'WeightedPool2Tokens'),
    later('20220725-protocol-fee-percentages-provider', 'ProtocolFeePercentagesProvider'),
    later('20230206-weighted-pool-v3', 'WeightedPool', 'WeightedPoolV3'),
  ]
}

function curie(pack, contracts) {
  const to = 'kits/perp/artifacts'
  return contracts.map((contract) => ({ pack, contract, file: `artifacts/contracts/${contract}.sol/${contract}.json`, to }))
}

function pangolin(pack) {
  const to = 'plugins/pangolin/artifacts'
  const file = (room, contract) => `artifacts/contracts/${room}/${contract}.sol/${contract}.json`
  return [
    { pack, contract: 'PangolinFactory', file: file('pangolin-core', 'PangolinFactory'), to },
    {
      pack,
      contract: 'PangolinRouter',
      file: file('pangolin-periphery', 'PangolinRouter'),
      to,
      // It is compiled for the pairs of mainnet, and the package's own have another code.
      pairs: { of: file('pangolin-core', 'PangolinPair'), not: '40231f6b438bce0797c9ada29b718a87ea0a5cea3fe9a771abdd76bd41a3e545' },
    },
  ]
}

function uniswapV3(pack, contracts) {
  return contracts.map((place) => {
    const contract = path.basename(place)
    return { pack, contract, file: `artifacts/contracts/${place}.sol/${contract}.json`, to: 'kits/amm/v3/artifacts' }
  })
}

/** Writes one artifact as `<folder>/<contractName>.json`, the folder relative to the project. */
export function writeArtifact(folder, artifact) {
  const file = path.join(folder, `${artifact.contractName}.json`)
  mkdirSync(path.join(root, folder), { recursive: true })
  writeFileSync(path.join(root, file), `${JSON.stringify(artifact)}\n`)
  console.log(`${file} (${artifact.bytecode.length / 2 - 1} bytes of creation code)`)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await takeAll(process.argv.slice(2))

async function takeAll(folders) {
  const items = folders.length === 0 ? wanted : wanted.filter(({ to }) => folders.some((below) => to.startsWith(below)))
  const folder = mkdtempSync(path.join(tmpdir(), 'sluice-artifacts-'))
  try {
    const packages = new Map([...new Set(items.map(({ pack }) => pack))].map((pack) => [pack, take(pack, folder)]))
    for (const item of items) {
      const { files, ...origin } = packages.get(item.pack)
      const { abi, bytecode } = item.file ? fromJson(files, item) : item.runtime ? fromRuntime(files, item) : await fromModules(files, item)
      writeArtifact(item.to, { contractName: item.contract, abi, bytecode, ...origin })
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Unpacks a package of npm below the folder. */
export function take(pack, folder) {
  const packed = run('npm', ['pack', '--json', '--silent', '--pack-destination', folder, pack], folder)
  const [{ name, version, integrity, filename }] = JSON.parse(packed)
  const files = mkdtempSync(path.join(folder, 'unpacked-'))
  run('tar', ['xzf', path.join(folder, filename), '-C', files, '--strip-components=1'], folder)
  const { license } = JSON.parse(readFileSync(path.join(files, 'package.json'), 'utf8'))
  return { files, license, package: name, version, integrity }
}

function fromJson(files, { file, code: codeFile, pairs, library }) {
  const parse = (name) => JSON.parse(readFileSync(path.join(files, name), 'utf8'))
  const { abi, bytecode } = codeFile ? { abi: parse(file), bytecode: parse(codeFile).creationCode } : parse(file)
  // Foundry has more to say of it.
  const code = typeof bytecode === 'string' ? bytecode : bytecode.object
  const creationCode = code.startsWith('0x') ? code : `0x${code}`
  if (pairs) return { abi, bytecode: lookingFor(creationCode, pairs, files) }
  // What solc leaves where a library's address is to stand.
  return { abi, bytecode: library ? creationCode.replaceAll(/__\$[0-9a-f]{34}\$__/g, library) : creationCode }
}

/** A router that finds other pairs: their init-code hash is a constant in its code, once. */
function lookingFor(code, { of, not }, files) {
  const parts = code.split(not)
  if (parts.length !== 2) throw new Error(`The init-code hash ${not} is ${parts.length - 1} times in the router's code.`)
  return parts.join(keccak256(fromJson(files, { file: of }).bytecode).slice(2))
}

/** Creation code that leaves just this code: it copies what follows it. Of a Solidity file with one hex literal. */
function fromRuntime(files, { runtime }) {
  const code = readFileSync(path.join(files, runtime), 'utf8').match(/hex"([0-9a-f]+)"/)[1]
  const copies = `61${(code.length / 2).toString(16).padStart(4, '0')}80600c6000396000f3`
  return { abi: [], bytecode: `0x${copies}${code}` }
}

async function fromModules(files, { modules, exports: [abi, bytecode] }) {
  const loaded = await Promise.all(modules.map((file) => import(pathToFileURL(path.join(files, file)).href)))
  const constants = Object.assign({}, ...loaded)
  return { abi: constants[abi], bytecode: constants[bytecode] }
}

function run(command, args, cwd) {
  const done = spawnSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'], maxBuffer: 64 * 2 ** 20 })
  if (done.status !== 0) throw new Error(`${command} ${args.join(' ')} failed (${done.status ?? done.signal})`)
  return done.stdout
}
