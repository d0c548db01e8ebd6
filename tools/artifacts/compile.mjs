// Compiles contracts/*.sol, or those that are named, and writes their artifacts beside the code that uses them.
// solc is installed into a temporary folder: nobody else needs its nine megabytes.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { writeArtifact } from './artifacts.mjs'

const solcVersion = '0.8.37'
const contracts = fileURLToPath(new URL('../../contracts/', import.meta.url))
const targets = {
  AlgebraLens: 'kits/amm/algebra/artifacts',
  AlgebraV1Lens: 'kits/amm/algebra/artifacts',
  Batch: 'kits/evm/artifacts',
  CoinThief: 'test/fixtures/uniswap-v3',
  FeeOnTransferToken: 'plugins/ethereum/artifacts',
  FlashBorrower: 'test/fixtures/uniswap-v3',
  NoReturnToken: 'plugins/ethereum/artifacts',
  OddToken: 'test/fixtures/tokens',
  OfferLens: 'kits/oasis/artifacts',
  PancakePoolDesk: 'test/fixtures/pancakeswap',
  PerpTrial: 'kits/perp/artifacts',
  PoolLens: 'kits/amm/v3/artifacts',
  StableRouter: 'kits/amm/stable/artifacts',
  SwapTrial: 'kits/amm/artifacts',
  TestAggregator: 'kits/perp/artifacts',
  TestDepositWallet: 'test/fixtures/hyperliquid',
  TestHooks: 'test/fixtures/uniswap-v4',
  TestPoolPlugin: 'test/fixtures/algebra',
  TestToken: 'plugins/ethereum/artifacts',
  TransferProbe: 'kits/amm/artifacts',
  V4Donor: 'test/fixtures/uniswap-v4',
  V4TransferProbe: 'kits/amm/v4/artifacts',
  WeightedLens: 'kits/amm/weighted/artifacts',
}

const folder = mkdtempSync(path.join(tmpdir(), 'sluice-solc-'))
try {
  const install = ['install', '--prefix', folder, '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error', `solc@${solcVersion}`]
  if (spawnSync('npm', install, { stdio: ['ignore', 2, 2] }).status !== 0) throw new Error(`npm could not install solc@${solcVersion}`)
  compile(createRequire(path.join(folder, 'package.json'))('solc'))
} finally {
  rmSync(folder, { recursive: true })
}

function compile(solc) {
  const wanted = process.argv.slice(2).map((name) => `${name}.sol`)
  // All of them are sources: one may import another.
  const all = readdirSync(contracts).filter((name) => name.endsWith('.sol'))
  const names = wanted.length > 0 ? all.filter((name) => wanted.includes(name)) : all
  const sources = Object.fromEntries(all.map((name) => [name, { content: readFileSync(path.join(contracts, name), 'utf8') }]))
  const settings = {
    optimizer: { enabled: true, runs: 200 },
    evmVersion: 'paris', // the oldest that a chain served here may still run
    outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object'] } },
  }
  const output = JSON.parse(solc.compile(JSON.stringify({ language: 'Solidity', sources, settings })))
  const problems = output.errors ?? []
  for (const { formattedMessage } of problems) console.error(formattedMessage)
  if (problems.length > 0) throw new Error('contracts/ must compile without errors and warnings')

  for (const file of names) {
    const contractName = path.basename(file, '.sol')
    const { abi, evm } = output.contracts[file][contractName]
    const bytecode = `0x${evm.bytecode.object}`
    writeArtifact(targets[contractName], {
      contractName,
      abi,
      bytecode,
      license: 'Apache-2.0',
      source: `contracts/${file}`,
      compiler: `solc ${solc.version()}`,
    })
  }
}
