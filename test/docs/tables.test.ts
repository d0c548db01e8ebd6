import { expect } from 'chai'
import path from 'node:path'
import { endpoints, errorTable } from '../../core/api/index.ts'
import { settingsTable } from '../../core/config/settings-schema.ts'
import { networkKeys } from '../../core/config/plugin-config.ts'
import { evmChainSchema } from '../../kits/evm/index.ts'
import { solanaChainSchema } from '../../kits/solana/index.ts'
import { parse } from 'yaml'
import { shownMetrics } from './shown-metrics.ts'
import { packageJson } from './package-json.ts'
import { fencesOf, readPage, root, tableOf } from './page.ts'

type Row = readonly (string | undefined)[]

/** The same rows in the same order. Mocha shows no difference between long tables: the missing rows are compared first. */
function expectRows(rows: readonly Row[], wanted: readonly Row[]): void {
  const lines = rows.map((row) => row.join(' | '))
  expect(
    wanted.map((row) => row.join(' | ')).filter((line) => !lines.includes(line)),
    'rows that are missing',
  ).to.deep.equal([])
  expect(rows).to.deep.equal(wanted)
}

describe('the pages that list what the code has', () => {
  it('errors.md has every error with its code, its status, its cause and a remedy', async () => {
    const rows = tableOf(await readPage('docs/bots/errors.md'), 'code')
    const wanted = Object.entries(errorTable).map(([name, { code, http, when }]) => [String(code), name, String(http), when])
    expectRows(
      rows.map((row) => row.slice(0, 4)),
      wanted,
    )
    for (const [, name, , , remedy = ''] of rows) expect(remedy, name).to.match(/\S.*\.$/)
  })

  it('errors.md quotes reasons of refused handshakes as the log has them', async () => {
    const reasons = tableOf(await readPage('docs/bots/errors.md'), 'the log says').map(([reason = '']) => reason)
    const code = await readPage('core/tls/tls-server.ts')
    expect(reasons.filter((reason) => !code.includes(reason))).to.deep.equal([])
  })

  it('api.md has every endpoint with the permission that it needs', async () => {
    const rows = tableOf(await readPage('docs/bots/api.md'), 'method')
    // A union of literal types has the key only where it is set.
    const wanted = endpoints.map((each) => [each.method, each.path, 'permission' in each ? each.permission : '', each.summary])
    expectRows(rows, wanted)
  })

  it('configuration.md has every setting with its default, its variable and its values', async () => {
    const lines = (await readPage('docs/operators/configuration.md')).split('\n')
    const table = settingsTable().split('\n')
    expect(table.filter((line) => !lines.includes(line)).join('\n'), 'lines to paste').to.equal('')
    const start = lines.indexOf(table[0] ?? '')
    expect(lines.slice(start, lines.indexOf('', start))).to.deep.equal(table)
  })

  it('configuration.md has every key of a network of an EVM chain', async () => {
    const rows = tableOf(await readPage('docs/operators/configuration.md'), 'key of a network')
    const { feePolicy, ...plain } = evmChainSchema.properties
    const wanted = [...networkKeys, ...Object.keys(plain), ...Object.keys(feePolicy.properties).map((key) => `feePolicy.${key}`)]
    expect(rows.map(([key]) => key)).to.have.members(wanted)
  })

  it('chains.md has every key of a network of Solana', async () => {
    const rows = tableOf(await readPage('docs/bots/chains.md'), 'key of a Solana network')
    const { feePolicy, ...plain } = solanaChainSchema.properties
    const wanted = [...Object.keys(plain), ...Object.keys(feePolicy.properties).map((key) => `feePolicy.${key}`)]
    expect(rows.flatMap(([keys = '']) => keys.replaceAll('`', '').split(', '))).to.have.members(wanted)
  })

  it('operations.md has every metric with its labels, and alerts on none that is not there', async () => {
    const page = await readPage('docs/operators/operations.md')
    const metrics = shownMetrics()
    const rows = tableOf(page, 'metric').map(([name, labels]) => [name, labels])
    expect(rows).to.have.deep.members(metrics.map(({ name, labels }) => [name, labels.join(', ')]))
    const rules = parse(fencesOf(page).find(({ text }) => text.startsWith('groups:'))?.text ?? '').groups[0].rules
    const used = rules.flatMap(({ expr }: { expr: string }) => expr.match(/sluice_\w+/g))
    expect(metrics.map(({ name }) => name)).to.include.members(used)
  })

  it('dependencies.md has each package with why it is here and what would replace it: installed, bundled, for development', async () => {
    const page = await readPage('docs/design/dependencies.md')
    const { dependencies, devDependencies } = await packageJson()
    const { bundledPackages }: { bundledPackages(): Promise<string[]> } = await import(path.join(root, 'tools/build.mjs'))
    const inBundle = (await bundledPackages()).map((folder) => folder.replace(/^node_modules\//, ''))
    // All that `@solana/kit` has is in packages of that scope.
    const isBundled = (name: string) => inBundle.includes(name) || (name === '@solana/kit' && inBundle.includes('@solana/addresses'))
    const bundled = Object.keys(devDependencies).filter(isBundled)
    for (const [heading, wanted] of [
      ['package', Object.keys(dependencies)],
      ['bundled package', bundled],
      ['package for development', Object.keys(devDependencies).filter((name) => !bundled.includes(name))],
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
