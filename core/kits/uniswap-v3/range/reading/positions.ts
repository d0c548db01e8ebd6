import { SluiceError, type At, type RangePosition } from '../../../../contracts/index.ts'
import type { Call, CallResult, EvmReader } from '../../../evm/types.ts'
import type { RangeExchange } from '../exchange.ts'
import { managerAbi } from './abi.ts'
import { readAtOnce } from './read-at-once.ts'
import { positionCall, readKept, readPosition, stateCalls, type Place } from './read-position.ts'
import { wordsOf } from './words.ts'

/** A wallet can be sent any number of them by anybody. */
const mostPositions = 1000
const usualPositions = 25
const mostRemembered = 10_000
const mostRounds = 8

/**
 * Positions at one block. Where a position lies is asked once and remembered; after that all of it is one round trip. What is remembered is held
 * against every answer, for a reorganisation can give an id to another position.
 */
export function positionReader(exchange: RangeExchange, reader: EvmReader) {
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
    const position = readPosition(exchange, tokenId, kept, asked.results.slice(1))
    return position ? { position } : {}
  }

  /** Asks for what is known of these ids, behind other calls. */
  async function ask(others: readonly Call[], ids: readonly bigint[], at: At) {
    const known = ids.map((tokenId) => ({ tokenId, place: places.get(tokenId) }))
    const callsOf = known.map(({ tokenId, place }) => [
      positionCall(exchange, tokenId),
      ...(place ? stateCalls(exchange, tokenId, place) : []),
    ])
    const { head, results } = await readAtOnce(reader, [...others, ...callsOf.flat()], at)
    let offset = others.length
    const asked = new Map<bigint, Asked>()
    for (const [index, { tokenId, place }] of known.entries()) {
      const { length } = callsOf[index] ?? []
      asked.set(tokenId, { place, results: results.slice(offset, offset + (length ?? 0)) })
      offset += length ?? 0
    }
    return { head, results, asked }
  }

  return {
    async position(tokenId: bigint, others: readonly Call[], at: At) {
      for (let round = 0; round < mostRounds; round += 1) {
        const { head, results, asked } = await ask(others, [tokenId], at)
        const read = readOne(tokenId, asked.get(tokenId))
        if (read) return { head, others: results.slice(0, others.length), position: read.position }
      }
      throw restless()
    },

    async positions(owner: string, others: readonly Call[], at: At) {
      let count = usualPositions
      let ids: readonly bigint[] = []
      for (let round = 0; round < mostRounds; round += 1) {
        const list = listCalls(exchange, owner, count)
        const { head, results, asked } = await ask([...others, ...list], ids, at)
        const listed = readList(results.slice(others.length, others.length + list.length))
        if (listed.ids.length === listed.count) {
          const read = listed.ids.map((tokenId) => readOne(tokenId, asked.get(tokenId)))
          if (read.every((one) => one !== undefined))
            return { head, others: results.slice(0, others.length), positions: read.flatMap(({ position }) => position ?? []) }
        }
        if (listed.count > mostPositions) throw tooMany(owner, listed.count)
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
