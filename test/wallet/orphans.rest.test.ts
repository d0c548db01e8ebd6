import { once } from 'node:events'
import { expect } from 'chai'
import { forkModule } from '../../core/wallet/supervisor.ts'

describe('the keeper and the signer', () => {
  for (const module of ['signer-keeper', 'signer-process']) {
    it(`end when the server is gone before they have loaded: ${module}`, async () => {
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
