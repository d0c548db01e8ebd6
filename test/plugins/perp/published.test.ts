import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { parse } from 'yaml'
import { deployerAddress } from '../../../core/devnet/build-state.ts'
import { curieAbi } from '../../../kits/perp/abi.ts'
import { perpDevnetContracts } from '../../../kits/perp/devnet.ts'
import { markets } from '../../../plugins/perp/index.ts'

const published = new URL('../../fixtures/published/perp-curie-deployments.json', import.meta.url)
const { chainId, clearingHouse, vault, bases, signatures } = JSON.parse(readFileSync(published, 'utf8')).facts
const defaults = new URL('../../../plugins/perp/defaults.yml', import.meta.url)
const { contractAddresses } = parse(readFileSync(defaults, 'utf8'))
/** Events of tokens, and functions of newer deployments. */
const notPublished = ['symbol()', 'decimals()', 'getMarketInfoByTrader(address,address)']

describe('the published facts about Perpetual Protocol', () => {
  it('agree with the configuration and the markets for Optimism', () => {
    expect(chainId).to.equal(10)
    expect(contractAddresses.mainnet).to.deep.equal({ routerAddress: clearingHouse, vaultAddress: vault })
    expect([...(markets['optimism/mainnet'] ?? [])]).to.have.members(Object.values(bases))
  })

  it('include all functions that the kit calls', () => {
    const asked = curieAbi.fragments.map((each) => each.format()).filter((each) => !notPublished.includes(each))
    expect(asked.filter((each) => !signatures.includes(each))).to.deep.equal([])
  })

  it('agree with the addresses on the devnet', () => {
    const placed = perpDevnetContracts(deployerAddress('perp'))
    const local = { routerAddress: placed.exchange('ClearingHouse'), vaultAddress: placed.exchange('Vault') }
    expect(contractAddresses.local).to.deep.equal(local)
    expect(markets['ethereum/local']).to.deep.equal([0, 1].map((index) => placed.market(index).base.address))
  })
})
