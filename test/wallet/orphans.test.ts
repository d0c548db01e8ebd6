import { once } from 'node:events'
import { expect } from 'chai'
import { forkModule } from '../../core/wallet/supervisor.ts'

describe('a process beside the server', () => {
  for (const module of ['signer-keeper', 'signer-process']) {
    it(`ends when the server was gone before it had loaded: ${module}`, async () => {
      const child = forkModule(module)
      try {
        child.disconnect()
        expect(await once(child, 'exit')).to.deep.equal([0, null])
      } finally {
        child.kill('SIGKILL')
      }
    })
  }
})
