// What a wallet does with its own coin and tokens: it wraps and unwraps the coin, and sends to addresses that the operator lists.
import type { At, Plan, Token } from '../contracts/index.ts'
import { fromRaw } from '../base/decimal.ts'
import { badFields, SluiceError } from '../base/errors.ts'
import { givesNothing, type Commitment } from '../transactions/budgets.ts'
import type { Kind } from '../transactions/entry.ts'
import type { SubmitRequest, SubmitResult } from '../transactions/submit-request.ts'
import type { Caller, Handler, Handlers, NetworkContext } from './context.ts'
import { evmOf } from './evm.ts'
import { readPositiveRaw } from './read-fields.ts'
import type { NetworkEntry } from '../plugins/index.ts'
import { touchedTokens } from './touches.ts'
import { readAddress, readWallet, showGas } from './wallets.ts'
import { addressKey, isSameAddress } from '../base/addresses.ts'

type TransferRequest = Parameters<Handler<'EVMWrap'>>[0]

interface Transfer {
  readonly kind: Kind
  readonly plan: Plan
  /** What may be called and paid. */
  readonly scope: { readonly contracts: readonly string[]; readonly valueRaw: bigint }
  readonly touches: SubmitRequest['touches']
  readonly commitment: Commitment
  readonly shown: object
  readonly precondition?: SubmitRequest['precondition']
}

async function submitTransfer<S extends object>(
  request: TransferRequest,
  context: NetworkContext,
  { shown, ...transfer }: Transfer & { shown: S },
) {
  const { network, services, signal } = context
  const answer = ({ gas, nonce, txHash }: SubmitResult) => ({ ...shown, ...showGas(gas, network), nonce, txHash })
  const scope = { ...transfer.scope, stepGas: network.impl.rail.transferGas }
  const submission = { ...context, ...readWallet(request, context), ...transfer, scope, about: null, answer }
  return answer(await services.transactions.submit(submission, signal))
}

const wrapping =
  (how: 'wrap' | 'unwrap'): Handler<'EVMWrap'> & Handler<'EVMUnwrap'> =>
  (request, context) => {
    const { network } = context
    const { wrapped } = evmOf(network)
    if (!wrapped)
      throw new SluiceError('UNSUPPORTED', `On ${network.chain} the native coin is a token itself: nothing has to be wrapped or unwrapped.`)
    const { token } = wrapped
    const amountRaw = readPositiveRaw(request.amount, token, 'amount')
    return submitTransfer(request, context, {
      kind: 'wrap',
      plan: wrapped[how](amountRaw),
      scope: { contracts: [token.address], valueRaw: how === 'wrap' ? amountRaw : 0n },
      touches: () => ({ action: 'wrap', tokens: touchedTokens([token.address, network.impl.nativeCurrency.address], network) }),
      // Coin and token stay the wallet's.
      commitment: givesNothing,
      shown: { tokenAddress: token.address, amount: fromRaw(amountRaw, token.decimals) },
    })
  }

const evmSend: Handler<'EVMSend'> = async (request, context) => {
  const { network, caller, signal } = context
  const evm = evmOf(network)
  const at = { signal }
  const { address: wallet } = readWallet(request, context)
  const to = readAddress(network, request.to, 'to')
  requireRecipient(caller, wallet, to)
  const token = requireListed(network, request.token)
  if (to === token.address)
    throw badFields([{ field: 'to', problem: `is the contract of ${token.symbol} itself: what is sent there is lost` }])
  const amountRaw = readPositiveRaw(request.amount, token, 'amount')
  const plan = evm.transfer(token, to, amountRaw)
  return submitTransfer(request, context, {
    kind: 'send',
    plan,
    scope: { contracts: [token.native ? to : token.address], valueRaw: token.native ? amountRaw : 0n },
    touches: () => ({ action: 'transfer', tokens: touchedTokens([token.address], network), recipient: to }),
    commitment: { gives: { [token.address]: amountRaw } },
    shown: { to, tokenAddress: token.address, amount: fromRaw(amountRaw, token.decimals) },
    ...(!token.native && { precondition: (checked) => requireMoved(plan, { wallet, token, checked }, network, at) }),
  })
}

/** @throws SluiceError FORBIDDEN */
function requireRecipient({ sendTo, id }: Caller, wallet: string, to: string): void {
  if (sendTo?.get(addressKey(wallet))?.some((each) => isSameAddress(each, to))) return
  throw new SluiceError(
    'FORBIDDEN',
    `The client certificate "${id}" may not send from ${wallet} to ${to}; an operator lists the address in sendTo of conf/clients.yml and restarts the server.`,
  )
}

/**
 * The code of any other contract would run in a transaction that the wallet pays for: each caller could have gas burnt so, and of no use.
 * @throws SluiceError TOKEN_NOT_SUPPORTED
 */
function requireListed({ tokens, chain, network }: NetworkEntry, name: string): Token {
  const token = tokens.known(name, 'token')
  if (token) return token
  throw new SluiceError(
    'TOKEN_NOT_SUPPORTED',
    `token: ${name} is not on the token list of ${chain}/${network}, and /evm/send takes listed tokens only: who has the permission admin adds it by POST /network/tokens/add.`,
  )
}

interface TransferCheck {
  readonly wallet: string
  readonly token: Token
  readonly checked: Parameters<NonNullable<SubmitRequest['precondition']>>[0]
}

/** Some tokens answer that they did not move anything, where others fail. @throws SluiceError TRADE_FAILED */
async function requireMoved({ steps }: Plan, { wallet, token, checked }: TransferCheck, { impl }: NetworkEntry, at: At): Promise<void> {
  const fees = (await checked).prepared.map((each) => each.fees)
  const outcome = await impl.evm?.simulate?.(steps, wallet, { tokens: [token.address], allowances: [], fees }, at)
  if (!outcome || outcome === 'unavailable' || outcome.is === 'failed' || (outcome.gains.get(token.address) ?? 0n) < 0n) return
  throw new SluiceError(
    'TRADE_FAILED',
    `${token.symbol} would not move anything, so nothing was signed: its contract refuses this transfer.`,
    {
      details: { reason: 'the transfer moves nothing' },
    },
  )
}

const evmGas: Handler<'EVMGas'> = async (_request, { network, signal }) => {
  const { gasPrices } = evmOf(network)
  if (!gasPrices) throw new SluiceError('UNSUPPORTED', `Prices for gas on ${network.chain} are not known.`)
  const { blockNumber, baseFeeRaw, slow, normal, fast } = await gasPrices({ signal })
  const show = ({ maxFeeRaw, tipRaw }: typeof slow) => ({
    maxFeePerGas: fromRaw(maxFeeRaw, gweiDecimals),
    maxPriorityFeePerGas: fromRaw(tipRaw, gweiDecimals),
    gasPrice: fromRaw((baseFeeRaw ?? 0n) + tipRaw, gweiDecimals),
  })
  return {
    gasPriceToken: network.impl.nativeCurrency.symbol,
    blockNumber: Number(blockNumber),
    ...(baseFeeRaw !== undefined && { baseFee: fromRaw(baseFeeRaw, gweiDecimals) }),
    slow: show(slow),
    normal: show(normal),
    fast: show(fast),
  }
}

const gweiDecimals = 9

export const transferHandlers = {
  EVMWrap: wrapping('wrap'),
  EVMUnwrap: wrapping('unwrap'),
  EVMSend: evmSend,
  EVMGas: evmGas,
} satisfies Partial<Handlers>
