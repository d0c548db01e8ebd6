// What gas the plans of plugins that are not built in may use. A simulation bounds what a plan takes from the wallet, and gas is what it leaves
// out: the wallet pays for it whatever the plan does.
import type { Json, Plan } from '../contracts/index.ts'
import { isObject } from '../base/json.ts'
import { pluginDefect, type Scope } from '../transactions/submit-request.ts'
import type { NetworkEntry, VenueEntry } from '../plugins/index.ts'

/** The plans of this release have one. */
const mostSteps = 4

/**
 * Gas limits of all steps together. Swaps and orders use some hundred thousand. It includes what pays for layer 1 where the gas limit does, as
 * on Arbitrum.
 */
const maxGas = 5_000_000n

/** Gas that a step may ask for beyond its estimate. */
const mostSpareGas = 500_000n

/** @returns what is limited, for the scope of its request */
export const mostOf = ({ impl }: NetworkEntry): NonNullable<Scope['most']> => ({ steps: mostSteps, ...(impl.evm && { gas: maxGas }) })

/**
 * The plan without what would tell the gas of other plans: how its steps compare with others (`alike`) is a plugin's word, and limits that are
 * kept by it would be those of every plugin's calls of that contract.
 * @throws SluiceError UNKNOWN_ERROR: a defect of the plugin
 */
export function limitPlan<P extends Pick<Plan, 'steps'>>(plan: P, { impl }: NetworkEntry, { connector }: VenueEntry): P {
  if (!impl.evm) return plan
  return { ...plan, steps: plan.steps.map((step) => limitStep(step, connector)) }
}

function limitStep(step: Json, connector: string): Json {
  // The network's rail refuses what is no call.
  if (!isObject(step)) return step
  const { alike: _, ...limited } = step
  if (!('spareGas' in limited)) return limited
  const { spareGas } = limited
  if (typeof spareGas === 'string' && /^\d{1,9}$/.test(spareGas) && BigInt(spareGas) <= mostSpareGas) return limited
  throw pluginDefect(
    `The connector ${connector}`,
    `has a plan whose spareGas is ${JSON.stringify(spareGas)}: it has to be a text of digits, "${mostSpareGas}" at most`,
  )
}
