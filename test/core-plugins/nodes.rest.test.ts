import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect } from 'chai'

const tool = fileURLToPath(new URL('../../tools/nodes.mjs', import.meta.url))

describe('the other versions of Node', function () {
  this.timeout(600_000)

  // `npm run test:nodes` runs more there.
  it('contain plugins of third parties, and refuse them where they cannot, as this one does', async () => {
    // Those of the first and the last supported version differ most.
    const versions = process.env['PACKAGE_TEST_ALL'] ? ['22', '24'] : ['24']
    const args = [tool, 'test/core-plugins/containment.rest.test.ts', '-g', 'is a host|is nowhere, where']
    const { stdout } = await promisify(execFile)(process.execPath, args, { env: { ...process.env, SLUICE_NODES: versions.join() } })
    const passed = [...stdout.matchAll(/=== Node v(\d+)\.[^=]* passing/g)].map(([, version]) => version)
    expect(passed).to.deep.equal(versions)
    expect(stdout).to.not.include('failing')
  })
})
