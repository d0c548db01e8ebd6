import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { dataSlice, isHexString } from 'ethers'
import { parse } from 'yaml'
import { pools } from '../../../plugins/balancer/index.ts'
import { chainIds } from '../exchanges/chain-ids.ts'

const factsOf = (name: string) => JSON.parse(readFileSync(new URL(`../../fixtures/published/${name}.json`, import.meta.url), 'utf8')).facts
const { vault } = factsOf('balancer-v2-deployments')
const named = factsOf('balancer-sdk').pools
const { contractAddresses } = parse(readFileSync(new URL('../../../plugins/balancer/defaults.yml', import.meta.url), 'utf8'))

describe('what is published about balancer', () => {
  for (const [place, ids] of Object.entries(pools)) {
    const [chain = '', network = ''] = place.split('/')

    it(`contains the listed pools of ${place}, each once`, () => {
      // PoolRegistry of npm @balancer-labs/v2-vault: an id is the pool's address, how it keeps balances, and a number.
      for (const id of ids)
        expect([isHexString(id, 32), ['0x0001', '0x0002'].includes(dataSlice(id, 20, 22))], id).to.deep.equal([true, true])
      expect(new Set(ids).size).to.equal(ids.length)
      if (network === 'local') return
      const chainId = String(chainIds[place])
      expect(named[chainId]).to.include.members([...ids])
      expect(contractAddresses[`${chain}_${network}`].routerAddress).to.equal(vault[chainId])
    })
  }
})
