// Errors as Hummingbot's clients read them: `message` makes a typed error of one, and `code` decides whether a request is sent again.
import { STATUS_CODES } from 'node:http'
import type { Interface, InterfaceError } from 'sluice/interface'

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
  RATE_LIMIT: 'RATE_LIMITED',
}

/** hummingbot-api takes a 500 for proof that a position is gone, and 504 is a transaction's timeout. Trouble of the server or a node is neither. */
const trouble: ReadonlySet<number> = new Set([500, 502, 504])

/** A word that makes clients send a transaction again, wherever it is in a text. */
const resend = /TRANSACTION_TIMEOUT/g

export const showError: Interface['showError'] = ({ http, name, message, requestId }: InterfaceError) => {
  const statusCode = trouble.has(http) ? 503 : http
  const code = codes[name]
  return {
    status: statusCode,
    body: {
      statusCode,
      error: STATUS_CODES[statusCode] ?? 'Error',
      name,
      message: message.replace(resend, 'a timeout'),
      ...(code !== undefined && { code }),
      requestId,
    },
  }
}
