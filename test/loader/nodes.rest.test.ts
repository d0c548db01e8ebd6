import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect } from 'chai'

const tool = fileURLToPath(new URL('../../tools/nodes.mjs', import.meta.url))

describe('the other versions of Node', function () {
  this.timeout(600_000)

  // `npm run test:nodes` runs more there.
  it('contain plugins of third parties, and refuse them where they cannot, as this one does', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [
      tool,
      'test/loader/containment.rest.test.ts',
      '-g',
      'is a host|is nowhere, where',
    ])
    expect(stdout).to.match(/=== Node v22\.[\s\S]* passing[\s\S]*=== Node v24\.[\s\S]* passing/)
    expect(stdout).to.not.include('failing')
  })
})
