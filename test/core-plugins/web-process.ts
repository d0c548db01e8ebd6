// A process like the server's, for tests: loads a plugin that asks the web, and prints its log. What it was allowed comes as JSON.
import path from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { createHosts } from '../../core/plugins/isolate/hosts.ts'
import type { AllowedHosts } from '../../core/plugins/isolate/web.ts'
import { builtInPlugins } from '../../core/base/layout.ts'
import { keptLog, load } from './fixtures.ts'

const [folder = '', allowed = ''] = process.argv.slice(2)
const { log, lines } = keptLog()
const budget = { processorMs: 60_000, clockMs: 60_000 }
const hosts = createHosts({
  budget,
  market: { staleBlocks: 2, staleBlockSeconds: 60, staleSeconds: 30, checkSeconds: 10, cachedQuotes: 100 },
  stallSeconds: 60,
  containment: { plugins: { weakContainment: false }, data: { dir: path.join(folder, '..', 'data') } },
  logOf: () => log,
  webOf: () => JSON.parse(allowed) as AllowedHosts,
  onFault: () => {},
  onDeath: () => {},
})
const { refused } = await load([path.join(builtInPlugins, 'ethereum'), folder], { hosts, budget })
while (refused.length === 0 && !lines.some(({ message }) => message === 'asked')) await setTimeout(50)
await hosts.stop()
process.stdout.write(JSON.stringify({ refused, said: lines.flatMap(({ fields, message }) => ('said' in fields ? [message] : [])) }))
process.exit(0)
