import { SluiceError } from '../../contracts/index.ts'
import { txHashOf } from '../entry.ts'
import type { Conflict } from '../nonce-queue.ts'
import type { Site } from '../submit-request.ts'
import type { Recorder } from '../journal/recorder.ts'

/** What a caller is told about a nonce that cannot be had. */
export async function nonceConflict(
  { is, nonce, next, holder, requestId }: Conflict,
  { recorder, site, address }: { recorder: Recorder; site: Site; address: string },
): Promise<SluiceError> {
  const { rail } = site.impl
  const txHash = holder?.txHash ?? (is === 'past' ? await minedOn(nonce) : undefined)
  const least = holder && rail.replace ? rail.replace.least(holder.fees) : undefined
  const replace = least === undefined ? '' : ` To replace it offer at least ${least}.`
  const isOrdered = rail.slots === 'ordered'
  const free = isOrdered ? ` The next free one is ${next}.` : ' Leave nonce out where it need not be this one.'
  const held = txHash === undefined ? 'a transaction that is not in the journal' : txHash
  const messages: Record<Conflict['is'], string> = {
    past: `Nonce ${nonce} is used: ${held} is mined on it.${isOrdered ? ` The next is ${next}; leave nonce out to have it assigned.` : ' Try again.'}`,
    claimed: `Nonce ${nonce} is being signed for the request ${requestId ?? ''}: try again when that is answered, or leave nonce out.`,
    'not-meant': `Nonce ${nonce} is held by ${held}, which is pending.${replace}${free}`,
    outbid: `Nonce ${nonce} is held by ${held}, and the fees are too low to replace it.${replace}`,
    foreign: `Nonce ${nonce} is held by ${held}, sent by other software. To try to replace it give maxFeePerGas and maxPriorityFeePerGas; the next free one is ${next}.`,
    far: `Nonce ${nonce} is too far ahead: the next is ${next}, and everything up to it would have to be sent first.`,
  }
  return new SluiceError('INVALID_NONCE', messages[is], {
    details: { nonce, ...(isOrdered && { next }), ...(txHash !== undefined && { txHash }) },
  })

  async function minedOn(used: number): Promise<string | undefined> {
    const { entries } = await recorder.list({
      chain: site.chain,
      network: site.network,
      on: { connector: site.connector, address },
      nonce: used,
    })
    const mined = entries.find(({ landed }) => landed)
    return mined && txHashOf(mined)
  }
}
