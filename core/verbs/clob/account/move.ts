import { SluiceError, type BookSet } from '../../../api/index.ts'
import type { At, BookPlan, MarginMove, Token } from '../../../contracts/index.ts'
import { fromRaw } from '../../../decimal.ts'
import type { BookVerb } from '../book-verb.ts'
import type { VenueEntry } from '../../../handlers/registry.ts'
import { readWallet } from '../../read-wallet.ts'
import { readPositiveRaw } from '../../../handlers/tokens.ts'
import { bookOf } from '../book-type.ts'
import { submitFunds } from './submit-funds.ts'

/** A token into the exchange, out of it to the same wallet, or lent by it and paid back. */
export const move =
  (type: BookSet, how: MarginMove): BookVerb<'Withdraw'> =>
  async (request, context) => {
    const { network, venue, signal } = context
    const at = { signal }
    const plan = plannerOf(type, how, venue)
    const wallet = readWallet(request, context)
    const token = await network.tokens.resolve(request.token, 'token', at)
    const amountRaw = readPositiveRaw(request.amount, token, 'amount')
    const amount = fromRaw(amountRaw, token.decimals)
    const valueRaw = token.native && (how === 'deposit' || how === 'repay') ? amountRaw : 0n
    const about = { type, how, token: token.symbol, amount }
    const shown = { token: token.address, amount }
    const scope = { contracts: venue.contracts, valueRaw }
    return submitFunds(await plan(token, amountRaw, wallet.address, at), { about, shown, scope }, wallet, context)
  }

type Planner = (token: Token, amountRaw: bigint, owner: string, at: At) => Promise<BookPlan>

/** @throws SluiceError UNSUPPORTED where the exchange holds no funds */
function plannerOf(type: BookSet, how: MarginMove, venue: VenueEntry): Planner {
  if (type === 'MARGIN_CLOB') {
    const book = bookOf(type, venue)
    return (token, amountRaw, owner, at) => book.move(token, amountRaw, how, owner, at)
  }
  const book = bookOf(type, venue)
  const { move: carry } = book
  if (carry && (how === 'deposit' || how === 'withdraw'))
    return (token, amountRaw, owner, at) => carry.call(book, token, amountRaw, how, owner, at)
  throw new SluiceError('UNSUPPORTED', `${venue.connector} holds no funds but what its orders have locked: there is nothing to ${how}.`)
}
