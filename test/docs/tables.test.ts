import { expect } from 'chai'
import path from 'node:path'
import { endpoints, eventTopics } from '../../core/api/index.ts'
import { actions } from '../../core/config/clients.ts'
import { networkKeys } from '../../core/config/plugin-config.ts'
import { evmChainSchema } from '../../kits/evm/index.ts'
import { solanaChainSchema } from '../../kits/solana/index.ts'
import { packageJson } from './package-json.ts'
import { readPage, root, tableOf } from './page.ts'

describe('the pages that list by hand what the code has', () => {
  it('errors.md quotes reasons of refused handshakes as the log has them', async () => {
    const reasons = tableOf(await readPage('docs/bots/errors.md'), 'the log says').map(([reason = '']) => reason)
    const code = await readPage('core/tls/handshake-refusals.ts')
    expect(reasons.filter((reason) => !code.includes(reason))).to.deep.equal([])
  })

  it('events.md has every topic', async () => {
    const topics = tableOf(await readPage('docs/bots/events.md'), 'topic').map(([topic = '']) => /\w+/.exec(topic)?.[0])
    expect(topics).to.deep.equal(eventTopics)
  })

  it('limits.md has a way out of each act, by endpoints that there are', async () => {
    const rows = tableOf(await readPage('docs/operators/limits.md'), 'act')
    const named = rows.flatMap(([acts = '']) => acts.match(/\w+/g) ?? [])
    expect([...new Set(named)]).to.have.members(actions)
    const paths = rows.flatMap((cells) => (cells[2] ?? '').match(/(?:\/\w+){2,}/g) ?? [])
    expect(paths).to.include('/amm/shares/remove')
    expect(paths.filter((each) => !endpoints.some((endpoint) => endpoint.path === each))).to.deep.equal([])
  })

  it('configuration.md has every key of a network', async () => {
    const rows = tableOf(await readPage('docs/operators/configuration.md'), 'key of a network')
    const { feePolicy, ...plain } = evmChainSchema.properties
    // What Solana's networks have besides is in the same table.
    const wanted = [
      ...networkKeys,
      'subscribeUrls',
      'privateTip',
      'refuseWarnings',
      ...Object.keys(plain),
      ...Object.keys(feePolicy.properties).map((key) => `feePolicy.${key}`),
    ]
    expect(rows.map(([key]) => key)).to.have.members(wanted)
  })

  it('chains.md has every key of a network of Solana', async () => {
    const rows = tableOf(await readPage('docs/bots/chains.md'), 'key of a Solana network')
    const { feePolicy, ...plain } = solanaChainSchema.properties
    const wanted = [...Object.keys(plain), ...Object.keys(feePolicy.properties).map((key) => `feePolicy.${key}`)]
    expect(rows.flatMap(([keys = '']) => keys.replaceAll('`', '').split(', '))).to.have.members(wanted)
  })

  it('dependencies.md has each package with why it is here and what would replace it: installed, bundled, for development', async () => {
    const page = await readPage('docs/design/dependencies.md')
    const { dependencies, devDependencies } = await packageJson()
    const { bundledPackages, installedBeside }: { bundledPackages(): Promise<string[]>; installedBeside: string[] } = await import(
      path.join(root, 'tools/build.mjs')
    )
    const inBundle = (await bundledPackages()).map((folder) => folder.replace(/^node_modules\//, ''))
    // All that `@solana/kit` has is in packages of that scope.
    const isBundled = (name: string) => inBundle.includes(name) || (name === '@solana/kit' && inBundle.includes('@solana/addresses'))
    expect(Object.keys(devDependencies).filter(isBundled)).to.deep.equal([])
    const bundled = Object.keys(dependencies).filter((name) => !installedBeside.includes(name))
    expect(bundled.filter((name) => !isBundled(name))).to.deep.equal([])
    for (const [heading, wanted] of [
      ['package', installedBeside],
      ['bundled package', bundled],
      ['package for development', Object.keys(devDependencies)],
    ] as const) {
      const rows = tableOf(page, heading)
      expect(
        rows.map(([name]) => name),
        heading,
      ).to.have.members(wanted)
      for (const [name, why = '', instead = ''] of rows) expect(why && instead, name).to.match(/\S/)
    }
  })
})
