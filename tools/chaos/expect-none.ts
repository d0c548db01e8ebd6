import { randomBytes } from 'node:crypto'
import { expect } from 'chai'
import type { Violation } from './checker/violation.ts'
import { play, type Report, type Scenario } from './scenarios/scenario.ts'
import { show } from './show.ts'

/** Plays the small part of a scenario, with a new seed unless CHAOS_SEED says which; the seed is in what a failure says. */
export async function expectNoViolations<S extends object>(scenario: Scenario<S>): Promise<Report> {
  const seed = process.env['CHAOS_SEED'] ?? randomBytes(4).toString('hex')
  const report = await play(scenario, scenario.small, seed)
  const again = `CHAOS_SEED=${seed} repeats it. ${show(report.figures)}`
  // A hundred of one kind tell no more than the first of them.
  expect(report.violations.length, [again, ...report.violations.slice(0, 3).map(told)].join('\n')).to.equal(0)
  expect(report.lastWords, again).to.deep.equal([])
  return report
}

const told = ({ invariant, what, evidence }: Violation) => `${invariant} ${what}: ${show(evidence)}`
