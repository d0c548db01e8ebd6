import { expect } from 'chai'
import { failingParts } from '../../core/registry.ts'

const signer = { failing: () => undefined }
const registry = { networks: [], plugins: [] }
const failing = (why: () => Promise<string | undefined>) => failingParts({ signer, store: { failing: why }, registry, required: [] })

describe('readiness', () => {
  it('names the store if it cannot be written, with the reason', async () => {
    expect(await failing(async () => 'the disk is full')).to.deep.equal([{ part: 'store', reason: 'the disk is full' }])
    expect(await failing(async () => undefined)).to.deep.equal([])
  })

  it('does not wait for a store that hangs', async () => {
    const [part] = await failing(() => new Promise<never>(() => {}))
    expect(part).to.include({ part: 'store' })
  })

  it('names a required network that no loaded plugin serves', async () => {
    const refused = {
      name: 'late',
      kind: 'unknown',
      version: '',
      trading_type: [],
      available_networks: [],
      state: 'refused',
      folder: '/late',
      reason: 'import: it took too long.',
    } as const
    const required = [
      { chain: 'late', network: 'mainnet' },
      { chain: 'gone', network: 'mainnet' },
    ]
    const store = { failing: async () => undefined }
    expect(await failingParts({ signer, store, registry: { networks: [], plugins: [refused] }, required })).to.deep.equal([
      { part: 'late/mainnet', reason: 'its plugin was refused: import: it took too long.' },
      { part: 'gone/mainnet', reason: 'there is no plugin for gone' },
    ])
  })
})
