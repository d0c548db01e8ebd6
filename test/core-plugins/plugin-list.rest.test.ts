import { expect } from 'chai'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { trustPlugins } from '../../testkit/server.ts'
import { programArgs } from '../program.ts'
import { brokenPlugins, goodPlugins } from './fixtures.ts'

describe('sluice plugin list', function () {
  this.timeout(300_000)
  let home: string
  before(() => {
    home = mkdtempSync(path.join(os.tmpdir(), 'sluice-plugin-list-'))
    mkdirSync(path.join(home, 'conf'))
  })
  after(() => rmSync(home, { recursive: true, force: true }))

  async function list(folders: readonly string[], disabled = '') {
    await trustPlugins({ plugins: { folders, disabled: [] }, confDir: path.join(home, 'conf') })
    const env = {
      ...process.env,
      SLUICE_CONF: path.join(home, 'conf'),
      SLUICE_PLUGINS_FOLDERS: folders.join(','),
      SLUICE_PLUGINS_DISABLED: disabled,
    }
    const program = await programArgs(new URL('../../core/main.ts', import.meta.url))
    return spawnSync(process.execPath, [...program, 'plugin', 'list'], { cwd: home, env, encoding: 'utf8' })
  }

  it('shows what is loaded, with its networks', async () => {
    const { status, stdout, stderr } = await list([goodPlugins], 'fixture-compiled')

    expect(stderr).to.equal('')
    expect(stdout).to.match(/^fixture-chain +chain +trusted +0\.1\.0 +- +2 networks$/m)
    expect(stdout).to.match(/^fixture-swap +connector +trusted +1\.2\.3 +AMM +2 networks$/m)
    expect(stdout).to.match(/^fixture-compiled +- +disabled +- +- +-$/m)
    expect(status).to.equal(0)
  })

  it('shows what is refused with reason and remedy, and fails', async () => {
    const { status, stdout } = await list([goodPlugins, path.join(brokenPlugins, 'verb-missing')])

    expect(stdout).to.match(
      /^verb-missing +connector +refused +0\.1\.0 +AMM +fixture-chain\/mainnet\n {2}create: AMM has no fill\n {2}→ .+\n( {4}.+\n)* {2}\/.+verb-missing$/m,
    )
    expect(status).to.equal(1)
  })
})
