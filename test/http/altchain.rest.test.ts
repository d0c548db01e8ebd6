import { expect } from 'chai'
import { outcome, sharedServer, traders, type SharedServer } from './shared-server.ts'

describe('token accounts', () => {
  let server: SharedServer
  before(async () => {
    server = await sharedServer()
  })

  it('do not exist on EVM chains, which answer 501', async () => {
    const asked = { chain: 'ethereum', network: 'local', address: traders, tokenSymbol: 'USDC' }
    const answer = await server.client.post('/altchain/create-token', asked)
    expect(outcome(answer)).to.equal('501 UNSUPPORTED')
    expect(answer.body.message).to.contain('needs no token accounts')
  })

  it('need a certificate that may trade, and with the wallet', async () => {
    const asked = { chain: 'solana', network: 'mainnet', address: '9a7xu6pt44A5WRkDyfvFKdfY6MYFuvbcfme1pvsy7e9J', tokenSymbol: 'USDC' }
    for (const client of [server.as.reader, server.as.trader, server.as.visitor])
      expect(outcome(await client.post('/altchain/create-token', asked))).to.equal('403 FORBIDDEN')
  })
})
