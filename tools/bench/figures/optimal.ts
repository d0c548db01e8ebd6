import { bestRoute } from '../../../kits/pools/routing/best-route.ts'
import { bestSplit } from '../../../kits/pools/routing/split.ts'
import { distanceToBest, type Distance } from '../../../test/kits/pools/routing/exhaustive.ts'
import { randomWorld, worldKinds, type World } from '../../../test/kits/pools/routing/random-worlds.ts'
import { bestBySdk, sdkPackage } from '../../../test/kits/pools/routing/v3-sdk.ts'
import { hasOracle, oraclesInstall } from '../../../test/oracles.ts'
import { randomBits } from '../../../testkit/random-bits.ts'
import { median, percentile, perSecond, times, type Row } from '../measuring.ts'

/** No two the same. */
const amountsPerWorld = 50
/** The package takes a thousand times as long. */
const [sdkWorlds, amountsBySdk] = [20, 5]

/**
 * How far answers are from the best of all sets of up to three routes, and how many a core gives in a second, for amounts that nobody asked before.
 * Beside them what one route alone gives.
 */
export async function optimal(worlds: number, seed: number): Promise<{ rows: Row[]; note: string }> {
  const rows: Row[] = []
  let refused = 0
  for (const kind of worldKinds) {
    const random = randomBits(seed)
    const drawn = Array.from({ length: worlds }, () => randomWorld(kind, random))
    const distances = drawn.map((world) => distanceToBest(world))
    refused += distances.filter((each) => each === 'refused').length
    const known = distances.filter((each): each is Distance => typeof each === 'object')
    const [ours, single] = [known.map((each) => each.ours), known.map((each) => each.single)]
    const name = `${kind}, ${known.length} worlds, ${known.filter(({ isSplit }) => isSplit).length} go several ways`
    rows.push(
      { name: `${name}: median`, value: points(median(ours)), reference: points(median(single)) },
      { name: '  p99', value: points(percentile(ours, 0.99)), reference: points(percentile(single, 0.99)) },
      { name: '  worst', value: points(percentile(ours, 1)), reference: points(percentile(single, 1)) },
    )
    const given = drawn.filter((_, index) => typeof distances[index] === 'object')
    const [several, alone] = [solvesPerSecond(given, true), solvesPerSecond(given, false)]
    rows.push({ name: '  solves a second a core', value: perSecond(several), reference: perSecond(alone), ratio: times(several, alone) })
  }
  const notes = [`Seed ${seed}. ${refused} swaps were refused that several routes would take together, and none alone.`]
  if (hasOracle(sdkPackage)) rows.push(await besideSdk(seed))
  else notes.push(`${sdkPackage} is not installed, so its solves are not counted: ${oraclesInstall}`)
  return { rows, note: notes.join(' ') }
}

/** What a bot has without a gateway: Uniswap's own package, with the pools in its memory, for amounts that nobody asked before. */
async function besideSdk(seed: number): Promise<Row> {
  const random = randomBits(seed)
  const asked = Array.from({ length: sdkWorlds }, () => {
    const world = randomWorld('v3', random)
    return { world, amountsRaw: Array.from({ length: amountsBySdk }, (_, index) => world.query.amountRaw / 1_000n + BigInt(index)) }
  })
  const ours = solvesPerSecond(
    asked.map(({ world }) => world),
    false,
  )
  const { seconds } = await bestBySdk(asked, 1)
  const theirs = (sdkWorlds * amountsBySdk) / seconds
  return {
    name: `one route of v3, ${sdkWorlds} worlds: solves a second a core; reference: ${sdkPackage}`,
    value: perSecond(ours),
    reference: perSecond(theirs),
    ratio: times(ours, theirs),
  }
}

const points = (distance: number) => `${distance.toFixed(4)} bp`

/** By processor time, the first amount of a world among them. */
function solvesPerSecond(worlds: readonly World[], splits: boolean): number {
  const startedAt = process.cpuUsage()
  for (const { graph, query, options, gasCost, swap } of worlds) {
    for (let index = 1; index <= amountsPerWorld; index += 1) {
      const amountRaw = query.amountRaw - (query.amountRaw * BigInt(index)) / 1_000n
      const asked = { ...query, amountRaw }
      const { best } = bestRoute(graph, asked, options, gasCost)
      if (best && splits) bestSplit(graph, { swap: { ...swap, amountRaw }, query: asked, options, gasCost, best })
    }
  }
  const { user, system } = process.cpuUsage(startedAt)
  return (worlds.length * amountsPerWorld) / ((user + system) / 1e6)
}
