// A process like the server's, for tests: loads the harmful plugin, has the harm done that a line of its input names, and ends when that ends.
import path from 'node:path'
import { createInterface } from 'node:readline'
import { callPlugin } from '../../core/plugins/code/boundary.ts'
import { loadPlugins } from '../../core/plugins/load.ts'
import { blockProcessExit, handleUncaught } from '../../core/plugins/code/uncaught.ts'
import { fixtures, goodPlugins, keptLog, load } from './fixtures.ts'

const say = (line: object) => process.stdout.write(`${JSON.stringify(line)}\n`)

let plugins: Awaited<ReturnType<typeof loadPlugins>>['loaded'] = []
handleUncaught({
  plugins: () => plugins,
  onPluginFault: () => {},
  log: {
    error: (fields, message) =>
      say({ survived: message.split(' ')[1], ...('plugin' in fields && fields.plugin !== 'unknown' && { plugin: fields.plugin }) }),
    fatal: () => {},
  },
})
blockProcessExit(() => plugins)
plugins = (await load([path.join(goodPlugins, 'fixture-chain'), path.join(fixtures, 'harmful')])).loaded
async function harm(how: string): Promise<void> {
  if (how === 'own-defect')
    setImmediate(() => {
      throw new Error('a defect of the server')
    })
  const token = { symbol: how, address: '0x0a', decimals: 1 }
  for (const plugin of plugins) {
    if (plugin.kind !== 'connector') continue
    const { signal } = new AbortController()
    const quote = async () =>
      plugin.venues[0]?.implementation.AMM?.quote({ tokenIn: token, tokenOut: token, exact: 'in', amountRaw: 1n }, {}, { signal })
    await callPlugin({ plugin: plugin.name, log: keptLog().log }, 'AMM.quote', quote, signal).catch((error: Error) =>
      say({ answer: error.name }),
    )
  }
}

createInterface(process.stdin)
  .on('line', (line) => void (line === 'alive?' ? say({ alive: true }) : harm(line)))
  .on('close', () => process.exit(0))
