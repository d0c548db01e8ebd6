// What the plan of a plugin that is not built in commits its wallet to: what leaves and what comes by its simulation at the node. The plugin's words, such as
// a pool's address or what an order gets, count where they are worse for the wallet, and never where they are better.
import type { SimulatedOutcome } from '../contracts/index.ts'
import { SluiceError } from '../base/errors.ts'
import type { Commitment } from '../transactions/budgets.ts'
import type { SubmitRequest } from '../transactions/submit-request.ts'
import type { ConnectorContext } from './context.ts'
import { allowedImpact, heldAgainstMarket } from './market-check.ts'

type Outcome = SimulatedOutcome & { is: 'done' }
type Amounts = Readonly<Record<string, bigint>>
type PlannedRequest = Pick<SubmitRequest, 'plan' | 'commitment' | 'reduces'>

/** Whether what a plan does is held against something: a market, or limits of the client. */
const isHeld = (context: ConnectorContext): boolean => {
  const { network, services, caller } = context
  if (services.limitsOf(caller.id) !== undefined) return true
  return services.market.isChecked(network) && allowedImpact(context) !== undefined
}

/** @throws SluiceError UNSUPPORTED where no simulation tells what such a plan does */
export function requireSimulated({ plan }: Pick<PlannedRequest, 'plan'>, context: ConnectorContext): void {
  const { network, venue, caller } = context
  if (venue.builtIn || !isHeld(context)) return
  const isOnRail = 'via' in plan
  if (!isOnRail && (network.impl.evm ?? network.impl.altchain)?.simulate) return
  const what = isOnRail ? 'its signed actions cannot be simulated' : `nothing simulates transactions of ${network.chain}/${network.network}`
  throw new SluiceError(
    'UNSUPPORTED',
    `The connector ${venue.connector} is not built in, and ${what}, so nobody knows what this would take from the wallet: nothing was signed. Only a client certificate with the permission thin and without limits may do this, and "${caller.id}" is none.`,
    { details: { reason: 'not simulated' } },
  )
}

/**
 * @param outcome by the simulation
 * @throws SluiceError as the market check, LIMIT_EXCEEDED or FORBIDDEN; UNSUPPORTED where the node shows no events
 */
export function simulatedCommitment(outcome: Outcome, planned: PlannedRequest, context: ConnectorContext): Commitment {
  const { commitment, reduces } = planned
  const found = isHeld(context) ? heldCommitment(outcome, planned, context) : commitment
  // Stops hold also those that nothing bounds. Without events tokens that the plan does not name may have left.
  const takes =
    reduces === true && (outcome.sent === undefined || Object.keys(givenBy(outcome, {}, context.network.tokens, true)).length > 0)
  return takes ? { ...found, takes } : found
}

/** Of a plan of a connector that is not built in, on a rail of its own: nobody knows what it takes, whatever the connector calls it. */
export const unsimulatedCommitment = ({ commitment, reduces }: Pick<PlannedRequest, 'commitment' | 'reduces'>): Commitment =>
  reduces === true ? { ...commitment, takes: true } : commitment

function heldCommitment(outcome: Outcome, { commitment, reduces }: PlannedRequest, context: ConnectorContext): Commitment {
  const { network, venue } = context
  if (outcome.sent === undefined)
    throw new SluiceError(
      'UNSUPPORTED',
      `The nodes of ${network.chain}/${network.network} do not show the events of a simulation (eth_simulateV1), and what the plans of ${venue.connector}, which is not built in, take is told by them: nothing was signed. Name a node in rpcUrls that does.`,
      { details: { reason: 'not simulated' } },
    )
  const gives = givenBy(outcome, commitment.gives, network.tokens, reduces)
  const { perpetual } = commitment
  if (Object.keys(gives).length === 0) return { gives, market: { lossMicros: 0n, prices: {} }, ...(perpetual && { perpetual }) }
  return { ...heldAgainstMarket({ gives, gets: gotBy(outcome, commitment.gets, context) }, context), ...(perpetual && { perpetual }) }
}

/**
 * The largest of what leaves, what moves out whatever comes back, and what the signed bytes permit. Shares that a removal gives back have no market: what
 * comes for them is the wallet's own.
 */
function givenBy({ gains, sent }: Outcome, words: Amounts, tokens: ConnectorContext['network']['tokens'], reduces = false): Amounts {
  const given: Record<string, bigint> = reduces ? {} : { ...words }
  const left = [...gains].map(([token, gainRaw]) => [token, -gainRaw] as const)
  for (const [token, raw] of [...left, ...(sent ?? [])]) {
    if (reduces && tokens.listedAt(token) === undefined) continue
    if (raw > (given[token] ?? 0n)) given[token] = raw
  }
  return Object.fromEntries(Object.entries(given).filter(([, raw]) => raw > 0n))
}

/** The smaller of what comes and what the signed bytes promise. What nothing values counts for nothing: shares, positions, what an exchange keeps for the wallet. */
function gotBy({ gains }: Outcome, words: Amounts | undefined, { network, services }: ConnectorContext): Amounts {
  const came = [...gains].filter(([, raw]) => raw > 0n)
  if (words)
    return Object.fromEntries(
      Object.entries(words).flatMap(([token, raw]) => {
        const gainRaw = gains.get(token) ?? 0n
        return gainRaw > 0n ? [[token, gainRaw < raw ? gainRaw : raw] as const] : []
      }),
    )
  const values = services.market.valuesNow(
    network,
    came.map(([token]) => token),
    'lowX',
  )
  return Object.fromEntries(came.filter(([token]) => token in values))
}
