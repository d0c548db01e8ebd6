import { expect } from 'chai'
import { others, sharedServer, type SharedServer } from './shared-server.ts'

const chain = { chain: 'ethereum', network: 'local' }

describe('a wallet without coins for gas', () => {
  let server: SharedServer
  let balance: unknown
  before(async () => {
    server = await sharedServer()
    balance = await server.rpc('eth_getBalance', others, 'latest')
    await server.rpc('anvil_setBalance', others, '0x0')
  })
  after(() => server.rpc('anvil_setBalance', others, balance))

  it('gets OUT_OF_GAS with balance and need, and nothing is sent', async () => {
    const nonce = async () => (await server.client.get('/evm/nonce', { ...chain, address: others })).body.nonce
    const before = await nonce()
    const { status, body } = await server.client.post('/evm/approve', { ...chain, address: others, spender: 'sushiswap', token: 'DAI' })
    expect(status).to.equal(422)
    expect(body).to.include({ errorCode: 1003, name: 'OUT_OF_GAS' })
    expect(body.details).to.include({ current: '0.000000000000000000' }).and.to.have.property('needed')
    expect(await nonce()).to.equal(before)
  })
})
