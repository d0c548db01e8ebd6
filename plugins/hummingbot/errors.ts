// Errors as Hummingbot's clients read them: `message` makes a typed error of one, and `code` decides whether a request is sent again.
import { STATUS_CODES } from 'node:http'
import type { Interface, InterfaceError, SluiceError } from 'sluice/interface'
import { commandOf } from './connectors.ts'

/** Sluice's name of an error → Hummingbot's code. Others have none, and are not sent again. */
const codes: Readonly<Record<string, string>> = {
  INCOMPLETE_PARAMS: 'INVALID_PARAMS',
  TOKEN_NOT_SUPPORTED: 'INVALID_PARAMS',
  UNKNOWN_CONNECTOR: 'INVALID_PARAMS',
  UNKNOWN_CHAIN_ERROR: 'INVALID_PARAMS',
  PRICE_FAILED: 'NO_ROUTE_FOUND',
  PAIR_NOT_FOUND: 'NO_ROUTE_FOUND',
  INSUFFICIENT_BALANCE: 'INSUFFICIENT_BALANCE',
  OUT_OF_GAS: 'INSUFFICIENT_BALANCE',
  TRADE_FAILED: 'TRANSACTION_FAILED',
  RATE_LIMIT: 'RATE_LIMITED',
}

/**
 * What waits for an approval may still be carried out, and 202 would read as done. Bots follow any refusal by a new order: an equal one waits for the
 * same approval.
 */
const waiting =
  'The request waits for the approval of a second person (GET /approvals of the server). Nothing was signed, and it may still be carried out: do not repeat it.'

/** hummingbot-api takes a 500 for proof that a position is gone, and 504 is a transaction's timeout. Trouble of the server or a node is neither. */
const trouble: ReadonlySet<number> = new Set([500, 502, 504])

/** Whether a refusal says nothing of what was asked: a node, this server, or a limit is why. */
export const isPassing = ({ http, name }: SluiceError): boolean => (http >= 500 && name !== 'UNSUPPORTED') || name === 'RATE_LIMIT'

/** Something may have been signed for the request, or is being signed. */
const unknown: ReadonlySet<string> = new Set(['IN_FLIGHT', 'IDEMPOTENCY_CONFLICT'])

/** A word that makes clients send a transaction again, wherever it is in a text. */
const resend = /TRANSACTION_TIMEOUT/g

const detailOf = ({ details }: InterfaceError, field: string): unknown =>
  typeof details === 'object' && details !== null ? Reflect.get(details, field) : undefined

/** Where nothing took effect because of the price: clients try again with a wider slippage, as they take it for proof that nothing landed. */
const isSlippage = (error: InterfaceError): boolean => error.name.startsWith('SWAP_PRICE_') || detailOf(error, 'cause') === 'slippage'

/** Where nothing was signed and the same request passes in a block or two: by this code alone clients send it again. */
const isForLater = (error: InterfaceError): boolean => error.name === 'OVERLOADED' && detailOf(error, 'reason') === 'an approval under way'

/** Who reads it has the client's commands, and no path of the server. */
function withCommand(error: InterfaceError): string {
  const { name, message } = error
  if (name !== 'INSUFFICIENT_ALLOWANCE') return message
  const [spenderName, token] = [detailOf(error, 'spenderName'), detailOf(error, 'token')]
  if (typeof spenderName !== 'string' || typeof token !== 'string') return message
  return `${message} In Hummingbot: ${commandOf(spenderName, token)}`
}

export const showError: Interface['showError'] = (error: InterfaceError) => {
  const { http, name, requestId } = error
  const isWaiting = name === 'PENDING_APPROVAL'
  // hummingbot-api takes a 404 of a position's path for proof that the position is gone, too: only a path that there is may say so.
  const isUnknownPath = name === 'INCOMPLETE_PARAMS' && http === 404
  const statusCode = isWaiting ? 403 : isUnknownPath ? 501 : trouble.has(http) || unknown.has(name) ? 503 : http
  const code = isSlippage(error) ? 'SLIPPAGE_EXCEEDED' : isForLater(error) ? 'RATE_LIMITED' : codes[name]
  return {
    status: statusCode,
    body: {
      statusCode,
      error: STATUS_CODES[statusCode] ?? 'Error',
      name,
      message: isWaiting ? waiting : withCommand(error).replace(resend, 'a timeout'),
      ...(code !== undefined && { code }),
      requestId,
    },
  }
}
