import { existsSync } from 'node:fs'
import path from 'node:path'
import { JsonRpcProvider } from 'ethers'
import { Test } from 'mocha'
import { devnetNetwork, tradingWallets } from '../devnet/index.ts'
import { devnetPerpOperator } from '../devnet/devnet-perp-operator.ts'
import { devnetQuoter } from '../devnet/devnet-quoter.ts'
import type { LoadedPlugin } from '../loader/index.ts'
import { ammCards } from './cards/amm.ts'
import { venueOf, type AddCard, type Bench } from './cards/bench.ts'
import { lpCards } from './cards/lp/index.ts'
import { perpCards } from './cards/perp/index.ts'
import { configurationCards, pluginCards } from './cards/plugin.ts'
import { devnetTokenSymbols } from './devnet-plugin.ts'
import { startServer, type TestServer } from './server.ts'

export interface ConnectorContract {
  /** The plugin's folder, anywhere. */
  folder: string
}

/** Mocha tests that every connector passes, ours or a third party's: the whole server, on real exchange code in the devnet. */
export function connectorContract({ folder }: ConnectorContract): void {
  const name = path.basename(folder)

  describe(`connector ${name}`, function () {
    this.timeout(60_000)
    const bench: Bench = {
      connector: name,
      ...devnetNetwork,
      client: undefined as never,
      rpcUrl: '',
      wallets: ['', '', ''],
      pairs: [],
      unquoted: [],
      quoter: undefined,
    }
    let server: TestServer
    // One whose start outlasts the hook is stopped all the same: else mocha would never end.
    let starting: Promise<TestServer> | undefined
    let provider: JsonRpcProvider | undefined
    let plugin: LoadedPlugin

    before(async function () {
      // Its defects are told to callers in the log only.
      starting = startServer({ plugins: [folder], settings: { 'log.level': 'error' } })
      server = await starting
      plugin = loadedPlugin(server, name)
      const file = ['devnet.ts', 'devnet.js'].map((each) => path.join(folder, each)).find((each) => existsSync(each))
      provider = new JsonRpcProvider(server.rpcUrl, undefined, { staticNetwork: true, batchMaxCount: 1, cacheTimeout: -1 })
      const [first = '', second = '', third = ''] = tradingWallets
      Object.assign(bench, {
        client: server.client,
        rpcUrl: server.rpcUrl,
        wallets: [first, second, third],
        quoter: file && (await devnetQuoter(file, provider)),
        perpOperator: file && (await devnetPerpOperator(file, provider)),
      })
      // What it trades is known only now; cards of what it has not would be shown as not run.
      const { trading_type: types } = plugin.manifest
      const add: AddCard = (title, run) => this.test?.parent?.addTest(new Test(title, run))
      if (types.includes('AMM')) {
        Object.assign(bench, await askPairs(bench))
        ammCards(bench, add)
      }
      if (types.includes('AMM_RANGE')) lpCards(bench, add)
      if (types.includes('PERP_AMM')) perpCards(bench, add)
    })
    after(async () => {
      provider?.destroy()
      await (await starting?.catch(() => undefined))?.stop()
    })

    const found = () => ({ plugin, bench })
    pluginCards(found)
    configurationCards(found)
  })
}

function loadedPlugin({ kernel }: TestServer, name: string): LoadedPlugin {
  const loaded = kernel.plugins.loaded.find((each) => each.name === name)
  if (loaded) return loaded
  const refusal = kernel.plugins.refused.find((each) => each.name === name)
  throw new Error(refusal ? `${name} was refused (${refusal.step}): ${refusal.reason}. ${refusal.cure}` : `${name} was not found`)
}

/** Which pairs of the devnet's tokens have a pool of their own, and what was answered for the others. */
async function askPairs(bench: Bench): Promise<Pick<Bench, 'pairs' | 'unquoted'>> {
  const pairs: [string, string][] = []
  const unquoted: string[] = []
  for (const [i, base] of devnetTokenSymbols.entries()) {
    for (const quote of devnetTokenSymbols.slice(i + 1)) {
      const { status, body } = await bench.client.get('/amm/price', { ...venueOf(bench), base, quote, amount: '0.01', side: 'SELL' })
      if (status === 200) pairs.push([base, quote])
      else unquoted.push(`${base}-${quote}: ${body.name}: ${body.message}`)
      // A defect shows for the others too, and timeouts would use up the time before anybody says why.
      if (body.name === 'TIMEOUT' || body.name === 'UNKNOWN_ERROR') return { pairs, unquoted }
    }
  }
  return { pairs, unquoted }
}
