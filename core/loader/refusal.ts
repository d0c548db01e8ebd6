import { SluiceError, type NetworkNames } from '../contracts/index.ts'

/** Where on its way a plugin was stopped. */
export type Step = 'find' | 'import' | 'manifest' | 'configuration' | 'networks' | 'create'

/** A plugin that the server runs without. What is known of it depends on how far it came. */
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
}

/** What stops a plugin: said to the operator, never to a caller. */
export class PluginFault extends Error {
  override readonly name = 'PluginFault'
  readonly step: Step
  readonly cure: string

  constructor(step: Step, reason: string, cure: string) {
    super(reason)
    this.step = step
    this.cure = cure
  }
}

/** The fault as it is, or anything else that was thrown as a fault of this step. */
export function faultOf(thrown: unknown, step: Step, cure: string): PluginFault {
  if (thrown instanceof PluginFault) return thrown
  return new PluginFault(step, messageOf(thrown), cure)
}

/** What was thrown, in one line. Plugins throw anything. */
export function messageOf(thrown: unknown): string {
  try {
    // Messages of our own are whole sentences; of other errors the name can be the better half.
    if (thrown instanceof SluiceError) return oneLine(thrown.message)
    if (thrown instanceof Error) return oneLine(thrown.name === 'Error' ? thrown.message : `${thrown.name}: ${thrown.message}`)
    return oneLine(`threw ${typeof thrown === 'string' ? `'${thrown}'` : String(thrown)}`)
  } catch {
    return 'threw something that cannot be read'
  }
}

const longestReason = 600

function oneLine(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim()
  return line.length > longestReason ? `${line.slice(0, longestReason)} …` : line
}
