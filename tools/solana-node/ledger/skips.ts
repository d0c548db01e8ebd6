import { createHash } from 'node:crypto'

/** Which slots pass without a block: the same ones for the same seed. `share`: how many of them, 0 to 1. */
export function skipsBySeed(seed: string, share: number): (slot: bigint) => boolean {
  // A leader has four slots in a row, and one who is away misses them all; others come late for one.
  return (slot) => chance(seed, `leader ${slot / 4n}`) < share / 2 || chance(seed, `slot ${slot}`) < share / 2
}

function chance(seed: string, what: string): number {
  return createHash('sha256').update(`${seed} ${what}`).digest().readUInt32BE() / 2 ** 32
}
