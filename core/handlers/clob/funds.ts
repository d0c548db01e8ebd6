import { SluiceError, type BookSet, type CLOBWithdrawRequest, badFields } from '../../api/index.ts'
import type { Bridge, BridgePlan, Plan, Token, At, BookPlan, MarginMove, Json } from '../../contracts/index.ts'
import { fromRaw, normalize } from '../../decimal.ts'
import type { Scope, SubmitResult } from '../../transactions/submit-request.ts'
import { evmOf } from '../evm.ts'
import { explainRefusal, nameListedTokens } from '../explain-errors.ts'
import type { NetworkEntry, VenueEntry } from '../registry.ts'
import { readPositiveRaw } from '../tokens.ts'
import { readWallet } from '../wallets.ts'
import { bookOf, type BookHandler, marketsOf, marketName } from './markets.ts'
import { aboutLeverage } from './read-order.ts'
import type { ConnectorContext, SigningWallet } from './submit-actions.ts'

/** A token into the exchange: from the chain that the request names, else by the exchange's own way. */
export const clobDeposit =
  (type: BookSet): BookHandler<'Deposit'> =>
  (request, context) => {
    const { fromChain, ...moved } = request
    return fromChain === undefined ? clobMove(type, 'deposit')(moved, context) : depositFrom(type, fromChain, moved, context)
  }

async function depositFrom(type: BookSet, fromChain: string, request: CLOBWithdrawRequest, context: ConnectorContext) {
  const { venue, services, signal } = context
  const at = { signal }
  const book = bookOf(type, venue)
  if (!book.depositFrom)
    throw new SluiceError('UNSUPPORTED', `${venue.connector} takes no deposits from a chain of one's choice: leave fromChain out.`)
  const { network, bridge } = await sourceOf(fromChain, context)
  // Key, nonce and fees are those of the chain that it is sent on.
  const wallet = readWallet(request, { network, services })
  const token = await network.tokens.resolve(request.token, 'token', at)
  if (bridge) requireBridged(token, bridge, network)
  const amountRaw = readPositiveRaw(request.amount, token, 'amount')
  const plan = await book.depositFrom(fromChain, token, amountRaw, wallet.address, at)
  const amount = fromRaw(amountRaw, token.decimals)
  const about = { type, how: 'deposit', token: token.symbol, amount, into: `${context.network.chain}/${context.network.network}` }
  const shown = { token: token.address, amount, fromChain, fromNetwork: network.network }
  const contracts = bridge ? [token.address] : venue.contracts
  const scope = { contracts, valueRaw: token.native ? amountRaw : 0n }
  return submitFunds(carriedOut(plan, { token, amountRaw, bridge, network }), { about, shown, scope }, wallet, { ...context, network })
}

interface Source {
  network: NetworkEntry
  /** Absent where it is the exchange's own chain. */
  bridge?: Bridge
}

/** @throws SluiceError UNSUPPORTED, SERVICE_UNINITIALIZED */
async function sourceOf(fromChain: string, { network, venue, services: { registry: directory } }: ConnectorContext): Promise<Source> {
  if (fromChain === network.chain) return { network }
  const bridge = Object.hasOwn(venue.bridges, fromChain) ? venue.bridges[fromChain] : undefined
  if (!bridge) {
    const known = [network.chain, ...Object.keys(venue.bridges)].join(', ')
    throw new SluiceError(
      'UNSUPPORTED',
      `${venue.connector} takes no deposits from "${fromChain}" on ${network.network}; it takes them from: ${known}.`,
    )
  }
  const { networks } = directory
  if (!networks.some((each) => each.chain === fromChain && each.network === bridge.network))
    throw new SluiceError(
      'UNSUPPORTED',
      `Deposits to ${venue.connector} from ${fromChain} are sent on ${fromChain}/${bridge.network}, which this server does not serve: it needs the chain plugin ${fromChain} with that network (GET /plugins).`,
    )
  await directory.wake(fromChain, bridge.network)
  return { network: directory.network(fromChain, bridge.network), bridge }
}

/** Whatever else is sent to the bridge may be lost. */
function requireBridged(token: Token, bridge: Bridge, { chain, network }: NetworkEntry): void {
  if (!token.native && token.address === bridge.token) return
  throw new SluiceError(
    'TOKEN_NOT_SUPPORTED',
    `From ${chain}/${network} deposits are of the token ${bridge.token} only, and not of ${token.symbol} (${token.address}).`,
  )
}

/** The connector says whether there is a way; what is sent over a bridge is for the server to say, by the settings. */
function carriedOut(plan: Plan | BridgePlan, { token, amountRaw, bridge, network }: Source & { token: Token; amountRaw: bigint }): Plan {
  if (!('via' in plan) && !bridge) return plan
  if ('via' in plan && bridge) return evmOf(network).transfer(token, bridge.recipient, amountRaw)
  throw new SluiceError(
    'UNKNOWN_ERROR',
    'The connector would deposit by another chain than was asked for: nothing was signed. This is a defect of the plugin.',
  )
}

/** A token into the exchange, out of it to the same wallet, or lent by it and paid back. */
export const clobMove =
  (type: BookSet, how: MarginMove): BookHandler<'Withdraw'> =>
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

export const clobLeverage: BookHandler<'Leverage'> = async (request, context) => {
  const { venue, signal } = context
  const at = { signal }
  const perp = bookOf('PERP_CLOB', venue)
  const wallet = readWallet(request, context)
  const market = (await marketsOf('PERP_CLOB', venue, at)).find(request.market)
  if (market.maxLeverage === undefined) throw new SluiceError('UNSUPPORTED', `${marketName(market)} has no leverage to be set.`)
  const [problem] = aboutLeverage(request, market)
  if (problem) throw badFields([problem])
  const asked = normalize(request.leverage)
  const plan = await perp.leverage(market, asked, request.marginMode, wallet.address, at)
  const shown = { market: marketName(market), leverage: asked }
  const scope = { contracts: venue.contracts, valueRaw: 0n }
  return submitFunds(plan, { about: { type: 'PERP_CLOB', how: 'leverage', ...shown }, shown, scope }, wallet, context)
}

/** What the request is about, as the journal keeps it. */
type Funds = { readonly type: BookSet; readonly how: string } & { readonly [field: string]: Json }

/** Has what moves funds, or changes how they are held, carried out: on the context's network, or by the exchange's own rail. */
async function submitFunds<S extends object>(
  plan: BookPlan,
  { about, shown, scope }: { about: Funds; shown: S; scope: Scope },
  wallet: SigningWallet,
  context: ConnectorContext,
) {
  const { network, venue, services, signal } = context
  const onChain = !('via' in plan)
  const answer = ({ txHash, nonce, landed }: SubmitResult) => ({
    id: txHash,
    state: landed === undefined ? ('PENDING' as const) : landed.ok ? ('DONE' as const) : ('REJECTED' as const),
    ...(landed?.reason !== undefined && { reason: landed.reason }),
    ...shown,
    ...(onChain && { txHash, nonce }),
  })
  const submitted = services.transactions.submit({ ...context, ...wallet, plan, scope, kind: 'funds', about, answer }, signal)
  return answer(await explainRefusal(nameListedTokens(submitted, network), venue))
}
