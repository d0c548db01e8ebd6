// A thread in which plugins are tried before the server imports them: whatever they do here ends with the thread.
import { readlinkSync } from 'node:fs'
import path from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { parentPort } from 'node:worker_threads'
import { judgeBySchema } from '../../config/plugin-schema.ts'
import type { Chain, ChainVenue, Log } from '../../contracts/index.ts'
import type { FoundPlugin } from '../discover/find.ts'
import { importPlugin, instantiateChain, instantiateConnector } from '../instantiate.ts'
import { PluginFault, faultOf } from '../refusal.ts'
import { builtInPlugins, inSource } from '../../base/layout.ts'
import { updateHook } from './module-hook.ts'
import type { TrialReply, TrialRequest, TrialVenue } from './trials.ts'

const silent: Log = { info: () => {}, warn: () => {} }
const chains = new Map<string, Chain>()

parentPort?.on('message', (request: TrialRequest) => void answer(request))
reply({ is: 'ready', taskId: taskIdOf() })

/** Read by the thread itself, because only it can. */
function taskIdOf(): string | undefined {
  try {
    return path.basename(readlinkSync('/proc/thread-self'))
  } catch {
    return undefined
  }
}

async function answer(request: TrialRequest): Promise<void> {
  try {
    if (request.do === 'judge') return reply({ is: 'judged', answer: judgeBySchema(request.question) })
    await updateHook(request.news)
    const { plugin, description } = await importPlugin(entryOf(request.plugin))
    for (const venue of request.do === 'create' ? request.venues : []) {
      if (plugin.kind === 'chain') instantiateChain(plugin, request.plugin.name, chainVenue(venue, venue.config))
      else if (plugin.kind === 'connector' && venue.connector !== undefined) {
        const { reader, nativeCurrency } = await chainOf(venue, venue.connector.on)
        const { chain, network, config } = venue
        const { contracts, tokens, tradingTypes } = venue.connector
        const own = { chain, network, config, contracts, tokens, reader, nativeCurrency, log: silent }
        instantiateConnector(plugin, request.plugin.name, tradingTypes, own)
      }
    }
    // Unhandled rejections end the thread before it can answer.
    await setImmediate()
    await setImmediate()
    reply({ is: 'passed', description })
  } catch (thrown) {
    const { step, message, remedy } = faultOf(thrown, 'import', 'Correct the plugin.')
    reply({ is: 'refused', step, reason: message, remedy })
  }
}

/** Those of the release lie beside this code: a server that runs from sources may try plugins in threads that run from dist/. */
const entryOf = ({ builtIn, folder, entry }: FoundPlugin): string =>
  builtIn && !inSource ? path.join(builtInPlugins, path.basename(folder), path.basename(entry).replace(/ts$/, 'js')) : entry

async function chainOf(venue: TrialVenue, on: { plugin: FoundPlugin; config: unknown }): Promise<Chain> {
  const key = `${venue.chain} ${venue.network}`
  const known = chains.get(key)
  if (known !== undefined) return known
  const { plugin } = await importPlugin(entryOf(on.plugin))
  if (plugin.kind !== 'chain') throw new PluginFault('create', `${on.plugin.name} is not a chain`, 'Correct the chain plugin.')
  const chain = instantiateChain(plugin, on.plugin.name, chainVenue(venue, on.config))
  chains.set(key, chain)
  return chain
}

function chainVenue({ chain, network }: TrialVenue, config: unknown): ChainVenue<unknown> {
  return { chain, network, config, log: silent, meter: { rpc: () => {} } }
}

function reply(message: TrialReply): void {
  parentPort?.postMessage(message)
}
