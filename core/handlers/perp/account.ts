import { SluiceError } from '../../api/index.ts'
import type { Token } from '../../contracts/index.ts'
import type { Submitted } from '../../transactions/submit-request.ts'
import { fromRaw } from '../../decimal.ts'
import { readWallet } from '../../verbs/read-wallet.ts'
import { withMeaning } from '../explain-errors.ts'
import { showGas } from '../../verbs/fees.ts'
import { readPositiveRaw } from '../tokens.ts'
import { perpOf } from './markets.ts'
import type { PerpVerb } from '../../verbs/perp-amm/perp-verb.ts'

/** Collateral into the exchange, or out of it to the same wallet. */
export const move =
  (how: 'deposit' | 'withdraw'): PerpVerb<'Deposit'> & PerpVerb<'Withdraw'> =>
  async (request, context) => {
    const { network, venue, services, signal } = context
    const at = { signal }
    const perp = perpOf(venue)
    const wallet = readWallet(request, context)
    const token = await network.tokens.resolve(request.token, 'token', at)
    const amountRaw = readPositiveRaw(request.amount, token, 'amount')
    // Whether the exchange takes the token is asked for a deposit, too.
    const { withdrawableRaw } = await perp.collateral(wallet.address, token, at)
    if (how === 'withdraw' && amountRaw > withdrawableRaw) throw tooLittle(withdrawableRaw, amountRaw, token)
    const plan = perp.move(token, amountRaw, how, wallet.address)
    const scope = { contracts: venue.contracts, valueRaw: how === 'deposit' && token.native ? amountRaw : 0n }
    const shown = { token: token.address, amount: fromRaw(amountRaw, token.decimals) }
    const answer = ({ gas, nonce, txHash }: Submitted) => ({ ...shown, ...showGas(gas, network), nonce, txHash })
    const submitted = services.transactions.submit({ ...context, ...wallet, plan, scope, kind: 'collateral', about: null, answer }, signal)
    return answer(await withMeaning(submitted, venue))
  }

function tooLittle(freeRaw: bigint, neededRaw: bigint, { symbol, decimals }: Token): SluiceError {
  const details = { free: fromRaw(freeRaw, decimals), needed: fromRaw(neededRaw, decimals) }
  return new SluiceError(
    'INSUFFICIENT_MARGIN',
    `${details.free} ${symbol} can be withdrawn now, less than ${details.needed}: close positions or withdraw less. Nothing was sent.`,
    { details },
  )
}
