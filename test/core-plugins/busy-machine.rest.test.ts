import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { expect } from 'chai'
import { goodPlugins, load } from './fixtures.ts'
import { plantPlugin } from './plant-plugin.ts'

describe('loading a plugin on a busy machine', function () {
  this.timeout(300_000)
  let folder: string
  beforeEach(() => {
    folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'sluice-busy-')))
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  it('counts its processor time: one that waited for a processor for longer is loaded', async () => {
    const starved = `Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 9_000)`
    const plugin = plantPlugin(folder, 'fixture-chain', 'starved-chain', starved)
    const { loaded, refused } = await load([plugin], { budget: { processorMs: 8_000, clockMs: 60_000 } })
    expect(refused).to.deep.equal([])
    expect(loaded.map(({ name }) => name)).to.deep.equal(['starved-chain'])
  })

  it('loads again what was refused for lack of time, and then the connector that lacked its chain', async () => {
    const slow = path.join(folder, 'slow')
    writeFileSync(slow, '')
    const chain = plantPlugin(
      folder,
      'fixture-chain',
      'late-chain',
      `import { existsSync } from 'node:fs'\nwhile (existsSync(${JSON.stringify(slow)})) {}`,
    )
    const connector = plantPlugin(folder, 'fixture-swap', 'late-swap', '')
    const entry = path.join(connector, 'index.ts')
    writeFileSync(entry, readFileSync(entry, 'utf8').replaceAll('fixture-chain', 'late-chain'))
    const first = await load([chain, connector, path.join(goodPlugins, 'fixture-chain')], {
      budget: { processorMs: 3_000, clockMs: 60_000 },
    })
    expect(first.loaded.map(({ name }) => name)).to.deep.equal(['fixture-chain'])
    expect(first.refused.map(({ name, step, temporary }) => [name, step, temporary])).to.deep.equal([
      ['late-chain', 'import', true],
      ['late-swap', 'networks', undefined],
    ])
    rmSync(slow)
    const again = await first.retryRefused(first.refused)
    expect(again.refused).to.deep.equal([])
    expect(again.loaded.map(({ name }) => name)).to.deep.equal(['late-chain', 'late-swap'])
  })
})
