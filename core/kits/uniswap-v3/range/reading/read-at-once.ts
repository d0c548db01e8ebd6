import { SluiceError, type At, type Head } from '../../../../contracts/index.ts'
import type { Call, CallResult } from '../../../../../kits/evm/types.ts'
import type { Read } from './checked-read.ts'

/** About a fifth of the gas that nodes grant one call. */
const mostCallsOfBatch = 1000
const attempts = 5

/**
 * Any number of calls at one block, equal ones asked once. Where one batch does not hold them, several are sent at the
 * same time until they are of the same block.
 */
export async function readAtOnce(read: Read, calls: readonly Call[], at: At): Promise<{ head: Head; results: readonly CallResult[] }> {
  const indexes = new Map<string, number>()
  const different: Call[] = []
  const places = calls.map((call) => {
    const name = call.to + call.data
    const known = indexes.get(name)
    if (known !== undefined) return known
    indexes.set(name, different.length)
    return different.push(call) - 1
  })
  const batches: Call[][] = []
  for (let start = 0; start < different.length; start += mostCallsOfBatch) batches.push(different.slice(start, start + mostCallsOfBatch))

  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const answers = await Promise.all(batches.map((batch) => read(batch, at)))
    const [first] = answers
    if (first && answers.every(({ head }) => head.number === first.head.number)) {
      const results = answers.flatMap((answer) => answer.results)
      return { head: first.head, results: places.map((place) => results[place] ?? missing) }
    }
  }
  throw new SluiceError('NETWORK', 'Blocks came faster than all of it could be read at one of them: ask again.')
}

const missing: CallResult = { ok: false, data: '0x' }
