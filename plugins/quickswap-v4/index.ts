import { algebra, algebraEvents } from 'sluice/algebra'
import { poolConnector } from 'sluice/pools'
import { deployments } from './deployments.ts'

export default poolConnector({ name: 'quickswap-v4', apiVersion: '1.0', deployments, events: algebraEvents }, (venue) =>
  algebra(venue, { deployments }),
)
