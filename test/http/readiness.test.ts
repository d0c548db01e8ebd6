import { expect } from 'chai'
import { failingParts } from '../../core/registry.ts'

const signer = { failing: () => undefined }
const directory = { networks: [] }
const failing = (why: () => Promise<string | undefined>) => failingParts(signer, { failing: why }, directory)

describe('readiness', () => {
  it('names the store if it cannot be written, with the reason', async () => {
    expect(await failing(async () => 'the disk is full')).to.deep.equal([{ part: 'store', reason: 'the disk is full' }])
    expect(await failing(async () => undefined)).to.deep.equal([])
  })

  it('does not wait for a store that hangs', async () => {
    const [part] = await failing(() => new Promise<never>(() => {}))
    expect(part).to.include({ part: 'store' })
  })
})
