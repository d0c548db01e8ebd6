import { accountMethods } from './accounts.ts'
import { blockMethods } from './blocks.ts'
import { chainMethods } from './chain.ts'
import { feeMethods } from './fees.ts'
import { historyMethods } from './history.ts'
import type { Methods } from './method.ts'
import { sendingMethods } from './sending.ts'
import { signatureMethods } from './signatures.ts'
import { simulationMethods } from './simulation.ts'
import { tokenMethods } from './tokens.ts'

/** What a node is asked for, by name. */
export const methods: Methods = {
  ...chainMethods,
  ...blockMethods,
  ...accountMethods,
  ...tokenMethods,
  ...feeMethods,
  ...simulationMethods,
  ...sendingMethods,
  ...signatureMethods,
  ...historyMethods,
}
