import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { getAddress } from 'ethers'
import { parse } from 'yaml'
import { chainIds } from './chain-ids.ts'
import { exchanges } from './exchanges.ts'

// test/fixtures/published/ is what the projects publish on npm; tools/facts/published-facts.mjs takes it from there.
for (const { name, versions } of exchanges) {
  describe(`what is published about ${name}`, () => {
    for (const { version, published, unpublished = [], unpublishedOn = [], deployments, keys } of versions) {
      for (const [place, deployment] of Object.entries(deployments)) {
        const [chain = '', network = ''] = place.split('/')
        if (network === 'local') continue

        it(`equals our constants of ${version} on ${place}`, () => {
          const facts = published[String(chainIds[place])]
          const { [keys.router]: router, [keys.positionManager ?? '']: positionManager } = addressesOf(name, chain, network)
          const ours = { ...deployment, router, ...(positionManager && { positionManager }) }
          const { initCodeHash: _, ...contracts } = ours
          for (const address of Object.values(contracts)) expect(getAddress(address ?? ''), 'its checksum').to.equal(address)
          // What is published since is compared.
          if (unpublishedOn.includes(place)) return expect(facts, place).to.equal(undefined)
          expect(facts, `chain id of ${place}`).to.not.equal(undefined)
          const told = Object.fromEntries(Object.entries(ours).filter(([key]) => !unpublished.includes(key)))
          expect(lowerCase(told)).to.deep.equal(lowerCase(facts ?? {}))
        })
      }
    }
  })
}

const lowerCase = (values: Readonly<Record<string, string | undefined>>) =>
  Object.fromEntries(Object.entries(values).map(([key, value]) => [key, value?.toLowerCase()]))

function addressesOf(plugin: string, chain: string, network: string): Readonly<Record<string, string>> {
  const file = new URL(`../../../plugins/${plugin}/defaults.yml`, import.meta.url)
  const { contractAddresses } = parse(readFileSync(file, 'utf8'))
  return contractAddresses[`${chain}_${network}`.replaceAll('-', '_')] ?? contractAddresses[network] ?? {}
}
