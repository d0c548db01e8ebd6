import { expect } from 'chai'
import { spawnSync } from 'node:child_process'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))

describe('plugins and core', function () {
  this.timeout(300_000)
  it('share one instance when the tests run in parallel', () => {
    const flags = [
      '--no-config',
      '--no-package',
      '--node-option',
      'import=tsx/esm',
      '--parallel',
      '--jobs',
      '2',
      '--timeout',
      '100000',
      '--reporter',
      'dot',
    ]
    const specs = ['load-plugins', 'call-plugin'].map((name) => path.join(root, 'test/core-plugins', `${name}.test.ts`))

    const ran = spawnSync(
      process.execPath,
      [path.join(root, 'node_modules/mocha/bin/mocha.js'), ...flags, '--grep', 'one core|outside|calling', ...specs],
      { cwd: root, encoding: 'utf8' },
    )

    expect(ran.status, ran.stdout + ran.stderr).to.equal(0)
    expect(ran.stdout).to.match(/1\d passing/)
  })
})
