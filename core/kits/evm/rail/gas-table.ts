import type { Json } from '../../../contracts/index.ts'
import { isObject } from '../../nodes/is-object.ts'
import type { Alike, EvmIntent } from '../../../../kits/evm/types.ts'

/** The gas limits that simulations gave to calls of a kind, for calls of the same kind through what was simulated before. */
export interface GasTable {
  /** After a simulation. @param mostGas what a transaction may have: a limit that was cut to it says nothing of others */
  learn(step: EvmIntent, from: string, limit: bigint, mostGas: bigint): void
  /** Undefined where it is to be simulated. */
  limitOf(step: EvmIntent, from: string): bigint | undefined
  /** It failed on the chain: who comes next is simulated. @param step as the journal has it */
  forget(step: Json, from: string): void
}

/** What was simulated so long ago is simulated again: tokens and pools are paused, and change their code. */
const knownMs = 3_600_000
const mostKnown = 20_000
/** Others who came first may have left a slot at zero: then 20,000 where it was 5,000 (https://eips.ethereum.org/EIPS/eip-2200). */
const unseenGas = 20_000n

/** As for a simulation's own estimate. */
const withMargin = (units: bigint) => (units * 5n) / 4n

/**
 * By kind what limits had beyond what the quote said that its swaps use, at most: a swap that comes to more ticks says so itself.
 * By wallet and pool whether it was simulated: one wallet may be barred where others are not.
 */
export function createGasTable(nowMs = () => performance.now()): GasTable {
  const beyond = new Map<string, bigint>()
  const simulated = new Map<string, number>()
  let mostGas = 0n

  const passages = ({ through }: Alike, from: string) => through.map((each) => `${from} ${each}`)

  return {
    learn({ to, alike, spareGas = '0' }, from, limit, most) {
      mostGas = most
      if (!alike || limit >= most) return
      const kind = `${to} ${alike.kind}`
      const more = limit - BigInt(spareGas) - withMargin(BigInt(alike.units))
      const known = beyond.get(kind)
      put(beyond, kind, known === undefined || more > known ? more : known)
      for (const each of passages(alike, from)) put(simulated, each, nowMs())
    },
    limitOf({ to, alike, spareGas = '0' }, from) {
      const more = alike && beyond.get(`${to} ${alike.kind}`)
      if (!alike || more === undefined) return undefined
      const isKnown = (each: string) => nowMs() - (simulated.get(each) ?? -Infinity) < knownMs
      if (!passages(alike, from).every(isKnown)) return undefined
      const { units, firstWriteUnits = '0' } = alike
      const limit = withMargin(BigInt(units)) + BigInt(firstWriteUnits) + more + unseenGas + BigInt(spareGas)
      return limit > mostGas ? undefined : limit
    },
    forget(step, from) {
      const alike = isObject(step) ? step['alike'] : undefined
      const through: unknown = isObject(alike) ? alike['through'] : undefined
      if (Array.isArray(through)) for (const each of through) simulated.delete(`${from} ${each}`)
    },
  }
}

/** The oldest makes room. */
function put<T>(map: Map<string, T>, key: string, value: T): void {
  map.delete(key)
  map.set(key, value)
  for (const oldest of map.keys()) {
    if (map.size <= mostKnown) return
    map.delete(oldest)
  }
}
