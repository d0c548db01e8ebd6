// Compiles PancakeSwap's factory and router for the devnet from the sources that its packages have: `node tools/artifacts/compile-pancakeswap.mjs`.
// They are of its first version, which kept 0.2 %. The second differs in the constants below: npm @pancakeswap/v2-sdk 1.2.2
// reckons with 9975 and 10000. The compilers are installed into a temporary folder.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { keccak256 } from 'ethers'
import { take, writeArtifact } from './artifacts.mjs'

const packs = {
  core: '@pancakeswap-libs/pancake-swap-core@0.1.0',
  periphery: 'pancakeswap-peripheral@1.1.0-beta.0',
  lib: '@uniswap/lib@1.1.1',
}

const folder = mkdtempSync(path.join(tmpdir(), 'sluice-pancakeswap-'))
try {
  const taken = Object.fromEntries(Object.entries(packs).map(([name, pack]) => [name, take(pack, folder)]))
  const { PancakeFactory, PancakePair } = compile('0.5.16', `${taken.core.files}/contracts`, 'PancakeFactory.sol', {
    'PancakePair.sol': [
      ['mul(1000).sub(amount0In.mul(2))', 'mul(10000).sub(amount0In.mul(25))'],
      ['mul(1000).sub(amount1In.mul(2))', 'mul(10000).sub(amount1In.mul(25))'],
      ['mul(1000**2)', 'mul(10000**2)'],
    ],
  })
  const { PancakeRouter } = compile('0.6.6', `${taken.periphery.files}/contracts`, 'PancakeRouter.sol', {
    'libraries/PancakeLibrary.sol': [
      ["hex'd0d4c4cd0848c93cb4fd1f498d7013ee6bfb25783ea21593d5834f5d250ece66'", `hex'${keccak256(PancakePair.bytecode).slice(2)}'`],
      ['amountIn.mul(998)', 'amountIn.mul(9975)'],
      ['reserveIn.mul(1000).add(amountInWithFee)', 'reserveIn.mul(10000).add(amountInWithFee)'],
      ['reserveIn.mul(amountOut).mul(1000)', 'reserveIn.mul(amountOut).mul(10000)'],
      ['sub(amountOut).mul(998)', 'sub(amountOut).mul(9975)'],
    ],
  })
  console.log(`init-code hash of its pairs: ${keccak256(PancakePair.bytecode)}`)
  for (const [contractName, compiled, { license, package: name, version, integrity }] of [
    ['PancakeFactory', PancakeFactory, taken.core],
    ['PancakeRouter', PancakeRouter, taken.periphery],
  ]) {
    const changed = 'fee of 25/10000: tools/artifacts/compile-pancakeswap.mjs'
    writeArtifact('plugins/pancakeswap/artifacts', { contractName, ...compiled, license, package: name, version, integrity, changed })
  }

  function compile(solcVersion, sources, file, changes) {
    const solc = compiler(solcVersion)
    const read = (name) => {
      const place = name
        .replace('@uniswap/v2-core/', `${taken.core.files}/`)
        .replace('@uniswap/lib/', `${taken.lib.files}/`)
        .replace(/^(?!\/)/, `${sources}/`)
      const content = (changes[path.relative(sources, place)] ?? []).reduce(replaced, readFileSync(place, 'utf8'))
      return { contents: content }
    }
    const settings = { optimizer: { enabled: true, runs: 200 }, outputSelection: { '*': { '*': ['abi', 'evm.bytecode.object'] } } }
    const input = { language: 'Solidity', sources: { [file]: { content: read(file).contents } }, settings }
    const output = JSON.parse(solc.compile(JSON.stringify(input), { import: read }))
    const errors = (output.errors ?? []).filter(({ severity }) => severity === 'error')
    if (errors.length > 0) throw new Error(errors.map(({ formattedMessage }) => formattedMessage).join('\n'))
    const compiled = Object.assign({}, ...Object.values(output.contracts))
    return Object.fromEntries(
      Object.entries(compiled).map(([name, { abi, evm }]) => [
        name,
        { abi, bytecode: `0x${evm.bytecode.object}`, compiler: `solc ${solc.version()}` },
      ]),
    )
  }
} finally {
  rmSync(folder, { recursive: true })
}

function replaced(text, [from, into]) {
  if (text.split(from).length !== 2) throw new Error(`"${from}" is not in the source once.`)
  return text.replace(from, into)
}

function compiler(version) {
  const place = path.join(folder, version)
  const install = ['install', '--prefix', place, '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error', `solc@${version}`]
  if (spawnSync('npm', install, { stdio: ['ignore', 2, 2] }).status !== 0) throw new Error(`npm could not install solc@${version}`)
  return createRequire(path.join(place, 'package.json'))('solc')
}
