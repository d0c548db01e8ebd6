// What it means that the chain or the exchange refuses a transaction.
import { approvableOf, type Json, type SlippageReasons, type Token } from '../contracts/index.ts'
import { revertedSilently } from '../contracts/rail.ts'
import { SluiceError } from '../base/errors.ts'
import { isObject } from '../base/json.ts'
import type { SubmitRequest } from '../transactions/submit-request.ts'
import type { ConnectorContext } from './context.ts'
import type { NetworkEntry, VenueEntry } from '../plugins/index.ts'

type RefusingVenue = Pick<VenueEntry, 'impl'>

/** A chain may say in brackets what the exchange logged beside its code: its words differ with each refusal, and are cut where they are long. */
function readings(reason: string): readonly string[] {
  const bracket = reason.indexOf(' (')
  return bracket < 0 ? [reason] : [reason, reason.slice(0, bracket)]
}

/** The meaning of an exchange's refusal code, as its connector declares it. */
export function refusalMeaning(reason: string, { impl: { refusals = {} } }: RefusingVenue): string | undefined {
  const code = readings(reason).find((each) => Object.hasOwn(refusals, each))
  return code === undefined ? undefined : refusals[code]
}

/**
 * `slippage`: the price moved past the bound of the trade, so the same request with a new quote may succeed.
 * @param reason the chain's words
 * @param step of the family; absent for actions on the exchange's own rail, null where the journal has it no more
 */
export function causeOf(
  reason: string,
  step: Json | undefined,
  { impl }: NetworkEntry,
  { impl: connector }: VenueEntry,
): { cause?: 'slippage' } {
  const parts: readonly (SlippageReasons | undefined)[] = [connector.AMM, connector.AMM_RANGE, connector.AMM_SHARES, connector.PERP_AMM]
  const ends = parts.flatMap((part) => part?.slippageReasons ?? [])
  const coinEnds = parts.flatMap((part) => part?.coinSlippageReasons ?? [])
  const saysSlippage = (list: readonly string[]) => list.some((end) => readings(reason).some((each) => each.endsWith(end)))
  if (saysSlippage(ends)) return { cause: 'slippage' }
  const isKnown = step !== undefined && step !== null
  return isKnown && saysSlippage(coinEnds) && impl.rail.outline(step).valueRaw > 0n ? { cause: 'slippage' } : {}
}

/** The error with what its reason means, whether it is slippage, and the listed symbols of tokens. */
export function explainRefusal(
  error: SluiceError,
  { plan }: Pick<SubmitRequest, 'plan'>,
  { network, venue }: ConnectorContext,
): SluiceError {
  const { name, message } = error
  if (name === 'INSUFFICIENT_BALANCE') return nameListedToken(error, network.tokens.listed)
  if (name === 'INSUFFICIENT_ALLOWANCE') return nameApproval(error, venue, network.tokens.listed)
  const { reason, ...details } = detailsOf(error)
  if (name !== 'TRADE_FAILED' || typeof reason !== 'string') return error
  const why = causeOf(reason, 'via' in plan ? undefined : plan.steps.at(-1), network, venue)
  const meaning = refusalMeaning(reason, venue) ?? silenceMeaning(reason, plan, network, venue)
  if (meaning === undefined && why.cause === undefined) return error
  const explained = meaning === undefined ? message : `The transaction would fail, so it was not signed: ${meaning} (${reason}).`
  return new SluiceError(name, explained, { details: { reason, ...why, ...details }, cause: error })
}

/** What a revert without a reason usually is where the connector is not tried on every chain as those of the release are. */
function silenceMeaning(reason: string, { steps }: SubmitRequest['plan'], { impl }: NetworkEntry, venue: VenueEntry) {
  if (reason !== revertedSilently || venue.builtIn) return undefined
  const targets = [...new Set(steps.flatMap((step) => impl.rail.outline(step).contracts))].join(', ')
  return `${targets} refused the call that ${venue.connector} made, and gave no reason. If it is so each time, the contract has no such function: compare the ABI of the plugin's \`swap\` (name and types, in their order) and its contractAddresses with the contract`
}

/** Where the chain knows no symbol of a token, the error has the address in its place: the network's list has the symbol. */
function nameListedToken(error: SluiceError, listed: readonly Token[]): SluiceError {
  const details = detailsOf(error)
  const token = listed.find(({ address }) => address === details['token'])
  if (!token) return error
  const message = error.message.replaceAll(token.address, token.symbol)
  return new SluiceError(error.name, message, { details: { ...details, token: token.symbol }, cause: error })
}

/** As /evm/approve takes it: a connector may have several spenders, and each needs an allowance of its own; a token that is on no list has its address. */
function nameApproval(error: SluiceError, { impl, connector }: VenueEntry, listed: readonly Token[]): SluiceError {
  const details = detailsOf(error)
  const label = Object.entries(approvableOf(impl)).find(([, address]) => address === details['spender'])?.[0]
  if (label === undefined || !error.message.includes(approving)) return error
  const spenderName = `${connector}/${label}`
  const { tokenAddress } = details
  const isListed = typeof tokenAddress !== 'string' || listed.some(({ address }) => address === tokenAddress)
  const asked = `${approving}, with the spender "${spenderName}"${isListed ? '' : ` and the token ${tokenAddress}`}`
  return new SluiceError(error.name, error.message.replace(approving, asked), {
    details: { ...details, ...(!isListed && { token: tokenAddress }), spenderName },
    cause: error,
  })
}

/** As the kits say it. */
const approving = 'approve it with /evm/approve'

const detailsOf = ({ details }: SluiceError): Readonly<Record<string, unknown>> => (isObject(details) ? details : {})
