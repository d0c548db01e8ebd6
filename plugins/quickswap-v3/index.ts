import { algebra, algebraEvents } from 'sluice/algebra'
import { poolConnector } from 'sluice/pools'
import { deployments } from './deployments.ts'

export default poolConnector({ name: 'quickswap-v3', apiVersion: '1.0', deployments, events: algebraEvents }, (venue) =>
  algebra(venue, { kind: '1.0', deployments }),
)
