import { chainTrouble } from './chain-trouble.ts'
import { clocks } from './clocks.ts'
import { cluster } from './cluster.ts'
import { everything } from './everything.ts'
import { fullDisk } from './full-disk.ts'
import { hyperliquid } from './hyperliquid.ts'
import { keys } from './keys.ts'
import { kills } from './kills.ts'
import { eachNodeFault } from './node-faults.ts'
import { longJournal } from './long-journal.ts'
import { orders } from './orders.ts'
import { rounds } from './rounds.ts'
import { solana } from './solana.ts'
import { stoppedSigner } from './stopped-signer.ts'
import { stranger } from './stranger.ts'
import type { Scenario } from './scenario.ts'

export const scenarios: readonly Scenario[] = [
  kills,
  stoppedSigner,
  fullDisk,
  longJournal,
  ...eachNodeFault,
  chainTrouble,
  stranger,
  rounds,
  cluster,
  clocks,
  keys,
  orders,
  hyperliquid,
  everything,
  solana,
]
