import { createInterface } from 'node:readline'
import { sqlLeases } from '../../../core/transactions/leases.ts'
import { openStore } from '../../../core/store/open-store.ts'
import { silent } from '../site.ts'

// Holds a lane until it is killed, and says every few milliseconds what it believes. A line on its input makes it use the lane.
const [url = '', lane = '', serverId = ''] = process.argv.slice(2)
const store = await openStore({ dataDir: '', url, serverName: serverId, log: silent })
const leases = sqlLeases({ store, serverId, serverName: serverId, log: silent })
const use = () =>
  leases
    .use(lane, AbortSignal.timeout(10_000), async ({ fencingToken: fence }) => console.log(`used ${fence}`))
    .catch(() => console.log('used none'))

await use()
setInterval(() => {
  // What it answers to a question from before it was stopped, it may say after that.
  console.log('asked')
  console.log(`held ${leases.held(lane)?.fencingToken ?? 'none'}`)
}, 10)
createInterface(process.stdin).on('line', () => void use())
