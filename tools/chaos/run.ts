// npm run test:chaos -- [--seed <text>] [--only <scenario>] [--small]
import { randomBytes } from 'node:crypto'
import { parseArgs } from 'node:util'
import { show, play, type Scenario } from './scenarios/scenario.ts'
import { scenarios } from './scenarios/index.ts'

const { values } = parseArgs({
  options: { seed: { type: 'string' }, only: { type: 'string', multiple: true }, small: { type: 'boolean' }, help: { type: 'boolean' } },
})
if (values.help) {
  console.log(`Trades while everything fails, and counts what must not be.

  --seed <text>      repeats the decisions of bots and faults of another run (how the machine interleaves them is not repeatable)
  --only <scenario>  one of: ${scenarios.map(({ name }) => name).join(', ')}; can be given several times
  --small            the sizes that npm test runs`)
  process.exit(0)
}
const seed = values.seed ?? randomBytes(4).toString('hex')
const chosen = scenarios.filter(({ name }) => values.only === undefined || values.only.includes(name))
if (chosen.length === 0) {
  console.error(`No such scenario. There are: ${scenarios.map(({ name }) => name).join(', ')}.`)
  process.exit(2)
}
console.log(`seed ${seed}; ${chosen.map(({ name }) => name).join(', ')}`)

let violations = 0
let slow = 0
for (const scenario of chosen) violations += await runOne(scenario)
console.log(`\nseed ${seed}, slow starts: ${slow}, violations: ${violations}`)
// The small sizes run beside other tests, where a machine's time says little.
process.exit(violations === 0 && (slow === 0 || values.small) ? 0 : 1)

async function runOne(scenario: Scenario): Promise<number> {
  const size = values.small ? scenario.small : scenario.full
  const begun = performance.now()
  console.log(`\n=== ${scenario.name} ${JSON.stringify(size)}`)
  const { figures, violations, slowStarts, lastWords } = await play(scenario, size, seed, (line) => console.log(`  ${line}`))
  for (const [name, figure] of Object.entries(figures)) console.log(`${name}: ${show(figure)}`)
  for (const { invariant, what, evidence } of violations.slice(0, 20)) console.log(`${invariant} ${what}\n  ${show(evidence)}`)
  if (slowStarts > 0) console.log(`starts that took more than 5 s: ${slowStarts}`)
  for (const words of lastWords) console.log(`a server ended though nobody had asked it to, or did not when it was:\n${words}`)
  console.log(`violations: ${violations.length + lastWords.length} (${Math.round((performance.now() - begun) / 1000)} s)`)
  slow += slowStarts
  return violations.length + lastWords.length
}
