import { expect } from 'chai'
import { failingParts, nodesRemedy } from '../../core/handlers/readiness.ts'

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
      {
        part: 'gone/mainnet',
        reason: 'there is no plugin for gone',
        remedy: 'Add the plugin. Correct or remove what conf/chains/gone.yml says of it.',
      },
    ])
  })

  it('says what to do about nodes that do not answer, by where they are', () => {
    const remedy = (chain: string, network: string, url: string) => nodesRemedy({ chain, network, url })
    expect(remedy('ethereum', 'local', 'http://127.0.0.1:8545'))
      .to.match(/^The devnet runs on this machine/)
      .and.not.include('conf/')
    expect(remedy('solana', 'local', 'http://127.0.0.1:8899'))
      .to.match(/at http:\/\/127\.0\.0\.1:8899: start that/)
      .and.include('conf/chains/solana.yml')
    for (const url of ['http://localhost:9650/ext', 'http://[::1]:9650'])
      expect(remedy('avalanche', 'fuji', url)).to.include(`Its node is on this machine, at ${url}: start that, or correct rpcUrls`)
    expect(remedy('base', 'mainnet', 'https://mainnet.base.org')).to.match(
      /^Check the network connection and rpcUrls in conf\/chains\/base\.yml/,
    )
  })
})
