import type { SeenHead } from '../../../../kits/nodes/dialect.ts'
import type { HealthPolicy } from './health-policy.ts'

export interface Lag {
  blocks: number
  seconds: number
}

/** A node's word on the chain's head. */
interface Word extends SeenHead {
  atMs: number
}

const remembered = 128
const noLag: Lag = { blocks: 0, seconds: 0 }

/**
 * What the nodes of a network said of its head: which of them lag, and whether an answer is older than what was told before.
 * A node is held only against what another one had already said when it was asked, so that a block that comes in between counts
 * for nobody. Pure but for its memory: the time is the caller's.
 */
export function createHeadsSeen<N>({
  maxLagBlocks,
  maxLagSeconds,
  memoryMs,
  patienceMs,
}: Pick<HealthPolicy, 'maxLagBlocks' | 'maxLagSeconds' | 'memoryMs' | 'patienceMs'>) {
  const words = new Map<N, Word>()
  const lags = new Map<N, Lag>()
  const hashes = new Map<number, string>()
  let told: { number: number; atMs: number } | undefined

  function judge(node: N, block: SeenHead, askedAtMs: number): void {
    const others = [...words].flatMap(([other, word]) =>
      other !== node && word.atMs <= askedAtMs && askedAtMs - word.atMs < memoryMs ? word : [],
    )
    const best = others.toSorted((a, b) => b.number - a.number)[0]
    const behind = best !== undefined && best.number > block.number
    lags.set(node, behind ? { blocks: best.number - block.number, seconds: Math.max(0, best.timestamp - block.timestamp) } : noLag)
  }

  const lag = (node: N): Lag => lags.get(node) ?? noLag
  const isLagging = (node: N): boolean => lag(node).blocks > maxLagBlocks && lag(node).seconds > maxLagSeconds

  return {
    /** @param told whether somebody gets the answer that it was in; what only a probe saw was told to nobody */
    saw(node: N, block: SeenHead, at: { askedMs: number; answeredMs: number; told: boolean }): void {
      judge(node, block, at.askedMs)
      words.set(node, { ...block, atMs: at.answeredMs })
      if (!at.told) return
      const { hash } = block
      const known = hashes.get(block.number)
      const reorganised = known !== undefined && hash !== undefined && known !== hash && !isLagging(node)
      if (reorganised) for (const number of hashes.keys()) if (number > block.number) hashes.delete(number)
      if (hash !== undefined && (known === undefined || reorganised)) hashes.set(block.number, hash)
      if (hashes.size > remembered) hashes.delete(Math.min(...hashes.keys()))
      const wentBack = reorganised || (told && at.answeredMs - told.atMs >= patienceMs && !isLagging(node))
      if (!told || block.number >= told.number || wentBack) told = { number: block.number, atMs: at.answeredMs }
    },
    lag,
    isLagging,
    head: (node: N): SeenHead | undefined => words.get(node),
    /** How many blocks a head is older than the newest that was told; 0 after a reorganisation, which makes heads lower. */
    behind: (number: number): number => Math.max(0, (told?.number ?? number) - number),
  }
}

export type HeadsSeen<N> = ReturnType<typeof createHeadsSeen<N>>
