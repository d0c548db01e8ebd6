import { expect } from 'chai'
import { requireMayApprove } from '../../core/handlers/spenders.ts'

describe('who may be approved', () => {
  const stranger = '0x5555555555555555555555555555555555555555'
  const listed = '0xa7A7a7a7A7A7a7A7a7a7A7a7A7A7A7A7A7A7A7A7'
  const on = (network: string, isLocal: boolean) => ({ chain: 'ethereum', network, impl: { local: isLocal } })
  const services = (...allowedSpenders: string[]) => ({
    settings: { limits: { onLocalNetworks: false }, wallet: { allowedSpenders } },
    registry: { plugins: [], venuesOn: () => [] },
  })
  const approving =
    (address: string, network = on('mainnet', false), ...allowed: string[]) =>
    () =>
      requireMayApprove({ addresses: [address], registered: false }, network, services(...allowed))

  it('includes anybody on a devnet', () => {
    expect(approving(stranger, on('local', true))).not.to.throw()
  })

  it('includes whom the operator lists on a public network, and a refusal says the setting and the whole line to write', () => {
    expect(approving(stranger, on('mainnet', false), stranger.toUpperCase().replace('X', 'x'))).not.to.throw()
    expect(approving(stranger)).to.throw('wallet.allowedSpenders').with.property('name', 'FORBIDDEN')
    expect(approving(stranger)).to.throw(`the line \`  allowedSpenders: ["${stranger}"]\` below \`wallet:\` in conf/server.yml`)
    expect(approving(stranger, on('mainnet', false), listed)).to.throw(`allowedSpenders: ["${listed}", "${stranger}"]`)
  })
})
