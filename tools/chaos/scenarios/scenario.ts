import { randomBytes } from 'node:crypto'
import { expect } from 'chai'
import type { Violation } from '../checker/known.ts'
import type { History } from '../history.ts'
import { randomOf, type Random } from '../random.ts'
import type { JudgedStage, Stage } from '../stage.ts'

/** Everything that a run showed. */
export interface Report {
  scenario: string
  figures: Record<string, unknown>
  violations: readonly Violation[]
  /** How many starts took longer than a server may take to be ready again. */
  slowStarts: number
  /** Of servers that ended though nobody asked them to, or did not when they were. */
  lastWords: readonly string[]
  history: History
}

/** Runs work on a stage, lets the faults end, judges, and takes the stage down in any case. */
type Judge = (stage: JudgedStage, work: () => Promise<Record<string, unknown>>) => Promise<Report>

export interface Scenario<S extends object = object> {
  name: string
  /** What `npm test` runs. */
  small: S
  /** What `npm run test:chaos` runs. */
  full: S
  run(size: S, random: Random, judge: Judge): Promise<Report>
}

const readyWithinMs = 5_000
const tellEveryMs = 10_000

/**
 * Runs one scenario by its seed.
 * @param tell told now and then how far it is
 */
export async function play<S extends object>(
  scenario: Scenario<S>,
  size: S,
  seed: string,
  tell: (line: string) => void = () => {},
): Promise<Report> {
  const random = randomOf(`${seed}/${scenario.name}`)
  return scenario.run(size, random, async (stage, work) => {
    const telling = setInterval(() => tell(progressOf(stage)), tellEveryMs)
    try {
      const figures = await work()
      const history = await stage.settle(random.fork('settle'))
      if (history.mined.length === 0) throw new Error(`No trade came through, so nothing was shown: ${show(figuresOf(stage, history))}`)
      return {
        scenario: scenario.name,
        figures: { ...figures, ...figuresOf(stage, history) },
        violations: await stage.judge(history),
        slowStarts: stage.readyInMs.filter((ms) => ms > readyWithinMs).length,
        lastWords: stage.lastWords,
        history,
      }
    } finally {
      clearInterval(telling)
      await stage.stop()
    }
  })
}

function progressOf({ recorder, servers, readyInMs, unresolved, proxy }: Stage): string {
  const { requests, calls, clock } = recorder
  const running = servers.filter((each) => each && !each.hasEnded()).length
  return `${Math.round(clock() / 1000)} s: ${requests.length} requests, ${calls.length} calls, ${unresolved.length} left for later, ${proxy.sent.length} sendings, ${running} of ${servers.length} servers run, ${readyInMs.length} were started`
}

function figuresOf({ readyInMs, proxy }: Stage, { requests, calls, mined, journal, settled }: History): Record<string, unknown> {
  return {
    requests: countsOf(requests.map(({ op }) => op)),
    calls: calls.length,
    answers: countsOf(calls.map(({ outcome }) => (outcome.is === 'lost' ? 'lost' : (outcome.name ?? String(outcome.status))))),
    mined: mined.length,
    journaled: countsOf(journal.map(({ kind, state }) => `${kind} ${state}`)),
    'with raised fees': journal.filter(({ attempts }) => attempts.length > 1).length,
    'node requests with a fault': proxy.faults,
    'ready in ms': { most: Math.max(...readyInMs), median: readyInMs.toSorted((a, b) => a - b)[Math.floor(readyInMs.length / 2)] },
    'blocks to settle': `${settled.blocks} of ${settled.allowed}`,
  }
}

export function countsOf(names: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1
  return counts
}

/** Plays the small part of a scenario, with a new seed unless CHAOS_SEED says which; the seed is in what a failure says. */
export async function expectNoViolations<S extends object>(scenario: Scenario<S>): Promise<Report> {
  const seed = process.env['CHAOS_SEED'] ?? randomBytes(4).toString('hex')
  const report = await play(scenario, scenario.small, seed).catch((error: unknown) => {
    throw new Error(`CHAOS_SEED=${seed} repeats it.`, { cause: error })
  })
  const again = `CHAOS_SEED=${seed} repeats it. ${show(report.figures)}`
  // A hundred of one kind tell no more than the first of them.
  expect(report.violations.length, [again, ...report.violations.slice(0, 3).map(told)].join('\n')).to.equal(0)
  expect(report.lastWords, again).to.deep.equal([])
  return report
}

const told = ({ invariant, what, evidence }: Violation) => `${invariant} ${what}: ${show(evidence)}`

/** Evidence as one line of text. */
export function show(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) => (typeof each === 'bigint' ? each.toString() : each)).slice(0, 6000)
}
