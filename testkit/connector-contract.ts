import { existsSync } from 'node:fs'
import path from 'node:path'
import { JsonRpcProvider } from 'ethers'
import { Test } from 'mocha'
import { devnetNetwork } from '../core/devnet/network.ts'
import { tradingWallets } from '../core/devnet/trading-wallets.ts'
import { devnetBookOperators } from '../core/devnet/devnet-book-operators.ts'
import { devnetPerpOperator } from '../core/devnet/devnet-perp-operator.ts'
import { devnetQuoter } from '../core/devnet/devnet-quoter.ts'
import type { LoadedPlugin } from '../core/loader/loaded-plugin.ts'
import { ammCards } from './cards/amm.ts'
import { venueOf, type AddCard, type Bench } from './cards/venue.ts'
import { bookCards } from './cards/books.ts'
import { lpCards } from '../core/testing/cards/lp/index.ts'
import { perpCards } from '../core/testing/cards/perp/index.ts'
import { addressCards, configurationCards, pluginCards } from '../core/testing/cards/plugin.ts'
import { devnetTokenSymbols, type BookOperators } from '../core/contracts/devnet.ts'
import { startServer, venuesReady, type ServerOptions, type TestServer } from './server.ts'

/** Where a connector is tried whose exchange cannot run on the devnet: against a service that stands in for it. */
export interface ContractSite {
  chain: string
  network: string
  /** What the server is started with, such as the service's address and wallets with keys. The devnet is off unless they say otherwise. */
  server: ServerOptions
  /** Three that the server has keys of, and that have in the exchange, or can put there, some of every token. */
  wallets: readonly [string, string, string]
  bookOperators: BookOperators
  stop(): Promise<void>
}

export interface ConnectorContract {
  /** The plugin's folder, anywhere. */
  folder: string
  /** Absent: the devnet. */
  site?: () => Promise<ContractSite>
}

/** Mocha tests that every connector passes, ours or a third party's: the whole server, on real exchange code in the devnet. */
export function connectorContract({ folder, site: startSite }: ConnectorContract): void {
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
    let plugin: LoadedPlugin
    // What was begun is stopped, also where its start outlasts the hook: else mocha would never end.
    const begun: Promise<{ stop(): Promise<void> }>[] = []
    const begin = <T extends { stop(): Promise<void> }>(starting: Promise<T>): Promise<T> => {
      begun.unshift(starting)
      return starting
    }

    before(async function () {
      const site = startSite && (await begin(startSite()))
      const server = await begin(startServer(serverOptions(folder, site)))
      plugin = loadedPlugin(server, name)
      if (site) await venuesReady(server.kernel, site)
      Object.assign(bench, { client: server.client, rpcUrl: server.rpcUrl }, site ? atSite(site) : await begin(onDevnet(folder, server)))
      // What it trades is known only now; cards of what it has not would be shown as not run.
      const { trading_type: types } = plugin.manifest
      const add: AddCard = (title, run) => this.test?.parent?.addTest(new Test(title, run))
      if (types.includes('AMM')) {
        Object.assign(bench, await askPairs(bench))
        ammCards(bench, add)
      }
      if (types.includes('AMM_RANGE')) lpCards(bench, add)
      if (types.includes('PERP_AMM')) perpCards(bench, add)
      bookCards(bench, types, add)
    })
    after(async () => {
      for (const each of begun) await (await each.catch(() => undefined))?.stop()
    })

    const found = () => ({ plugin, bench })
    pluginCards(found)
    configurationCards(found)
    if (!startSite) addressCards(found)
  })
}

/** The plugin's defects are told to callers in the log only. */
const serverOptions = (folder: string, site: ContractSite | undefined): ServerOptions => ({
  ...site?.server,
  plugins: [folder, ...(site?.server.plugins ?? [])],
  settings: { 'log.level': 'error', ...(site && { 'devnet.enabled': false }), ...site?.server.settings },
})

type Found = Pick<Bench, 'chain' | 'network' | 'wallets' | 'quoter' | 'perpOperator' | 'bookOperators'>

const atSite = ({ chain, network, wallets, bookOperators }: ContractSite): Found => ({
  chain,
  network,
  wallets,
  bookOperators,
  quoter: undefined,
})

async function onDevnet(folder: string, { rpcUrl }: TestServer): Promise<Found & { stop(): Promise<void> }> {
  const file = ['devnet.ts', 'devnet.js'].map((each) => path.join(folder, each)).find((each) => existsSync(each))
  const provider = new JsonRpcProvider(rpcUrl, undefined, { staticNetwork: true, batchMaxCount: 1, cacheTimeout: -1 })
  const [first = '', second = '', third = ''] = tradingWallets
  return {
    ...devnetNetwork,
    wallets: [first, second, third],
    quoter: file === undefined ? undefined : await devnetQuoter(file, provider),
    perpOperator: file === undefined ? undefined : await devnetPerpOperator(file, provider),
    bookOperators: file === undefined ? undefined : await devnetBookOperators(file, provider),
    stop: async () => provider.destroy(),
  }
}

function loadedPlugin({ kernel }: TestServer, name: string): LoadedPlugin {
  const loaded = kernel.plugins.loaded.find((each) => each.kind === 'connector' && each.name === name)
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
