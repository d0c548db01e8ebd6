import { expect } from 'chai'
import { bestRoute } from '../../../../kits/pools/routing/best-route.ts'
import { hasOracle, oraclesInstall } from '../../../oracles.ts'
import { randomBits } from '../../../../testkit/random-bits.ts'
import { randomWorld } from './random-worlds.ts'
import { bestBySdk, sdkPackage } from './v3-sdk.ts'

const worlds = Number(process.env['SLUICE_SDK_WORLDS'] ?? 20)
const seed = Number(process.env['SLUICE_SDK_SEED'] ?? 1)
/** Parts of an amount between ten dollars and ten millions. */
const parts = [1n, 10n, 100n, 1_000n, 10_000n]
/** More than there are routes of up to three hops that could be better and do not count. */
const routesLookedThrough = 1_000

describe(`the best route through pools of v3 in ${worlds} random worlds (SLUICE_SDK_WORLDS), seed ${seed} (SLUICE_SDK_SEED), without gas`, () => {
  it(`gives what ${sdkPackage} finds, to the unit`, async function () {
    if (!hasOracle(sdkPackage)) {
      console.log(`      ${sdkPackage} is not installed: ${oraclesInstall}`)
      this.skip()
    }
    this.timeout(600_000)
    const random = randomBits(seed)
    const asked = Array.from({ length: worlds }, () => {
      const world = randomWorld('v3', random)
      return { world, amountsRaw: parts.map((part) => world.query.amountRaw / part + 1n) }
    })
    const { routes } = await bestBySdk(asked, routesLookedThrough)
    const ours = asked.map(({ world: { graph, query, options }, amountsRaw }) =>
      amountsRaw.map((amountRaw) => bestRoute(graph, { ...query, amountRaw }, options, () => 0n).best?.amountRaw.toString() ?? null),
    )
    expect(ours).to.deep.equal(routes)
    expect(routes.flat().filter((each) => each !== null)).to.have.length.above((worlds * parts.length) / 2)
  })
})
