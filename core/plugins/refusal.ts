import type { NetworkNames } from '../contracts/index.ts'
import type { PluginKind } from '../contracts/plugin.ts'
import { command } from '../base/layout.ts'
import { printable, saidBy } from '../base/printable.ts'
import { messageOf } from './code/thrown.ts'

export const steps = ['find', 'consent', 'import', 'manifest', 'configuration', 'networks', 'create'] as const
/** Why a step was not done that used next to no processor time: its event loop is free. */
export const pendingAwait = 'an await that never settles'
/** The same where it is not. */
export const stoodStill = 'it stood still and used no processor: it waits for something that blocks, or the machine has no processor for it'

/** The step of loading at which a plugin was refused. */
export type Step = (typeof steps)[number]

/** A plugin that was not loaded. The later the step, the more is known of it. */
export interface Refusal {
  readonly name: string
  readonly folder: string
  readonly kind?: PluginKind
  readonly version?: string
  readonly trading_type?: readonly string[]
  readonly available_networks?: readonly NetworkNames[]
  readonly step: Step
  readonly reason: string
  readonly remedy: string
  /** For lack of time: it is tried again. */
  readonly temporary?: true
}

/** What helps against faults that may be found in a process of the plugin, too. */
export const remedies = {
  correct: 'Correct the plugin.',
  correctOrRemove: 'Correct the plugin, or take its folder away.',
  install: "Install the package with npm in the plugin's folder.",
  export: 'Export the result of defineConnector, defineChain or defineInterface: export default defineConnector({ … }).',
  plainManifest: 'Use plain data in the manifest: no functions, no bigint, no cycles.',
  short: 'Make the manifest shorter and flatter: its schema has the settings of one plugin, and its lists have what there is.',
  schema: 'Correct the schema of its manifest.',
  keys: "Use the family's kit, or give the family keys: 'secp256k1' or 'ed25519'.",
  noPromise: 'Wire parts together in create() without awaiting, and do I/O in start().',
  events: 'Correct the signatures in events, which explain its logs.',
  simplerSchema: 'Simplify the schema of its manifest: a pattern that backtracks, or parts that refer to each other, may take for ever.',
  wireOnly: 'Only wire parts together there, and do I/O in start().',
  throwInstead: 'Throw an error instead: a plugin must not end the process.',
  useLess: 'Use less memory, fewer threads and fewer processes: a plugin computes, and its server does the rest.',
  askLess: 'Write less to venue.log, ask for less at once, and leave JSON, Promise and the prototypes of all objects as they are.',
  background: 'Correct the plugin: handle the errors of its background work.',
  methods: 'Implement it as the types of sluice/plugin require; the TypeScript compiler shows what is missing.',
} as const

export const createRemedy = (chain: string, network: string): string =>
  `Correct what create() does for ${chain} ${network}, or its configuration.`

export const budgetRemedy = ' The budget is limits.pluginLoadSeconds in conf/server.yml.'

const knownRemedies: ReadonlySet<string> = new Set(Object.values(remedies).flatMap((each) => [each, each + budgetRemedy]))
const isKnownRemedy = (text: string): boolean =>
  knownRemedies.has(text) ||
  text === createRemedy(...((/ does for ([\w-]+) ([\w-]+),/.exec(text)?.slice(1) ?? ['', '']) as [string, string]))

/**
 * Why a process that holds a plugin refused it. The plugin may have written that itself: it is shown as its word, and so is what helps, unless
 * this release says the same.
 */
export function toldFault(plugin: string, told: { readonly step: Step; readonly reason: unknown; readonly remedy: unknown }): PluginFault {
  const { step, reason, remedy } = told
  const text = (value: unknown, otherwise: string) => (typeof value === 'string' && value.trim() !== '' ? value : otherwise)
  const what = text(remedy, remedies.correct)
  return new PluginFault(step, saidBy(plugin, text(reason, 'It was refused')), isKnownRemedy(what) ? what : saidBy(plugin, what))
}

/** How a step with a budget is called when that is over, or when the step ends badly. */
export function wordsOf(step: Step): { readonly what: string; readonly when: string; readonly remedy: string } {
  if (step === 'manifest')
    return {
      what: 'Checking its configuration by its schema',
      when: 'while its schema was used',
      remedy: remedies.simplerSchema,
    }
  const remedy = remedies.wireOnly
  return step === 'create' ? { what: 'create()', when: 'in create()', remedy } : { what: 'Loading', when: 'while it was loaded', remedy }
}

/** What is wrong may be long lists of a plugin's own. */
const maxFaultText = 1_200
const shortened = (text: string): string => (text.length > maxFaultText ? `${text.slice(0, maxFaultText)} …` : text)

/** Why a plugin is refused. For the operator, never for a caller. */
export class PluginFault extends Error {
  override readonly name = 'PluginFault'
  readonly step: Step
  readonly remedy: string
  readonly isTemporary: boolean

  /** @param isTemporary for lack of time, which a busy machine causes too */
  constructor(step: Step, reason: string, remedy: string, isTemporary = false) {
    super(shortened(printable(reason)))
    this.step = step
    this.remedy = shortened(printable(remedy))
    this.isTemporary = isTemporary
  }
}

/** Returns a PluginFault as it is, and anything else that was thrown as a fault of this step. */
export function faultOf(thrown: unknown, step: Step, remedy: string): PluginFault {
  if (thrown instanceof PluginFault) return thrown
  return new PluginFault(step, messageOf(thrown), remedy)
}

/** For sentences. */
export const withArticle = (kind: PluginKind): string => `${kind === 'interface' ? 'an' : 'a'} ${kind}`

// Why a plugin can run in the server only.
export const chainDecides = 'a chain decides when a transaction is dead, and so whether a second one is signed'
/** The signer cannot read what such an action does either. */
export const signedActions = 'an exchange of signed actions decides when one is dead, and so whether a second one is signed'

export const notRemote = (family: string): string =>
  `connectors of the family ${family} are not read from another process, and no allowance bounds what is signed for one`

/** A plugin that can run in the server only, for which allowing it is not enough. */
export const trustedOnly = (name: string, why: string): PluginFault =>
  new PluginFault('consent', `It cannot be contained, so it has to be trusted: ${why}`, trustRemedy(name))

export const trustRemedy = (name: string): string => `If you trust it: ${command} plugin trust ${name}`

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
