import { SluiceError } from '../contracts/index.ts'
import type { Checked, GasTerms, Json, Log, Prepared } from '../contracts/index.ts'
import { checkPlan } from './check-plan.ts'
import type { Dispatch } from './dispatch.ts'
import { txHashOf } from './entry.ts'
import type { Entry } from './entry.ts'
import type { Claim, Lane, Occupant } from './lane.ts'
import { newEntries } from './new-entries.ts'
import { nonceConflict } from './nonce-conflict.ts'
import type { Order, Sign, Site, Submitted } from './order.ts'
import { nextVersion } from './recorder.ts'
import type { Recorder } from './recorder.ts'
import { nothingSent, orTimeout, stillUnderWay } from './timeout.ts'

export interface SubmissionParts {
  site: Site
  recorder: Recorder
  sign: Sign
  dispatch: Dispatch
  /** Told when there is something new to watch. */
  wake: () => void
  /** Puts something harmless on an empty slot that others wait behind. */
  fill: (lane: Lane, nonce: number) => void
  log: Log
  nowMs: () => number
}

/** How the server's own orders differ from callers'. */
export interface Manner {
  /** Fees of the transaction that it is to replace: its own are at least what that takes. */
  over?: Json
}

/**
 * plan → check → slots → journal → signer → journal → nodes. Nothing is signed before it is journaled, and nothing leaves
 * before its bytes are. Up to the second writing an error means that nothing was sent and nothing will be; from there on the answer is
 * the hash whatever the nodes say, for nobody can be certain that the bytes will never be mined.
 */
