// What a plugin may use while it is loaded, wherever it runs: on trial in a thread, or in a host.
import type { Settings } from '../config/settings.ts'
import { budgetRemedy, PluginFault, wordsOf, type Step } from './refusal.ts'

/** Time by the clock passes on a busy machine too, so that it is a cap only. */
export interface LoadBudget {
  /** Of its thread or its process. */
  readonly processorMs: number
  /** Also for what uses no processor, such as an await that never settles. */
  readonly clockMs: number
}

export const loadBudget = ({ pluginLoadSeconds }: Pick<Settings['limits'], 'pluginLoadSeconds'>): LoadBudget => ({
  processorMs: pluginLoadSeconds * 1000,
  clockMs: 60_000,
})

const lookMs = 100

/** Calls back once the processor time of the budget is used, counted from now. @returns what ends that */
export function onProcessorTimeUsed({ processorMs }: LoadBudget, usedMs: () => number, used: () => void): () => void {
  const before = usedMs()
  const look = setInterval(() => {
    if (usedMs() - before < processorMs) return
    clearInterval(look)
    used()
  }, lookMs)
  return () => clearInterval(look)
}

export const tooMuchProcessorTime = (step: Step, { processorMs }: LoadBudget, words = wordsOf(step)): PluginFault =>
  new PluginFault(
    step,
    `${words.what} was not done after ${processorMs / 1000} s of processor time: an endless loop`,
    words.remedy + budgetRemedy,
    true,
  )

/** @param why what follows the seconds */
export const tooLong = (step: Step, { clockMs }: LoadBudget, why: string, words = wordsOf(step)): PluginFault =>
  new PluginFault(step, `${words.what} was not done after ${clockMs / 1000} s${why}`, words.remedy, true)
