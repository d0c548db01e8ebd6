import { SluiceError } from '../../contracts/index.ts'
import type { PlacedOrder } from '../submit-request.ts'

/**
 * Whether a plan does no more than its request says: plugins make plans, and who makes them does not judge them. What
 * could be signed otherwise is any contract of any connector, with any value.
 * @throws SluiceError UNKNOWN_ERROR, since only a defect of the plugin brings it about
 */
export function checkPlan({ plan, scope, network: { impl }, venue }: Pick<PlacedOrder, 'plan' | 'scope' | 'network' | 'venue'>): void {
  const who = venue ? `The connector ${venue.connector}` : 'The plan'
  if (plan.steps.length === 0) throw defect(who, 'has no step')
  let valueRaw = 0n
  for (const step of plan.steps) {
    const outline = impl.rail.outline(step)
    const foreign = outline.contracts.find((contract) => !isWithin(contract, scope.contracts, impl))
    if (foreign !== undefined) throw defect(who, `calls ${foreign}, which is none of the contracts that it may call for this request`)
    if (outline.valueRaw < 0n) throw defect(who, 'sends a negative value')
    valueRaw += outline.valueRaw
  }
  if (valueRaw > scope.valueRaw)
    throw defect(who, `sends ${valueRaw} of the native coin's smallest units, and the request is for ${scope.valueRaw} at most`)
}

/** By the chain's own spelling; what is no address is nothing that may be called. */
function isWithin(contract: string, allowed: readonly string[], impl: Pick<PlacedOrder['network']['impl'], 'address'>): boolean {
  const target = impl.address(contract)
  return target !== undefined && allowed.some((each) => impl.address(each) === target)
}

const defect = (who: string, what: string) =>
  new SluiceError('UNKNOWN_ERROR', `${who} ${what}: nothing was signed. This is a defect of the plugin.`)
