import type { BookSet, CLOBWithdrawRequest } from '../../api/index.ts'
import type { At, BookPlan, Bridge, BridgePlan, Json, MarginMove, Plan, Token } from '../../contracts/index.ts'
import { fromRaw, normalize } from '../../base/decimal.ts'
import { badFields, SluiceError } from '../../base/errors.ts'
import type { Scope, SubmitResult } from '../../transactions/submit-request.ts'
import type { ConnectorContext } from '../context.ts'
import { evmOf } from '../evm.ts'
import { atMostLeaves, nothingLeaves, type OutcomeBounds } from '../outcome.ts'
import { requireLeverageSetting } from '../../limits/perpetual-limits.ts'
import { tradingOf, type NetworkEntry, type VenueEntry } from '../../plugins/index.ts'
import { bookWithdrawal, inTurn } from '../perp/exposure.ts'
import { perpetualCommitment } from '../perp/losses.ts'
import type { Commitment, Footprint, PerpetualExposure } from '../../transactions/budgets.ts'
import { touchedTokens, touchedVenue } from '../touches.ts'
import { submit, readWallet, type SigningWallet } from '../wallets.ts'
import { readPositiveRaw } from '../read-fields.ts'
import { marketName, marketsOf, type BookHandler } from './markets.ts'
import { leverageProblems } from './read-order.ts'

/** Deposits a token into the exchange: from the chain that the request names, else the exchange's own way. */
const clobDeposit =
  (type: BookSet): BookHandler<'Deposit'> =>
  (request, context) => {
    const { fromChain, ...deposit } = request
    return fromChain === undefined ? clobMove(type, 'deposit')(deposit, context) : depositFrom(type, fromChain, deposit, context)
  }

async function depositFrom(type: BookSet, fromChain: string, request: CLOBWithdrawRequest, context: ConnectorContext) {
  const { venue, services, signal } = context
  const at = { signal }
  const book = tradingOf(type, venue)
  if (!book.depositFrom)
    throw new SluiceError('UNSUPPORTED', `${venue.connector} takes no deposits from a chosen chain: leave fromChain out.`)
  const { network, bridge } = await sourceOf(fromChain, context)
  // Key, nonce and fees are for the chain that the deposit is sent on.
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
  const bounds = atMostLeaves([{ token: token.address, amountRaw }])
  const touches = (): Footprint => ({ action: 'deposit', connectors: touchedVenue(venue), tokens: touchedTokens([token.address], network) })
  return submitFunds(resolveBridge(plan, { token, amountRaw, bridge, network }), { about, touches, shown, scope, bounds }, wallet, {
    ...context,
    signal,
    network,
  })
}

interface Source {
  network: NetworkEntry
  /** Absent for the exchange's own chain. */
  bridge?: Bridge
}

/** @throws SluiceError UNSUPPORTED, SERVICE_UNINITIALIZED */
async function sourceOf(fromChain: string, { network, venue, services: { registry } }: ConnectorContext): Promise<Source> {
  if (fromChain === network.chain) return { network }
  const bridge = Object.hasOwn(venue.bridges, fromChain) ? venue.bridges[fromChain] : undefined
  if (!bridge) {
    const known = [network.chain, ...Object.keys(venue.bridges)].join(', ')
    throw new SluiceError(
      'UNSUPPORTED',
      `${venue.connector} takes no deposits from "${fromChain}" on ${network.network}; it takes them from: ${known}.`,
    )
  }
  if (!registry.networks.some((each) => each.chain === fromChain && each.network === bridge.network))
    throw new SluiceError(
      'UNSUPPORTED',
      `Deposits to ${venue.connector} from ${fromChain} are sent on ${fromChain}/${bridge.network}, which this server does not serve: it needs the chain plugin ${fromChain} with that network (GET /plugins).`,
    )
  await registry.wake(fromChain, bridge.network)
  return { network: registry.network(fromChain, bridge.network), bridge }
}

/** Any other token that is sent to the bridge may be lost. @throws SluiceError TOKEN_NOT_SUPPORTED */
function requireBridged(token: Token, bridge: Bridge, { chain, network }: NetworkEntry): void {
  if (!token.native && token.address === bridge.token) return
  throw new SluiceError(
    'TOKEN_NOT_SUPPORTED',
    `Deposits from ${chain}/${network} take the token ${bridge.token} only, not ${token.symbol} (${token.address}).`,
  )
}

/** The connector decides that a bridge is used; the transfer to it is the server's, by its settings. @throws SluiceError UNKNOWN_ERROR */
function resolveBridge(plan: Plan | BridgePlan, { token, amountRaw, bridge, network }: Source & { token: Token; amountRaw: bigint }): Plan {
  if (!('via' in plan) && !bridge) return plan
  if ('via' in plan && bridge) return evmOf(network).transfer(token, bridge.recipient, amountRaw)
  throw new SluiceError(
    'UNKNOWN_ERROR',
    'The connector would deposit from another chain than the request names: nothing was signed. This is a defect of the plugin.',
  )
}

