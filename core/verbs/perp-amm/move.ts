import { badFields, SluiceError } from '../../api/index.ts'
import type { Submitted } from '../../transactions/index.ts'
import { fromRaw, mostRaw } from '../amounts.ts'
import { readFees, showGas } from '../fees.ts'
import { readRaw } from '../token-book.ts'
import { readAddress, requireKey } from '../wallets.ts'
import { perpOf } from './market.ts'
import type { PerpVerb } from './perp-verb.ts'

/** Collateral into the exchange, or out of it to the same wallet. */
export const move =
  (how: 'deposit' | 'withdraw'): PerpVerb<'Deposit'> & PerpVerb<'Withdraw'> =>
  async (request, context) => {
    const { network, venue, services, signal } = context
    const at = { signal }
    const perp = perpOf(venue)
    const address = readAddress(network, request.address)
    requireKey(services.wallets, network, address)
    const wish = readFees(request, network)
    const token = await network.tokens.resolve(request.token, 'token', at)
    const amountRaw = readRaw(request.amount, token, 'amount')
    if (amountRaw === 0n) throw badFields([{ field: 'amount', problem: 'must be more than 0' }])
    if (amountRaw >= mostRaw) throw badFields([{ field: 'amount', problem: 'is more than any token can hold' }])
    const { withdrawableRaw } = await perp.collateral(address, token, at)
    if (how === 'withdraw' && amountRaw > withdrawableRaw) {
      const free = fromRaw(withdrawableRaw, token.decimals)
      throw new SluiceError(
        'INSUFFICIENT_MARGIN',
        `${free} ${token.symbol} can be withdrawn now, less than ${request.amount}: close positions or withdraw less.`,
        { details: { free, needed: fromRaw(amountRaw, token.decimals) } },
      )
    }
    const plan = perp.move(token, amountRaw, how, address)
    const shown = { token: token.address, amount: fromRaw(amountRaw, token.decimals) }
    const answer = ({ gas, nonce, txHash }: Submitted) => ({ ...shown, ...showGas(gas, network), nonce, txHash })
    const scope = { contracts: venue.contracts, valueRaw: how === 'deposit' && token.native ? amountRaw : 0n }
    const { nonce } = request
    return answer(
      await services.transactions.submit(
        { ...context, address, plan, scope, kind: 'collateral', nonce, wish, about: null, answer },
        signal,
      ),
    )
  }
