import { isDeepStrictEqual } from 'node:util'
import { expect } from 'chai'
import type { AMM, Basis, Head, Token } from '../../../core/contracts/index.ts'
import type { Evm } from '../../../kits/evm/index.ts'
import { at, type DevnetFixture } from './devnet-fixture.ts'

/** All pools among some tokens, moved from block to block by what was logged alone, and held against what is read of the chain. */
export async function keptByLogs({ chain }: Pick<DevnetFixture, 'chain'>, { followed: pricing }: AMM<Evm>, tokens: readonly Token[]) {
  if (!pricing) throw new Error('The exchange is not quoted from memory.')
  const pairs = tokens.flatMap((tokenIn) => tokens.flatMap((tokenOut) => (tokenIn === tokenOut ? [] : [{ tokenIn, tokenOut }])))
  const parts = new Map<string, Basis<Evm>>(pairs.flatMap((pair) => pricing.basis(pair, {})).map((part) => [part.key, part]))
  const [{ followed } = { followed: undefined }] = parts.values()
  if (!followed) throw new Error('There is no pool among them.')

  const load = async (keys: readonly string[], head: Head): Promise<ReadonlyMap<string, unknown>> =>
    (await followed.load(keys, head, at(), new Map(keys.map((key) => [key, { about: parts.get(key)?.about, more: [] }])))).states
  let head = await chain.head(at())
  const states = new Map<string, unknown>(await load([...parts.keys()], head))
  const counted = { blocks: 0, logs: 0, reloads: 0 }

  return {
    counted,
    states,
    /** To the newest block: after each of those between, what is in memory is what is read there. */
    async follow(): Promise<Head> {
      const changes = await chain.changes?.(head, await chain.head(at()), followed, at())
      if (!changes || changes === 'forked') throw new Error('The chain goes on.')
      for (const { head: block, changes: logs } of changes) {
        const again = new Set<string>()
        for (const log of logs) {
          for (const key of followed.keysOf(log)) {
            if (!states.has(key) || again.has(key)) continue
            counted.logs += 1
            const next = followed.apply(states.get(key), log, block)
            if (next === 'reload') again.add(key)
            else states.set(key, next)
          }
        }
        const loaded = await load([...parts.keys()], block)
        for (const key of again) states.set(key, loaded.get(key))
        counted.blocks += 1
        counted.reloads += again.size
        for (const [key, state] of states) {
          if (!isDeepStrictEqual(state, loaded.get(key))) expect(state, `${key} after block ${block.number}`).to.deep.equal(loaded.get(key))
        }
        head = block
      }
      return head
    },
  }
}
