import { sharesConnector } from 'sluice/pools'
import { weighted, weightedEvents } from 'sluice/weighted'
import { pools } from './pools.ts'

export default sharesConnector({ name: 'balancer', apiVersion: '1.0', deployments: pools, events: weightedEvents }, (venue) =>
  weighted(venue, { pools }),
)
