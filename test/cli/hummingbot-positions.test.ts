import { expect } from 'chai'
import { closeOf, namesByNetwork } from '../../core/cli/hummingbot-positions.ts'

const names = namesByNetwork({ 'ethereum-base': 'base/mainnet', 'ethereum-celo': 'celo/mainnet', 'ethereum-mine': 'base/mainnet' })
const position = {
  chain: 'base',
  network: 'mainnet',
  connector: 'uniswap',
  version: 'v3',
  address: '0x00000000000000000000000000000000000000A1',
  tokenId: '38',
  txHash: '0xa',
  openedAt: '2026-11-27T00:00:00.000Z',
  isFollowed: true,
}

describe('what closes a position at Hummingbot’s own Gateway', () => {
  it('names the network as their Gateway does, also where the operator has a name of their own for it', () => {
    for (const connector of ['uniswap', 'pancakeswap'])
      expect(closeOf({ ...position, connector }, names)).to.deep.equal({
        connector,
        chainNetwork: 'ethereum-base',
        walletAddress: position.address,
        positionAddress: '38',
      })
  })

  it('is not there for exchanges, versions and networks that it does not have', () => {
    for (const connector of ['sushiswap', 'a-fork-of-v3'])
      expect(closeOf({ ...position, connector }, names)).to.contain(`no positions on ${connector}`)
    expect(closeOf({ ...position, version: 'v4' }, names)).to.contain('no positions of v4')
    expect(closeOf({ ...position, chain: 'altchain' }, names)).to.contain('does not name that network')
    const { tokenId: _, ...unnamed } = position
    expect(closeOf(unnamed, names)).to.contain('no id yet')
  })
})