export function createSubmission({ site, recorder, sign, dispatch, wake, fill, log, nowMs }: SubmissionParts) {
  const { rail } = site.impl

  return async function submit(order: Order, lane: Lane, { over }: Manner, signal: AbortSignal): Promise<Submitted> {
    const { plan, address, wish } = order
    checkPlan(order)
    const news = lane.asking()
    const checked = await orTimeout(rail.check(plan.steps, plan.needs, address, { wish, over }, { signal }), signal, nothingSent)
    const { prepared } = checked
    const costsRaw = prepared.map(({ step, fees }) => rail.cost(step, fees))
    news(checked.synced)
    const { slots, occupants } = await claim(order, lane, checked, costsRaw, over !== undefined)

    const entries = newEntries(order, {
      slots,
      nonces: slots.map((slot) => rail.nonceOf(slot)),
      ranks: occupants.map((each) => (each ? each.rank + 1 : 0)),
      nowMs: nowMs(),
    })
    const signed = await signAll(entries)
    for (const [index, entry] of signed.entries()) {
      lane.occupy(entry.slot, {
        key: entry.key,
        txHash: hashOf(entry),
        kind: entry.kind,
        rank: entry.rank,
        fees: prepared[index]?.fees ?? null,
        costRaw: costsRaw[index] ?? 0n,
      })
    }
    wake()
    const last = signed.at(-1)
    if (!last) throw new Error('A plan has no steps.')
    await orTimeout(sendInOrder(signed), signal, () => stillUnderWay(hashOf(last)))
    const transactions = signed.map((entry) => ({ txHash: hashOf(entry), nonce: entry.nonce }))
    return { transactions, txHash: hashOf(last), nonce: last.nonce, gas: total(prepared) }

    async function signAll(queued: readonly Entry[]): Promise<readonly Entry[]> {
      let opened = false
      try {
        await recorder.open(queued, { lane: '', fence: 0 })
        opened = true
        const ready = await orTimeout(
          Promise.all(queued.map((entry, index) => signOne(entry, prepared[index], order.admin))),
          signal,
          nothingSent,
        )
        await record(ready, occupants)
        return ready
      } catch (error) {
        giveBack(lane, slots)
        if (opened) await giveUp(queued, error)
        throw error
      }
    }
  }

  /** @param replaces the order is meant to take the place of what is on its slot */
  async function claim(
    { requestId, nonce, kind, wish }: Order,
    lane: Lane,
    { prepared, synced, beside }: Checked,
    costsRaw: readonly bigint[],
    replaces: boolean,
  ) {
    const mayReplace = replaces || wish.maxFeePerGasRaw !== undefined || wish.maxPriorityFeePerGasRaw !== undefined
    const wanted: Claim = {
      requestId,
      nonce,
      count: prepared.length,
      given: nonce !== undefined && kind !== 'fill',
      fees: prepared.map(({ fees }) => fees),
      costsRaw,
      mayReplace,
    }
    const claimed = lane.claim(wanted)
    if (!('conflict' in claimed)) {
      // What makes room is never refused for want of room. Judged in the same breath as the claim: of two that both fit alone, one goes.
      const short = kind === 'cancel' || kind === 'fill' ? undefined : beside(lane.committedRaw(synced, claimed.slots))
      if (!short) return claimed
      giveBack(lane, claimed.slots)
      throw short
    }
    const { conflict } = claimed
    const { entries } =
      conflict.is === 'past'
        ? await recorder.list({ chain: site.chain, network: site.network, address: lane.address, nonce: conflict.nonce })
        : { entries: [] }
    throw nonceConflict(
      conflict,
      entries.find(({ landed }) => landed),
      rail,
    )
  }

  function giveBack(lane: Lane, slots: readonly Json[]): void {
    for (const slot of lane.release(slots)) fill(lane, rail.nonceOf(slot))
  }

  async function signOne(entry: Entry, prepared: Prepared | undefined, admin: boolean | undefined): Promise<Entry> {
    if (!prepared) throw new Error('A step was not priced.')
    const { chain, network, address, slot } = entry
    const draft = rail.draft(prepared, slot)
    const { id, raw } = rail.seal(draft, await sign({ chain, network, address, signable: draft, ...(admin && { admin }) }))
    return nextVersion(
      { ...entry, state: 'SIGNED', attempts: [{ id, raw, fees: prepared.fees, signedAt: nowMs(), sends: 0 }] },
      entry,
      nowMs(),
    )
  }

  /** The signed bytes, and with them on whom they are to replace, in one write. */
  async function record(signed: readonly Entry[], occupants: readonly (Occupant | undefined)[]): Promise<void> {
    for (;;) {
      const replaced = await Promise.all(
        signed.map(async (entry, index) => {
          const before = await recorder.read(occupants[index]?.key ?? '')
          return before && !before.landed ? [nextVersion({ ...before, replacedBy: hashOf(entry) }, before, nowMs())] : []
        }),
      )
      if (await recorder.write([...signed, ...replaced.flat()], { lane: '', fence: 0 })) return
      // Only what is to be replaced can have moved meanwhile: nobody else writes a queued entry.
    }
  }

  /** Never signed in time, or nobody will see what was. */
  async function giveUp(entries: readonly Entry[], error: unknown): Promise<void> {
    const reason = error instanceof SluiceError ? error.message : 'The transaction could not be signed.'
    for (const { key } of entries) {
      try {
        await recorder.amend(key, (entry) => (entry.state === 'QUEUED' ? { ...entry, state: 'EXPIRED', reason } : entry))
      } catch (failure) {
        log.warn(
          { requestId: entries[0]?.requestId, reason: failure instanceof Error ? failure.message : 'unknown' },
          'a request that was given up could not be noted',
        )
      }
    }
  }

  /** One after the other, for nodes that take no nonce before the one below it. */
  async function sendInOrder(signed: readonly Entry[]): Promise<void> {
    for (const entry of signed) for (const attempt of entry.attempts) await dispatch(entry, attempt)
  }
}

function hashOf(entry: Entry): string {
  const txHash = txHashOf(entry)
  if (txHash === undefined) throw new Error('A transaction was sent that has no hash.')
  return txHash
}

function total(prepared: readonly Prepared[]): GasTerms {
  const sum = (field: 'gasLimit' | 'gasCostRaw') => prepared.reduce((all, { gas }) => all + gas[field], 0n)
  return { gasLimit: sum('gasLimit'), gasPriceRaw: prepared[0]?.gas.gasPriceRaw ?? 0n, gasCostRaw: sum('gasCostRaw') }
}
