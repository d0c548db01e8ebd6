import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect } from 'chai'
import { root } from '../../tools/imports.ts'

/** Types that plugins import from the devnet entry points. Nothing in Sluice imports them, so nothing else holds them. */
const exportedTypes: Readonly<Record<string, readonly string[]>> = {
  './uniswap-v2/devnet': ['PoolFilling', 'UniswapV2DevnetOptions'],
  './uniswap-v3/devnet': ['RangePoolFilling', 'UniswapV3DevnetOptions'],
  './weighted/devnet': ['WeightedDevnetOptions', 'WeightedPoolFilling'],
  './stable/devnet': ['StableDevnetOptions'],
}

describe('the public names of devnet entry points', () => {
  const { exports } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'))
  for (const [subpath, names] of Object.entries(exportedTypes))
    it(`sluice${subpath.slice(1)} exports its types`, () => {
      const source = readFileSync(path.join(root, exports[subpath]), 'utf8')
      for (const name of names) expect(source).to.match(new RegExp(`^export (interface|type) ${name}\\b`, 'm'))
    })
})
