// The table of hostile plugins, each as a contained one and as one that the operator trusts: nothing of them runs in this process.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect } from 'chai'
import { findPlugins, type FoundPlugin, type Tier } from '../../core/plugins/discover/find.ts'
import { createHosts } from '../../core/plugins/isolate/hosts.ts'
import type { LoadResult } from '../../core/plugins/load.ts'
import type { LoadBudget } from '../../core/plugins/load-budget.ts'
import { builtInPlugins } from '../../core/base/layout.ts'
import { fixtures, keptLog, load } from './fixtures.ts'
import { harmlessFixtures, plantFixture, refusedFixtures, refusedInHosts, type Fixture, type RefusedFixture } from './hostile-plugins.ts'

const chains = ['ethereum', 'solana'].map((name) => path.join(builtInPlugins, name))
const honest = path.join(fixtures, 'contained', 'plain-swap')
const market = { staleBlocks: 2, staleBlockSeconds: 60, staleSeconds: 30, checkSeconds: 10, cachedQuotes: 100 }

describe('a hostile plugin', function () {
  // Processes of plugins give way to all others: beside a busy machine's they take ten times as long.
  this.timeout(1_800_000)
  let folder: string
  before(() => (folder = mkdtempSync(path.join(tmpdir(), 'sluice-hostile-'))))
  after(() => rmSync(folder, { recursive: true, force: true }))

  /** Loads these beside honest ones, as a start does. */
  async function loadAs(tier: Tier, each: Readonly<Record<string, Fixture>>, given: Partial<LoadBudget> = {}): Promise<LoadResult> {
    const planted = Object.entries(each).map(([name, fixture]) => plantFixture(path.join(folder, tier), name, fixture))
    const { found, refused } = findPlugins([...chains, honest, ...planted], [])
    const budget = { processorMs: 60_000, clockMs: 900_000, ...given }
    const hosts = createHosts({
      budget,
      market,
      stallSeconds: 60,
      containment: { plugins: { weakContainment: false }, data: { dir: '/nowhere' } },
      logOf: () => keptLog().log,
      webOf: () => ({ named: [], configured: [] }),
      onFault: () => {},
      onDeath: () => {},
    })
    const asTier = (plugin: FoundPlugin) => (plugin.builtIn ? plugin : { ...plugin, tier })
    try {
      return await load([], { plugins: { found: found.map(asTier), refused }, hosts, budget })
    } finally {
      await hosts.stop()
    }
  }

  for (const tier of ['contained', 'trusted'] as const)
    describe(`that is ${tier}`, () => {
      const all: Record<string, RefusedFixture> = { ...refusedFixtures, ...(tier === 'contained' && refusedInHosts) }
      const those = (are: (each: RefusedFixture) => boolean) => Object.fromEntries(Object.entries(all).filter(([, each]) => are(each)))
      const [busy, waiting] = [those(({ takesTime }) => takesTime === true), those(({ waits }) => waits === true)]
      const quick = those(({ takesTime, waits }) => !takesTime && !waits)
      let result: Pick<LoadResult, 'loaded' | 'refused'>
      before(async () => {
        const waited = Object.keys(waiting).length > 0 ? loadAs(tier, waiting, { clockMs: 30_000 }) : undefined
        const rest = await loadAs(tier, { ...quick, ...harmlessFixtures })
        const timed = await loadAs(tier, busy, { processorMs: 5_000 })
        result = { loaded: rest.loaded, refused: [...rest.refused, ...timed.refused, ...((await waited)?.refused ?? [])] }
        expect(timed.loaded.map(({ name }) => name)).to.deep.equal(['ethereum', 'solana', 'plain-swap'])
      })

      it('does not keep others from being loaded', () => {
        const names = ['ethereum', 'solana', 'plain-swap', ...Object.keys(harmlessFixtures)]
        expect(result.refused.filter(({ name }) => names.includes(name))).to.deep.equal([])
        expect(result.loaded.map(({ name }) => name)).to.deep.equal(names)
      })

      for (const [name, { what, step, reason, remedy = /^[A-Z].+\.$/s }] of Object.entries(all))
        it(`fails with step, reason and remedy where it ${what}`, () => {
          const refusal = result.refused.find((each) => each.name === name)
          expect(refusal?.reason).to.match(reason)
          expect(refusal?.step).to.equal(step)
          expect(refusal?.remedy).to.match(step === 'consent' ? new RegExp(`^If you trust it: .+ plugin trust ${name}$`) : remedy)
        })
    })
})
