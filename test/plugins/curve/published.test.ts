import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { getAddress } from 'ethers'
import { parse } from 'yaml'
import { deployerAddress } from '../../../core/devnet/build-state.ts'
import { routerDeployment, stableDevnetAddresses } from '../../../kits/amm/stable/devnet.ts'
import { pools } from '../../../plugins/curve/index.ts'
import curveApi from '../../fixtures/published/curve-api.json' with { type: 'json' }

const { contractAddresses } = parse(readFileSync(new URL('../../../plugins/curve/defaults.yml', import.meta.url), 'utf8'))

describe('what is published about curve', () => {
  it('equals the listed pools, with coins and decimals in the order of the contracts, and the tokens of their shares', () => {
    const published = Object.entries(curveApi.facts.pools['1'])
    const listed = pools['ethereum/mainnet'] ?? []
    expect(listed).to.not.have.length(0)
    for (const { address, coins, shares } of listed) {
      const [name, found] = published.find(([, each]) => each.address === address) ?? []
      expect({ ...found, shareToken: getAddress(found?.shareToken ?? '') }).to.deep.equal({ address, shareToken: shares?.token, coins })
      expect(shares?.label).to.equal(name)
      for (const each of [address, shares?.token ?? '', ...coins.map((coin) => coin.address)]) expect(getAddress(each)).to.equal(each)
      // Deposits are paid to the pool itself, so the operator sees it among the contracts.
      expect(contractAddresses.mainnet[`${shares?.label}Address`]).to.equal(address)
    }
  })

  it('has its pool on the devnet, and the router at the address that its code gives on every network', () => {
    const { pool, other, shares } = stableDevnetAddresses(deployerAddress('curve'))
    const [local] = pools['ethereum/local'] ?? []
    expect(local?.address).to.equal(pool)
    expect(local?.coins.at(-1)?.address).to.equal(other)
    for (const network of ['mainnet', 'local']) expect(contractAddresses[network].routerAddress).to.equal(routerDeployment.address)
    expect(local?.shares).to.deep.equal({ label: 'susd', token: shares })
    expect(contractAddresses.local).to.have.all.keys('routerAddress', 'susdAddress')
    expect(contractAddresses.local.susdAddress).to.equal(pool)
  })
})
