import { accountMethods } from './accounts.ts'
import { chainMethods } from './chain.ts'
import type { Methods } from './method.ts'
import { sendingMethods } from './sending.ts'
import { signatureMethods } from './signatures.ts'
import { simulationMethods } from './simulation.ts'

export const methods: Methods = { ...chainMethods, ...accountMethods, ...signatureMethods, ...sendingMethods, ...simulationMethods }
