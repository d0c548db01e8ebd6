import { writeFileSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { WalkVector } from '../../../../tools/solana-node/walk/walk.ts'

const fileOf = (name: string) => fileURLToPath(new URL(`vectors/${name}.jsonl`, import.meta.url))
const most = 40

/** With SLUICE_WALK_VECTORS=1, a walk on a real program writes some of its steps into this folder: numbers for where the program is not. */
export function keepVectors(name: string): { keep?(vector: WalkVector): void } {
  if (process.env['SLUICE_WALK_VECTORS'] !== '1') return {}
  const kept: string[] = []
  const refusals = new Map<string, number>()
  return {
    keep(vector) {
      // All kinds of refusals, a few of each; they are many where an amount is tiny.
      const times = refusals.get(vector.refused ?? '') ?? 0
      refusals.set(vector.refused ?? '', times + 1)
      if (kept.length >= most || (vector.refused !== undefined && times > 2)) return
      kept.push(JSON.stringify(vector, (_key, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value)))
      writeFileSync(fileOf(name), `${kept.join('\n')}\n`)
    },
  }
}

/** The steps as they were written; integers that may be large are bigints again. */
export function readVectors(name: string): readonly WalkVector[] {
  const revive = (_key: string, value: unknown) => (typeof value === 'string' && /^\d+n$/.test(value) ? BigInt(value.slice(0, -1)) : value)
  const lines = readFileSync(fileOf(name), 'utf8').trim().split('\n')
  return lines.map((line) => JSON.parse(line, revive) as WalkVector)
}
