import { toQuantity } from 'ethers/utils'
import { SluiceError } from '../../core/contracts/index.ts'
import type { At, Head, Look, Sighting } from '../../core/contracts/index.ts'
import { isObject } from '../../core/kits/nodes/is-object.ts'
import { resultOf } from '../../core/kits/nodes/ask.ts'
import type { Rpc, RpcAnswer } from '../../core/kits/nodes/types.ts'
import { createRemembered } from '../../core/kits/rails/remembered.ts'
import { readBlock } from '../../core/kits/evm/reading/block.ts'
import { quantityOf } from '../../core/kits/evm/quantity.ts'
import { sight } from '../../core/kits/evm/rail/sight.ts'
import type { Attempt, Ousted, View } from '../../core/kits/evm/rail/sight.ts'
import type { EvmSynced } from './nonces.ts'
import { tookNonce } from '../../core/kits/evm/rail/took-nonce.ts'
import type { Taker } from '../../core/kits/evm/rail/took-nonce.ts'
import { whyReverted } from '../../core/kits/evm/rail/why-reverted.ts'

type Landed = Sighting & { is: 'landed' }

interface Seen {
  attempt: Attempt
  /** As the node has them. */
  tx: unknown
  receipt: unknown
  sighting: Sighting | Ousted | undefined
}

/** Nodes and providers take up to a thousand calls in a batch (geth `--rpc.batch-request-limit`), two for an attempt. */
const attemptsPerBatch = 400
/** Of each kind in one look; the others have their turn at the next. */
const furtherQuestions = 16

/**
 * Receipts, transactions and counts of all open attempts in one batch. More is asked only about what failed, once, and about what
 * seems to have lost its nonce: a count alone may be a lie.
 * @param confirmations how many blocks, the transaction's own included, make it final
 */
export function createLook(rpc: Rpc, confirmations: number) {
  const reasons = createRemembered<string>()
  const takers = createRemembered<Taker>()
  const isFinal = (sighting: Seen['sighting']) => sighting?.is === 'landed' && sighting.depth >= confirmations

  return async function look(open: readonly Attempt[], head: Head, at: At): Promise<Look<string, EvmSynced>> {
    const sightings: Sighting[] = []
    const synced = new Map<string, EvmSynced>()
    for (let start = 0; start < open.length; start += attemptsPerBatch) {
      const part = await lookAt(open.slice(start, start + attemptsPerBatch), head, at)
      sightings.push(...part.sightings)
      for (const [address, counts] of part.synced) synced.set(address, counts)
    }
    return { sightings, synced }
  }

  async function lookAt(open: readonly Attempt[], head: Head, at: At): Promise<Look<string, EvmSynced>> {
    const owners = [...new Set(open.map(({ from }) => from))]
    const finalBlock = Math.max(0, Number(head.number) - (confirmations - 1))
    const [block, ...answers] = await rpc.batch(
      [
        { method: 'eth_getBlockByNumber', params: ['latest', false] },
        ...owners.flatMap((owner) =>
          [toQuantity(finalBlock), 'latest', 'pending'].map((tag) => ({ method: 'eth_getTransactionCount', params: [owner, tag] })),
        ),
        ...open.flatMap(({ id }) => ['eth_getTransactionReceipt', 'eth_getTransactionByHash'].map((method) => ({ method, params: [id] }))),
      ],
      at,
    )
    const latest = readBlock(rpc, resultOf(rpc, 'eth_getBlockByNumber', block))
    const lags = latest.number < head.number || block?.behind !== undefined
    const view: View = { latest, lags, finalBlock, newest: Number(latest.number < head.number ? latest.number : head.number) }
    const said = owners.map((_, index) => answers.slice(index * 3, index * 3 + 3).map(countOf))
    const counts = new Map(owners.map((owner, index) => [owner, { final: said[index]?.[0], latest: said[index]?.[1] }]))
    const found = answers.slice(owners.length * 3)
    const seen = open.map((attempt, index): Seen => {
      const [receipt, tx] = found.slice(index * 2, index * 2 + 2)
      return { attempt, tx: tx?.result, receipt: receipt?.result, sighting: sight(attempt, view, counts.get(attempt.from), receipt, tx) }
    })

    const synced = new Map<string, EvmSynced>()
    for (const [index, [, mined, pending]] of said.entries()) {
      const owner = owners[index]
      if (owner !== undefined && mined !== undefined && pending !== undefined && !lags) synced.set(owner, { latest: mined, pending })
    }
    return { sightings: await explained(await judged(seen, finalBlock, at), at), synced }
  }

  /** Says of each that lost its nonce who has it; nothing of those that could not be asked about this time. */
  async function judged(seen: readonly Seen[], finalBlock: number, at: At): Promise<readonly Seen[]> {
    let questions = 0
    const result: Seen[] = []
    for (const each of seen) {
      const { attempt, sighting } = each
      if (sighting?.is !== 'ousted') {
        result.push(each)
        continue
      }
      const { from, slot } = attempt
      const name = `${from}/${slot}`
      const ours = seen.find((other) => other.attempt.from === from && other.attempt.slot === slot && isFinal(other.sighting))
      let taker: Taker | undefined = ours ? { is: 'by', id: ours.attempt.id } : takers.get(name)
      if (!taker && (questions += 1) <= furtherQuestions) taker = await tookNonce(rpc, from, slot, finalBlock, at).catch(unanswered)
      if (taker?.is === 'denied') rpc.distrust(`says that nonce ${slot} of ${from} is used, and has no block in which that happened`)
      if (taker?.is === 'by' && taker.id !== attempt.id) takers.set(name, taker)
      result.push({ ...each, sighting: taker && verdict(attempt, taker) })
    }
    return result
  }

  /** With the reasons of those that failed. */
  async function explained(seen: readonly Seen[], at: At): Promise<readonly Sighting[]> {
    const keyOf = ({ id, blockHash }: Landed) => `${id}/${blockHash}`
    const unknown = seen
      .flatMap(({ tx, receipt, sighting }) =>
        isObject(tx) && sighting?.is === 'landed' && !sighting.ok ? [{ tx, receipt, landed: sighting }] : [],
      )
      .filter(({ landed }) => reasons.get(keyOf(landed)) === undefined)
      .slice(0, furtherQuestions)
    const asked = unknown.map(({ tx, receipt, landed }) => ({ tx, receipt, blockNumber: landed.blockNumber }))
    const told = (await whyReverted(rpc, asked, at).catch(unanswered)) ?? []
    for (const [index, { landed }] of unknown.entries()) {
      const reason = told[index]
      if (reason !== undefined) reasons.set(keyOf(landed), reason)
    }
    return seen.flatMap(({ sighting }) => {
      if (!sighting || sighting.is === 'ousted') return []
      const reason = sighting.is === 'landed' && !sighting.ok ? reasons.get(keyOf(sighting)) : undefined
      return reason === undefined ? [sighting] : [{ ...sighting, reason }]
    })
  }
}

/** What was seen already holds all the same; nodes that fail are logged where they do. */
function unanswered(error: unknown): undefined {
  if (!(error instanceof SluiceError)) throw error
}

function verdict({ id }: Attempt, taker: Taker): Sighting | undefined {
  if (taker.is === 'denied') return { id, is: 'unseen', underpriced: false }
  if (taker.is === 'untold') return { id, is: 'dead' }
  // In a block after all: the node gives its receipt the next time.
  return taker.id === id ? undefined : { id, is: 'dead', by: taker.id }
}

function countOf(answer: RpcAnswer | undefined): number | undefined {
  const count = quantityOf(answer?.result)
  return count === undefined ? undefined : Number(count)
}
