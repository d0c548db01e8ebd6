import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from '../random.ts'
import type { Stage } from '../stage.ts'
import { bounded } from './bounded.ts'

/** A bot that asks what became of transactions that it knows, and of those in the list, until the signal. */
export async function watch(stage: Stage, random: Random, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await sleep(random.between(20, 120), undefined, { signal }).catch(() => {})
    if (signal.aborted) return
    await look(stage, random).catch(() => {
      // A server that was killed tells nothing.
    })
  }
}

async function look({ place, recorder, someServer }: Stage, random: Random): Promise<void> {
  const { client } = await someServer()
  const at = recorder.clock()
  if (random.chance(0.2)) {
    const { status, body } = await bounded(client.get('/transactions', { limit: '50' }))
    if (status !== 200) return
    for (const { txHash, txStatus, txState } of body.transactions)
      if (txHash !== null) recorder.samples.push({ at, via: 'list', txHash, txStatus, txState })
    return
  }
  if (recorder.hashes.length === 0) return
  // The newest are those of which something can be wrong.
  const txHash = random.pick(recorder.hashes.slice(random.chance(0.7) ? -40 : 0))
  const { status, body } = await bounded(client.get('/network/poll', { ...place, txHash }))
  if (status === 200) recorder.samples.push({ at, via: 'poll', txHash, txStatus: body.txStatus, txState: body.txState })
}
