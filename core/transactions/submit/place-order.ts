import { SluiceError } from '../../contracts/index.ts'
import type { Order, PlacedOrder } from '../submit-request.ts'

/**
 * Where a plan is carried out, and who signs it: on the chain the wallet itself, on an exchange's own rail whoever the plan names.
 * @throws SluiceError UNKNOWN_ERROR, since only a defect of the plugin brings it about
 */
export function placeOrder({ plan, ...order }: Order): PlacedOrder {
  if (!('via' in plan)) return { ...order, plan, signer: order.address }
  const { venue, address } = order
  const who = `The connector ${venue?.connector ?? ''}`
  if (!venue?.actions) throw defect(who, 'has a plan for its own rail, and no such rail')
  const signer = venue.actions.impl.address(plan.signer ?? address)
  if (signer === undefined) throw defect(who, `would have ${plan.signer} sign, which is no address`)
  return { ...order, network: venue.actions, plan: { ...plan, needs: [] }, signer }
}

const defect = (who: string, what: string) =>
  new SluiceError('UNKNOWN_ERROR', `${who} ${what}: nothing was signed. This is a defect of the plugin.`)
