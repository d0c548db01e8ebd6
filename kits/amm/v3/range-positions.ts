import { SluiceError, type At, type Head, type RangePosition } from '../../../core/contracts/index.ts'
import type { Call, CallResult } from '../../evm/types.ts'
import type { RangeExchange } from '../../../core/kits/uniswap-v3/range/exchange.ts'
import { managerAbi } from './position-manager.ts'
import type { Read } from '../../../core/kits/uniswap-v3/range/reading/checked-read.ts'
import { readAtOnce } from '../../../core/kits/uniswap-v3/range/reading/read-at-once.ts'
import { positionCall, readKept, readPosition, stateCalls, type Place } from '../../../core/kits/uniswap-v3/range/reading/read-position.ts'
import { wordsOf } from '../../../core/kits/uniswap-v3/range/reading/words.ts'

/** A wallet can be sent any number of them by anybody. */
const mostPositions = 1000
const usualPositions = 25
const mostRemembered = 10_000
const mostRounds = 8

/**
 * Positions at one block. Where one lies is asked once and remembered; after that all of it is one round trip. What is
 * remembered is held against every answer, for a reorganisation can give an id to another position.
 */
export function positionReader(exchange: RangeExchange, read: Read) {
  const places = new Map<bigint, Place>()

  /** Undefined where more must be asked first: `places` knows more then. */
  function readOne(tokenId: bigint, asked: Asked | undefined): { position?: RangePosition } | undefined {
    if (!asked) return undefined
    const kept = readKept(exchange, asked.results[0])
    if (!kept) return {}
    if (!asked.place || !isSame(asked.place, kept.place)) {
      if (places.size >= mostRemembered) places.clear()
      places.set(tokenId, kept.place)
      return undefined
    }
    return { position: readPosition(exchange, tokenId, kept, asked.results.slice(1)) }
  }

  /** Asks for what is known of these ids, behind other calls. */
  async function ask(others: readonly Call[], ids: readonly bigint[], at: At) {
    const known = ids.map((tokenId) => {
      const place = places.get(tokenId)
      return { tokenId, place, calls: [positionCall(exchange, tokenId), ...(place ? stateCalls(exchange, tokenId, place) : [])] }
    })
    const { head, results } = await readAtOnce(read, [...others, ...known.flatMap(({ calls }) => calls)], at)
    let offset = others.length
    const asked = new Map<bigint, Asked>()
    for (const { tokenId, place, calls } of known) {
      asked.set(tokenId, { place, results: results.slice(offset, offset + calls.length) })
      offset += calls.length
    }
    return { head, results, asked }
  }

  return {
    async position(tokenId: bigint, at: At): Promise<{ head: Head; position: RangePosition } | undefined> {
      for (let round = 0; round < mostRounds; round += 1) {
        const { head, asked } = await ask([], [tokenId], at)
        const found = readOne(tokenId, asked.get(tokenId))
        if (found) return found.position && { head, position: found.position }
      }
      throw restless()
    },

    async positions(owner: string, at: At): Promise<{ head: Head; positions: readonly RangePosition[] }> {
      let count = usualPositions
      let ids: readonly bigint[] = []
      for (let round = 0; round < mostRounds; round += 1) {
        const list = listCalls(exchange, owner, count)
        const { head, results, asked } = await ask(list, ids, at)
        const listed = readList(results.slice(0, list.length))
        if (listed.count > mostPositions) throw tooMany(owner, listed.count)
        const found = listed.ids.map((tokenId) => readOne(tokenId, asked.get(tokenId)))
        if (listed.ids.length === listed.count && found.every((one) => one !== undefined))
          return { head, positions: found.flatMap(({ position }) => position ?? []) }
        count = Math.max(listed.count, 1)
        ids = listed.ids
      }
      throw restless()
    },
  }
}

interface Asked {
  readonly place: Place | undefined
  readonly results: readonly CallResult[]
}

function listCalls({ positionManager }: RangeExchange, owner: string, count: number): readonly Call[] {
  return [
    { to: positionManager, data: managerAbi.encodeFunctionData('balanceOf', [owner]) },
    ...Array.from({ length: count }, (_, index) => ({
      to: positionManager,
      data: managerAbi.encodeFunctionData('tokenOfOwnerByIndex', [owner, index]),
    })),
  ]
}

/** How many there are, and the ids of those that were asked for. */
function readList([balance, ...tokens]: readonly CallResult[]): { count: number; ids: readonly bigint[] } {
  const count = Number(wordsOf(balance, 1)?.[0] ?? 0n)
  return { count, ids: tokens.slice(0, count).flatMap((token) => wordsOf(token, 1)?.[0] ?? []) }
}

function isSame(a: Place, b: Place): boolean {
  return a.pool === b.pool && a.tickLower === b.tickLower && a.tickUpper === b.tickUpper
}

function tooMany(owner: string, count: number): SluiceError {
  return new SluiceError(
    'UNSUPPORTED',
    `${owner} has ${count} positions, and at most ${mostPositions} are listed: ask for single ones by their tokenId, and burn those that are empty.`,
  )
}

const restless = () => new SluiceError('NETWORK', 'The positions changed with every block while they were read: ask again.')
