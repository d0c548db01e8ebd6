import { SluiceError, type BookSet, type CLOBWithdrawRequest } from '../../api/index.ts'
import type { Bridge, BridgePlan, Plan, Token } from '../../contracts/index.ts'
import { fromRaw } from '../../decimal.ts'
import type { NetworkEntry } from '../registry.ts'
import { evmOf } from '../../verbs/evm/spenders.ts'
import { readWallet } from '../../verbs/read-wallet.ts'
import { readPositiveRaw } from '../tokens.ts'
import { bookOf } from '../../verbs/clob/book-type.ts'
import type { BookVerb } from '../../verbs/clob/book-verb.ts'
import type { BookContext } from './submit-actions.ts'
import { move } from '../../verbs/clob/account/move.ts'
import { submitFunds } from '../../verbs/clob/account/submit-funds.ts'

/** A token into the exchange: from the chain that the request names, else by the exchange's own way. */
export const deposit =
  (type: BookSet): BookVerb<'Deposit'> =>
  (request, context) => {
    const { fromChain, ...moved } = request
    return fromChain === undefined ? move(type, 'deposit')(moved, context) : depositFrom(type, fromChain, moved, context)
  }

async function depositFrom(type: BookSet, fromChain: string, request: CLOBWithdrawRequest, context: BookContext) {
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
async function sourceOf(fromChain: string, { network, venue, services: { directory } }: BookContext): Promise<Source> {
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
  await directory.woken(fromChain, bridge.network)
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
