import type { Router } from '../../../core/kits/pools/router.ts'
import type { Wanted } from '../../../core/kits/pools/routing/arrival.ts'
import type { Course } from './best-route.ts'
import { gainOf, swapUnits } from './gas-cost.ts'
import type { Lane, Lanes } from './graph.ts'
import { shareOf, wholeShare } from '../../../core/kits/pools/routing/share.ts'
import { partUnits, splitCandidates, type SplitQuestion, type Takes } from '../../../core/kits/pools/routing/split-candidates.ts'
import { allotted, areApart, type Allotment, type Way } from '../../../core/kits/pools/routing/split-ways.ts'

/** So few candidates are compared with each other; where there are more, only with so many of the best. */
const [fewCandidates, mostLeading] = [12, 4]

/** One of several ways that a swap goes at once. */
export interface Part {
  readonly lanes: readonly Lane[]
  /** In twentieths. */
  readonly share: number
  /** Of the exact amount; those of all parts add up to it. */
  readonly exactRaw: bigint
  readonly otherRaw: bigint
  readonly firstWriteUnits: bigint
}

export interface SplitRoute {
  readonly parts: readonly Part[]
  readonly router: Router
  /** The other side of the swap, all parts together. */
  readonly amountRaw: bigint
  readonly gasUnits: bigint
  readonly firstWriteUnits: bigint
}

/**
 * Several ways at once, no pool on two of them, that leave the trader more after paying for gas than the best single one; undefined where
 * there are none. Of a way of which more must be known and that could be one of them, that.
 */
export function bestSplit(lanes: Lanes, question: SplitQuestion): SplitRoute | { readonly wanted: readonly Wanted[] } | undefined {
  const { course, best, gasCost } = question
  if (shareOf(course.amountRaw, 1) === 0n) return undefined
  let found: (Chosen & { readonly router: Router }) | undefined
  for (const router of question.routers) {
    const chosen = router.splits && choose(lanes, question, (parts) => router.splits?.(parts, question.swap) === true)
    if (chosen && (!found || chosen.gainRaw > found.gainRaw)) found = { ...chosen, router }
  }
  if (!found) return undefined
  const { ways, allotment, gasUnits, router } = found
  if (allotment.doubts.length > 0) return { wanted: allotment.doubts }
  const parts = partsOf(ways, allotment.shares, course)
  if (!parts) return undefined
  const amountRaw = parts.reduce((sum, { otherRaw }) => sum + otherRaw, 0n)
  const firstWriteUnits = parts.reduce((sum, part) => sum + part.firstWriteUnits, 0n)
  // Of few units a twentieth is not what rounding makes of it.
  return gainOf(course.exact, amountRaw, gasUnits, gasCost) > gainOf(course.exact, best.amountRaw, best.gasUnits, gasCost)
    ? { parts, router, amountRaw, gasUnits, firstWriteUnits }
    : undefined
}

interface Chosen {
  readonly ways: readonly Way[]
  readonly allotment: Allotment
  readonly gasUnits: bigint
  readonly gainRaw: bigint
}

/**
 * Every two and every three ways without a common pool are compared; of many candidates those of which one at least is among the best.
 * @param takes whether the router takes such routes together, or one of them among others
 */
function choose(lanes: Lanes, question: SplitQuestion, takes: Takes): Chosen | undefined {
  const candidates = splitCandidates(lanes, question, takes)
  if (candidates.length === 0) return undefined
  const { course, gasCost, best } = question
  const partCost = gasCost(partUnits)
  let most: Chosen | undefined
  let mostRaw = gainOf(course.exact, best.amountRaw, best.gasUnits, gasCost)
  const together = (ways: readonly Way[], allotment: Allotment | undefined): Chosen | undefined => {
    if (!allotment || allotment.shares.includes(0)) return undefined
    const gasUnits = swapUnits + allotment.gasUnits + partUnits * BigInt(ways.length - 1)
    const gainRaw = gainOf(course.exact, allotment.otherRaw, gasUnits, gasCost)
    return gainRaw > mostRaw && takes(ways.map(({ versions }) => versions)) ? { ways, allotment, gasUnits, gainRaw } : undefined
  }
  const leading = candidates.length > fewCandidates ? mostLeading : candidates.length
  for (const [index, a] of candidates.slice(0, leading).entries()) {
    const besideA = candidates.slice(index + 1).filter((way) => areApart(a, way))
    for (const [next, b] of besideA.entries()) {
      const ofTwo = allotted([a, b])
      const two = together([a, b], ofTwo)
      if (two) [most, mostRaw] = [two, two.gainRaw]
      for (const c of besideA.slice(next + 1)) {
        // All but a share that is better there must pay for another call.
        const first = c.step(0)
        if (ofTwo && (first === undefined || (first - ofTwo.leastRaw) * BigInt(wholeShare) <= partCost)) continue
        if (!areApart(b, c)) continue
        const three = together([a, b, c], allotted([a, b, c]))
        if (three) [most, mostRaw] = [three, three.gainRaw]
      }
    }
  }
  return most
}

/** The last has what rounding left. Undefined where that is too much for it. */
function partsOf(ways: readonly Way[], shares: readonly number[], { amountRaw }: Course): readonly Part[] | undefined {
  let leftRaw = amountRaw
  const parts: Part[] = []
  for (const [index, way] of ways.entries()) {
    const share = shares[index] ?? 0
    const exactRaw = index === ways.length - 1 ? leftRaw : shareOf(amountRaw, share)
    leftRaw -= exactRaw
    const gone = way.go(exactRaw)
    if (!gone || gone.doubts.length > 0) return undefined
    parts.push({ lanes: way.lanes, share, exactRaw, otherRaw: gone.otherRaw, firstWriteUnits: gone.firstWriteUnits })
  }
  return parts
}