/** Deposits a token, withdraws it to the same wallet, borrows it or repays it. */
const clobMove =
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
    const bounds = how === 'deposit' || how === 'repay' ? atMostLeaves([{ token: token.address, amountRaw }]) : nothingLeaves
    const touches = (): Footprint => ({
      action: how === 'repay' ? 'deposit' : how,
      connectors: touchedVenue(venue),
      tokens: touchedTokens([token.address], network),
      // What is lent is traded with, at a leverage that nothing here bounds.
      ...(how === 'borrow' && { leverage: 'unknown' as const }),
    })
    const funds = { about, touches, shown, scope, bounds }
    const move = async (perpetual?: PerpetualExposure) => {
      const planned = await plan(token, amountRaw, wallet.address, at)
      return submitFunds(planned, { ...funds, commitment: committedBy(planned, token, { perpetual, context }) }, wallet, context)
    }
    if (type === 'MARGIN_CLOB' || how !== 'withdraw') return move()
    return inTurn(wallet.address, context, async (turn) => {
      const perpetual = turn && (await bookWithdrawal(turn, { type, symbol: token.symbol, amount }, wallet.address, { ...context, signal }))
      return move(perpetual)
    })
  }

/** Undefined: what its bounds let leave the wallet, and nothing else. What the exchange keeps of it is lost. */
function committedBy(
  plan: BookPlan,
  { symbol }: Token,
  { perpetual, context }: { readonly perpetual: PerpetualExposure | undefined; readonly context: ConnectorContext },
): Commitment | undefined {
  const fee = 'via' in plan ? plan.fee : undefined
  if (fee === undefined) return perpetual && { gives: {}, perpetual }
  return { ...perpetualCommitment({ quote: symbol }, fee, context), ...(perpetual && { perpetual }) }
}

type Planner = (token: Token, amountRaw: bigint, owner: string, at: At) => Promise<BookPlan>

/** @throws SluiceError UNSUPPORTED if the exchange holds no funds */
function plannerOf(type: BookSet, how: MarginMove, venue: VenueEntry): Planner {
  if (type === 'MARGIN_CLOB') {
    const book = tradingOf(type, venue)
    return (token, amountRaw, owner, at) => book.transferCollateral(token, amountRaw, how, owner, at)
  }
  const book = tradingOf(type, venue)
  const { transferCollateral } = book
  if (transferCollateral && (how === 'deposit' || how === 'withdraw'))
    return (token, amountRaw, owner, at) => transferCollateral.call(book, token, amountRaw, how, owner, at)
  throw new SluiceError('UNSUPPORTED', `${venue.connector} holds no funds except those locked by orders: there is nothing to ${how}.`)
}

const clobLeverage: BookHandler<'Leverage'> = async (request, context) => {
  const { venue, network, services, caller, signal } = context
  const at = { signal }
  const perp = tradingOf('PERP_CLOB', venue)
  const wallet = readWallet(request, context)
  const market = (await marketsOf('PERP_CLOB', venue, at)).find(request.market)
  if (market.maxLeverage === undefined) throw new SluiceError('UNSUPPORTED', `${marketName(market)} has no leverage setting.`)
  const [problem] = leverageProblems(request, market)
  if (problem) throw badFields([problem])
  const leverage = normalize(request.leverage)
  requireLeverageSetting(leverage, services.limitsOn(caller.id, network))
  const plan = await perp.leverage(market, leverage, request.marginMode, wallet.address, at)
  const shown = { market: marketName(market), leverage }
  const scope = { contracts: venue.contracts, valueRaw: 0n }
  const touches = (): Footprint => ({
    action: 'perpetual',
    connectors: touchedVenue(venue),
    tokens: [market.base, market.quote].map((symbol) => ({ name: symbol, symbol })),
  })
  return submitFunds(
    plan,
    { about: { type: 'PERP_CLOB', how: 'leverage', ...shown }, touches, shown, scope, bounds: nothingLeaves },
    wallet,
    context,
  )
}

/** What the journal keeps of the request, in `about`. */
type Funds = { readonly type: BookSet; readonly how: string } & { readonly [field: string]: Json }

interface FundsRequest<S> {
  readonly about: Funds
  readonly touches: () => Footprint
  readonly shown: S
  readonly scope: Scope
  readonly bounds: OutcomeBounds
  readonly commitment?: Commitment | undefined
}

/** Submits a plan that moves funds or sets leverage: on the context's network, or on the exchange's own rail. */
async function submitFunds<S extends object>(
  plan: BookPlan,
  { about, touches, shown, scope, bounds, commitment }: FundsRequest<S>,
  wallet: SigningWallet,
  context: ConnectorContext,
) {
  const isOnChain = !('via' in plan)
  if (isOnChain) await requireNodes(context)
  const answer = ({ txHash, nonce, landed }: SubmitResult) => ({
    id: txHash,
    state: landed === undefined ? ('PENDING' as const) : landed.ok ? ('DONE' as const) : ('REJECTED' as const),
    ...(landed?.reason !== undefined && { reason: landed.reason }),
    ...shown,
    ...(isOnChain && { txHash, nonce }),
  })
  const reduces = about.how === 'repay'
  const request = { ...context, ...wallet, plan, scope, kind: 'funds', touches, reduces, about, answer } as const
  return answer(await submit({ ...request, ...(commitment && { commitment }) }, context, bounds))
}

/** A plan of the chain needs its nodes, where nothing before has asked for them. @throws SluiceError NETWORK, RATE_LIMIT, SERVICE_UNINITIALIZED */
async function requireNodes({ network: { chain, network }, services: { registry } }: ConnectorContext): Promise<void> {
  await registry.wake(chain, network)
  registry.network(chain, network)
}

export const fundsHandlers = (type: BookSet) => ({
  Deposit: clobDeposit(type),
  Withdraw: clobMove(type, 'withdraw'),
})

export const marginFundsHandlers = {
  Borrow: clobMove('MARGIN_CLOB', 'borrow'),
  Repay: clobMove('MARGIN_CLOB', 'repay'),
}

export const perpFundsHandlers = {
  Leverage: clobLeverage,
}
