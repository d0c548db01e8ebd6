// What the plan of a plugin that is not built in commits its wallet to: what leaves and what comes by its simulation at the node. The plugin's words, such as
// a pool's address or what an order gets, count where they are worse for the wallet, and never where they are better.
import type { SimulatedOutcome, StepOutcome } from '../contracts/index.ts'
import { divideRaw } from '../base/decimal.ts'
import { SluiceError } from '../base/errors.ts'
import type { Commitment } from '../transactions/budgets.ts'
import type { SubmitRequest } from '../transactions/submit-request.ts'
import type { ConnectorContext } from './context.ts'
import { allowedImpact, heldAgainstMarket } from './market-check.ts'
import { takenBy } from './outcome.ts'

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
  const takesBy = (step: StepOutcome) => Object.keys(givenBy(step, context.network.tokens, true)).length > 0
  const takes = reduces === true && (outcome.sent === undefined || (outcome.steps ?? [outcome]).some(takesBy))
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
  const { perpetual } = commitment
  const parts = partsOf(outcome, { commitment, reduces }, context).filter(({ gives }) => Object.keys(gives).length > 0)
  if (parts.length === 0) return { gives: {}, market: { lossMicros: 0n, prices: {} }, ...(perpetual && { perpetual }) }
  return { ...together(parts.map((each) => heldAgainstMarket(each, context))), ...(perpetual && { perpetual }) }
}

/**
 * What each step gives and gets. They are transactions of their own: what one brings makes up for nothing that another takes. What the signed bytes permit beyond
 * the simulation, or promise less, is of each step in proportion.
 */
function partsOf(outcome: Outcome, { commitment, reduces }: Pick<PlannedRequest, 'commitment' | 'reduces'>, context: ConnectorContext) {
  const steps = outcome.steps ?? [outcome]
  const words = reduces ? {} : commitment.gives
  const taken = steps.map((step) => givenBy(step, context.network.tokens, reduces))
  const came = steps.map((step) => gotBy(step, commitment.gets, context))
  const [takenRaw, cameRaw] = [sumOf(taken), sumOf(came)]
  const given = Object.entries({ ...takenRaw, ...words }).map(
    ([token, raw]) => [token, raw > (takenRaw[token] ?? 0n) ? raw : (takenRaw[token] ?? 0n)] as const,
  )
  const got = Object.entries(cameRaw).map(([token, raw]) => {
    const promisedRaw = commitment.gets?.[token]
    return [token, promisedRaw !== undefined && promisedRaw < raw ? promisedRaw : raw] as const
  })
  return steps.map((_, index) => ({
    gives: amountsOf(given, (token, raw) => {
      const all = takenRaw[token] ?? 0n
      // By its simulation nothing of it leaves, and the signed bytes permit it.
      if (all === 0n) return index === 0 ? raw : 0n
      return divideRaw(raw * (taken[index]?.[token] ?? 0n), all, 'up')
    }),
    gets: amountsOf(got, (token, raw) => divideRaw(raw * (came[index]?.[token] ?? 0n), cameRaw[token] ?? 1n, 'down')),
  }))
}

const amountsOf = (all: readonly (readonly [token: string, raw: bigint])[], part: (token: string, raw: bigint) => bigint): Amounts =>
  Object.fromEntries(all.map(([token, raw]) => [token, part(token, raw)] as const).filter(([, raw]) => raw > 0n))

function sumOf(all: readonly Amounts[]): Record<string, bigint> {
  const sum: Record<string, bigint> = {}
  for (const each of all) for (const [token, raw] of Object.entries(each)) sum[token] = (sum[token] ?? 0n) + raw
  return sum
}

/** Of all steps that give something. What one of them gains is not taken off what another loses. */
function together(all: readonly Commitment[]): Commitment {
  const [first] = all
  if (!first || all.length === 1) return first ?? { gives: {} }
  const markets = all.flatMap(({ market }) => market ?? [])
  return {
    ...first,
    gives: sumOf(all.map(({ gives }) => gives)),
    gets: sumOf(all.map(({ gets = {} }) => gets)),
    ...(markets.length === all.length && {
      market: {
        lossMicros: markets.reduce((sum, { lossMicros }) => sum + lossMicros, 0n),
        prices: Object.fromEntries(markets.flatMap(({ prices }) => Object.entries(prices))),
        medianPrices: Object.fromEntries(markets.flatMap(({ medianPrices = {} }) => Object.entries(medianPrices))),
      },
    }),
  }
}

/** What leaves, or moves out whatever comes back. Shares that a removal gives back have no market: what comes for them is the wallet's own. */
const givenBy = (step: StepOutcome, tokens: ConnectorContext['network']['tokens'], reduces = false): Amounts =>
  Object.fromEntries([...takenBy(step)].filter(([token]) => !reduces || tokens.listedAt(token) !== undefined))

/** What comes of the tokens that the signed bytes promise; without such words of all that something values: shares, positions, what an exchange keeps for the wallet count for nothing. */
function gotBy({ gains }: StepOutcome, words: Amounts | undefined, { network, services }: ConnectorContext): Amounts {
  const came = [...gains].filter(([, raw]) => raw > 0n)
  if (words) return Object.fromEntries(came.filter(([token]) => Object.hasOwn(words, token)))
  const values = services.market.valuesNow(
    network,
    came.map(([token]) => token),
    'lowX',
  )
  return Object.fromEntries(came.filter(([token]) => token in values))
}
