import { isSignature } from '@solana/kit'
import { takesAll, holdsAll } from '../../ledger/leaders.ts'
import { invalidParams, slotOf } from '../protocol.ts'
import type { Methods, View } from '../view.ts'

/** What no node of a public cluster does: the cards of plugins decide with these what is in which block. */
export const controlMethods: Methods = {
  /** Who pays for airdrops: it has more of each token than any card asks for. */
  sluice_faucet: ({ faucet }) => faucet.signer.address,
  /** Lets slots pass until so many blocks were made in them. */
  sluice_passBlocks(view, [count]) {
    const { ledger } = view
    for (const until = ledger.tip.height + slotOf(count); ledger.tip.height < until;) ledger.passSlot()
    return ledger.tip.height
  },
  /** Leaders take every transaction from now on ("all"), or those of a list alone and hold the others. */
  sluice_lead(view, [taken]) {
    view.ledger.leader = leaderOf(taken)
    return null
  },
  /** The signatures of what was sent and is in no block yet, in its order. */
  sluice_waiting: ({ ledger }: View) => ledger.waiting.map(({ wire }) => wire.signature),
}

function leaderOf(taken: unknown): typeof takesAll {
  if (taken === 'all') return takesAll
  if (!Array.isArray(taken)) throw invalidParams('Give "all", or a list of signatures.')
  const signatures = new Set(taken.filter((each) => typeof each === 'string' && isSignature(each)))
  return signatures.size === 0 ? holdsAll : ({ wire }) => (signatures.has(wire.signature) ? 'takes' : 'holds')
}
