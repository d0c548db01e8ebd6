import { expect } from 'chai'
import { makeHome, pollUntil, startRealServer, type Home, type RealServer } from '../plugins/solana/real-server.ts'
import { startSolana, type Solana } from '../../tools/solana-node/start-solana.ts'
import { unlike } from './like.ts'
import { fencesOf, readPage } from './page.ts'

describe('docs/bots/chains.md', () => {
  let cluster: Solana
  let home: Home
  let server: RealServer

  before(async () => {
    cluster = await startSolana({ slotMs: 100, seed: 'page', skipped: 0.1 })
    home = await makeHome(cluster)
    await cluster.fund(home.wallet.address, 10_000_000_000n)
    server = await startRealServer(home)
  })
  after(async () => {
    await server?.stop()
    await home?.remove()
    await cluster?.stop()
  })

  it('shows a run on Solana as it is', async () => {
    const fences = fencesOf(await readPage('docs/bots/chains.md'))
    const shown = (name: string) => JSON.parse(fences.find(({ language, file }) => language === 'json' && file === name)?.text ?? '')
    const network = { chain: 'solana', network: 'local' }
    const { address } = home.wallet

    const asked = { ...network, address, tokenSymbol: 'USDC' }
    const { body: created } = await server.client.post('/altchain/create-token', asked)
    expect(unlike(shown('create-token'), created)).to.equal(undefined)
    const polled = await pollUntil(server, created.txHash, { txState: 'CONFIRMED' })
    expect(unlike(shown('create-token-poll'), polled)).to.equal(undefined)

    const { body: again } = await server.client.post('/altchain/create-token', asked)
    expect(unlike(shown('create-token-again'), again)).to.equal(undefined)
    expect(again).to.include({ txHash: null, tokenAccount: created.tokenAccount })
    const { body: balances } = await server.client.get('/network/balances', { ...network, address, tokenSymbols: 'SOL,USDC' })
    expect(unlike(shown('solana-balances'), balances)).to.equal(undefined)
  })
})
