import { SluiceError } from '../../core/contracts/index.ts'
import type { At, Sighting } from '../../core/contracts/index.ts'
import type { Ask, RpcAnswer, RpcCall } from '../../core/kits/nodes/types.ts'
import { accountsCalls, readAccount } from './accounts.ts'
import { readStatus } from '../../core/kits/solana/reading/status.ts'
import { finalized } from '../../core/kits/solana/rpc/commitment.ts'
import { contextSlotOf, numberOf, valueOf } from '../../core/kits/solana/rpc/json.ts'
import { hasEveryBlock, isInSnapshot } from '../../core/kits/solana/rail/complete-history.ts'
import { nonceAccountsOf, statusCalls } from '../../core/kits/solana/rail/questions.ts'
import type { SolanaRailOptions } from './rail.ts'
import { sight } from '../../core/kits/solana/rail/sight.ts'
import type { Attempt } from '../../core/kits/solana/rail/sight.ts'
import { isDurable } from './sequence.ts'
import { nonceIn, readFinal } from '../../core/kits/solana/rail/sync.ts'

/**
 * What one node says of an attempt that seems to be over.
 * - `over`: by what it has finalized it can land no more, and it is nowhere in all of the history since it was signed
 * - `alive`: it is somewhere, or may still land
 * - `unable`: the node has not got all of that history, or does not say
 */
type Verdict = 'over' | 'over unless blocks are missing' | 'alive' | 'unable'

/** For one look; the others have their turn at the next. */
const mostAtOnce = 64

const first: readonly RpcCall[] = [
  // A node that stands still and knows it says so, and is not heard: it would call everything alive for ever.
  { method: 'getHealth', params: [] },
  { method: 'getEpochInfo', params: [finalized] },
  { method: 'getFirstAvailableBlock', params: [] },
]

/**
 * Proves what is over. A node may lag, lie, or have been started anew without the blocks in between: none is believed alone where
 * there are others. One that says `alive` outweighs all that say otherwise.
 */
export function createProofs({ rpc, log, network, leastSlotMs }: SolanaRailOptions) {
  let complained = false
  let turn = 0

  return async function prove(suspects: readonly Attempt[], at: At): Promise<readonly Sighting[]> {
    const asked = nextOf(suspects)
    if (asked.length === 0) return []
    const byNode = await rpc.everyone((ask) => judge(asked, ask), at).catch(unanswered)
    return asked.map((attempt, index) =>
      sightingOf(
        attempt,
        byNode.flatMap((of) => of[index] ?? []),
      ),
    )
  }

  async function judge(asked: readonly Attempt[], ask: Ask): Promise<readonly Verdict[]> {
    const said = verdicts(asked, await ask(callsFor(asked)), leastSlotMs)
    const open = asked.filter((_, index) => said[index] === 'over unless blocks are missing')
    if (open.length === 0) return said
    const complete = await hasEveryBlock(
      ask,
      open.map(({ slot }) => slot),
    )
    return asked.map((attempt, index) => {
      const place = open.indexOf(attempt)
      return place < 0 ? (said[index] ?? 'unable') : complete[place] === true ? 'over' : 'unable'
    })
  }

  /** What no node can tell of keeps nobody else waiting. */
  function nextOf(suspects: readonly Attempt[]): readonly Attempt[] {
    if (suspects.length <= mostAtOnce) return suspects
    const from = turn % suspects.length
    turn = from + mostAtOnce
    return [...suspects.slice(from), ...suspects.slice(0, from)].slice(0, mostAtOnce)
  }

  function sightingOf({ id, slot }: Attempt, said: readonly Verdict[]): Sighting {
    if (said.includes('over') && !said.includes('alive')) return isDurable(slot) ? { id, is: 'dead' } : { id, is: 'expired' }
    if (said.length > 0 && said.every((each) => each === 'unable') && !complained) {
      complained = true
      log.warn(
        { network, txHash: id },
        'no node has the history that shows whether a transaction is lost for good: add one to rpcUrls that keeps it; until then it stays open',
      )
    }
    return { id, is: 'pending', underpriced: false, kept: false }
  }
}

const blockhashesOf = (asked: readonly Attempt[]): readonly string[] => [
  ...new Set(asked.flatMap(({ slot }) => (isDurable(slot) ? [] : slot.blockhash))),
]

/** What is finalized before what is searched: a search that is not older than that has seen it all. */
function callsFor(asked: readonly Attempt[]): readonly RpcCall[] {
  return [
    ...first,
    ...accountsCalls(nonceAccountsOf(asked), finalized),
    ...blockhashesOf(asked).map((blockhash) => ({ method: 'isBlockhashValid', params: [blockhash, finalized] })),
    ...statusCalls(asked.map(({ id }) => id)),
  ]
}

function verdicts(asked: readonly Attempt[], answers: readonly RpcAnswer[], leastSlotMs: number): readonly Verdict[] {
  const accounts = nonceAccountsOf(asked)
  const blockhashes = blockhashesOf(asked)
  const [, epoch, available, ...rest] = answers
  const nonceAnswer = accounts.length === 0 ? undefined : rest.shift()
  const validities = new Map(blockhashes.map((blockhash, index) => [blockhash, valueOf(rest[index]?.result)]))
  const found = rest[blockhashes.length]?.result
  const final = readFinal(epoch?.result)
  const [oldest, searched, statuses] = [numberOf(available?.result), contextSlotOf(found), valueOf(found)]
  const nonceSlot = contextSlotOf(nonceAnswer?.result)
  const values = valueOf(nonceAnswer?.result)
  const read = Array.isArray(values) ? values.map(readAccount) : []
  const isReadable = accounts.length === 0 || (nonceSlot !== undefined && read.length === accounts.length && !read.includes(null))
  if (!final || oldest === undefined || searched === undefined || !Array.isArray(statuses) || !isReadable) return asked.map(() => 'unable')

  const nonces = new Map(accounts.map((account, index) => [account, nonceIn(read[index] ?? undefined)]))
  const view = { final, searched, nonces, noncesAt: nonceSlot ?? 0, nowMs: Date.now(), leastSlotMs }
  return asked.map((attempt, index) => {
    const { slot } = attempt
    const status = readStatus(statuses[index])
    // What nobody can read is no absence.
    if (!status && statuses[index] !== null) return 'unable'
    if (sight(attempt, status, view).is !== 'over') return 'alive'
    if (oldest > slot.since) return 'unable'
    const valid = isDurable(slot) ? false : validities.get(slot.blockhash)
    if (valid !== false) return valid === true ? 'alive' : 'unable'
    return isInSnapshot(slot, final) ? 'over' : 'over unless blocks are missing'
  })
}

function unanswered(error: unknown): readonly (readonly Verdict[])[] {
  if (error instanceof SluiceError) return []
  throw error
}
