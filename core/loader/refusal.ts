import type { NetworkNames } from '../contracts/index.ts'
import { command } from '../layout.ts'
import { printable } from '../printable.ts'
import { messageOf } from './thrown.ts'

/** The step of loading at which a plugin was refused. */
export type Step = 'find' | 'consent' | 'import' | 'manifest' | 'configuration' | 'networks' | 'create'

/** A plugin that was not loaded. The later the step, the more is known of it. */
export interface Refusal {
  readonly name: string
  readonly folder: string
  readonly kind?: 'chain' | 'connector'
  readonly version?: string
  readonly trading_type?: readonly string[]
  readonly available_networks?: readonly NetworkNames[]
  readonly step: Step
  readonly reason: string
  readonly cure: string
  /** For lack of time: it is tried again. */
  readonly temporary?: true
}

export const schemaCure = 'Correct the schema of its manifest.'

/** How a step with a budget is called when that is over, or when the step ends badly. */
export function wordsOf(step: Step): { readonly what: string; readonly when: string; readonly cure: string } {
  if (step === 'manifest')
    return {
      what: 'Checking its configuration by its schema',
      when: 'while its schema was used',
      cure: 'Simplify the schema of its manifest: a pattern that backtracks, or parts that refer to each other, may take for ever.',
    }
  const cure = 'Only wire parts together there, and do I/O in start().'
  return step === 'create' ? { what: 'create()', when: 'in create()', cure } : { what: 'Loading', when: 'while it was loaded', cure }
}

/** Why a plugin is refused. For the operator, never for a caller. */
export class PluginFault extends Error {
  override readonly name = 'PluginFault'
  readonly step: Step
  readonly cure: string
  readonly isTemporary: boolean

  /** @param isTemporary for lack of time, which a busy machine causes too */
  constructor(step: Step, reason: string, cure: string, isTemporary = false) {
    super(printable(reason))
    this.step = step
    this.cure = printable(cure)
    this.isTemporary = isTemporary
  }
}

/** Returns a PluginFault as it is, and anything else that was thrown as a fault of this step. */
export function faultOf(thrown: unknown, step: Step, cure: string): PluginFault {
  if (thrown instanceof PluginFault) return thrown
  return new PluginFault(step, messageOf(thrown), cure)
}

// Why a plugin can run in the server only.
export const chainDecides = 'a chain decides when a transaction is dead, and so whether a second one is signed'
/** The signer cannot read what such an action does either. */
export const signedActions = 'an exchange of signed actions decides when one is dead, and so whether a second one is signed'

export const notRemote = (family: string): string =>
  `connectors of the family ${family} are not read from another process, and no allowance bounds what is signed for one`

/** A plugin that can run in the server only, for which allowing it is not enough. */
export const trustedOnly = (name: string, why: string): PluginFault =>
  new PluginFault('consent', `It cannot be contained, so it has to be trusted: ${why}`, trustCure(name))

export const trustCure = (name: string): string => `If you trust it: ${command} plugin trust ${name}`

/** In words where a disk is full or closed, in the place of the error of the system. */
export function diskFault(thrown: unknown, home: string): unknown {
  const code = thrown instanceof Error && 'code' in thrown ? thrown.code : undefined
  if (code === 'ENOSPC' || code === 'EDQUOT')
    return new PluginFault('consent', `There is no room in ${home}: nothing was changed`, 'Make room, and try again.')
  if (code === 'EACCES' || code === 'EROFS' || code === 'EPERM')
    return new PluginFault(
      'consent',
      `${home} cannot be written (${code}): nothing was changed`,
      'Type this where that folder can be written.',
    )
  return thrown
}
