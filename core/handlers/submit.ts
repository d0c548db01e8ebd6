import type { Token } from '../contracts/index.ts'
import { SluiceError } from '../errors.ts'
import { isObject } from '../json.ts'
import type { SubmitRequest, SubmitResult } from '../transactions/submit-request.ts'
import type { ConnectorContext } from './context.ts'
import type { VenueEntry } from './registry.ts'
import { showGas, type SigningWallet } from './wallets.ts'

/** Submits a plan of a connector. The response is what `shown` has, with gas, nonce and hash. */
export async function submitAndShow<S extends object>(
  change: Pick<SubmitRequest, 'plan' | 'scope' | 'kind' | 'about'>,
  shown: S,
  wallet: SigningWallet,
  context: ConnectorContext,
) {
  const answer = ({ gas, nonce, txHash }: SubmitResult) => ({ ...shown, ...showGas(gas, context.network), nonce, txHash })
  return answer(await submit({ ...context, ...wallet, ...change, answer }, context))
}

/** Submits a plan of a connector. In errors, refusal codes of the exchange are explained and tokens have their listed symbols. */
export async function submit(request: SubmitRequest, { network, venue, services, signal }: ConnectorContext): Promise<SubmitResult> {
  try {
    return await services.transactions.submit(request, signal)
  } catch (error) {
    throw error instanceof SluiceError ? explainRefusal(nameListedToken(error, network.tokens.listed), venue) : error
  }
}

/** The meaning of an exchange's refusal code, as its connector declares it. */
export function refusalMeaning(code: string, { impl: { refusals = {} } }: Pick<VenueEntry, 'impl'>): string | undefined {
  return Object.hasOwn(refusals, code) ? refusals[code] : undefined
}

function explainRefusal(error: SluiceError, venue: VenueEntry): SluiceError {
  if (error.name !== 'TRADE_FAILED') return error
  const { reason } = detailsOf(error)
  const meaning = typeof reason === 'string' ? refusalMeaning(reason, venue) : undefined
  if (meaning === undefined) return error
  const message = `The transaction would fail, so it was not signed: ${meaning} (${String(reason)}).`
  return new SluiceError('TRADE_FAILED', message, { details: error.details, cause: error })
}

/** Where the chain knows no symbol of a token, the error has the address in its place: the network's list has the symbol. */
function nameListedToken(error: SluiceError, listed: readonly Token[]): SluiceError {
  if (error.name !== 'INSUFFICIENT_BALANCE') return error
  const details = detailsOf(error)
  const token = listed.find(({ address }) => address === details['token'])
  if (!token) return error
  const message = error.message.replaceAll(token.address, token.symbol)
  return new SluiceError(error.name, message, { details: { ...details, token: token.symbol }, cause: error })
}

const detailsOf = ({ details }: SluiceError): Readonly<Record<string, unknown>> => (isObject(details) ? details : {})
