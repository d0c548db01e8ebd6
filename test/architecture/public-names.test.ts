import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect } from 'chai'
import { root } from '../../tools/imports.ts'

/** Types that plugins import from the devnet entry points. Nothing in Sluice imports them, so nothing else holds them. */
const exportedTypes: Readonly<Record<string, readonly string[]>> = {
  'sluice/uniswap-v2/devnet': ['PoolFilling', 'UniswapV2DevnetOptions'],
  'sluice/uniswap-v3/devnet': ['RangePoolFilling', 'UniswapV3DevnetOptions'],
  'sluice/uniswap-v4/devnet': ['KeptPoolFilling', 'UniswapV4DevnetOptions'],
  'sluice/weighted/devnet': ['WeightedDevnetOptions', 'WeightedPoolFilling'],
  'sluice/stable/devnet': ['StableDevnetOptions'],
}

const json = (file: string) => JSON.parse(readFileSync(path.join(root, file), 'utf8'))

describe('the public entry points', () => {
  const { exports } = json('package.json')
  const { paths } = json('tsconfig.json').compilerOptions

  it('are the same for Node, in package.json, as for compilers, in tsconfig.json', () => {
    const { './package.json': _, ...modules } = exports
    const built = Object.entries<string[]>(paths).map(([specifier, [source = '']]) => {
      const module = source.replace(/^\.\/(.+)\.ts$/, './dist/$1')
      return [specifier.replace('sluice/', './'), { types: `${module}.d.ts`, default: `${module}.js` }]
    })
    expect(modules).to.deep.equal(Object.fromEntries(built))
  })

  for (const [specifier, names] of Object.entries(exportedTypes))
    it(`export the types of ${specifier}`, () => {
      const source = readFileSync(path.join(root, paths[specifier][0]), 'utf8')
      for (const name of names) expect(source).to.match(new RegExp(`^export (interface|type) ${name}\\b`, 'm'))
    })
})
