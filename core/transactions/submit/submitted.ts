import type { GasTerms, Prepared } from '../../contracts/index.ts'
import { txHashOf } from '../entry.ts'
import type { Entry } from '../entry.ts'
import type { KeptAnswer } from '../journal/journal.ts'
import type { PlacedOrder, Submitted } from '../submit-request.ts'

/** All that can go wrong in making the answer goes wrong before anything is kept. */
export function answerTo({ answer, keyed }: PlacedOrder, submitted: Submitted): KeptAnswer | undefined {
  const body = answer(submitted)
  return keyed && { claim: keyed.claim, ...keyed.answerOf(body) }
}

/** Once it is signed. */
export function submittedOf(signed: readonly Entry[], prepared: readonly Prepared[]): Submitted {
  const transactions = signed.map((entry) => ({ txHash: hashOf(entry), nonce: entry.nonce }))
  const last = transactions.at(-1)
  if (!last) throw new Error('A plan has no steps.')
  return { transactions, ...last, gas: total(prepared) }
}

export function hashOf(entry: Entry): string {
  const txHash = txHashOf(entry)
  if (txHash === undefined) throw new Error(`${entry.key} was never signed.`)
  return txHash
}

function total(prepared: readonly Prepared[]): GasTerms {
  const sum = (field: 'gasLimit' | 'gasCostRaw') => prepared.reduce((all, { gas }) => all + gas[field], 0n)
  return { gasPriceRaw: 0n, ...prepared[0]?.gas, gasLimit: sum('gasLimit'), gasCostRaw: sum('gasCostRaw') }
}
