import { existsSync } from 'node:fs'
import path from 'node:path'
import { Test } from 'mocha'
import { loadServerPlugins } from '../core/parts/plugins.ts'
import { newClient } from '../core/tls/certificates.ts'
import { watchInterface, type TestInterface, type WatchedInterface } from './cards/interface-fixture.ts'
import { interfaceCards } from './cards/interface.ts'
import { runsCard, type AddCard } from './cards/venue.ts'
import { createClient, type Client } from './client.ts'
import type { ServerOptions } from './public-server.ts'
import { devnetConf, startServer, type TestServer } from './server.ts'

export interface InterfaceContract {
  /** The plugin's folder, anywhere. */
  folder: string
  /** Its keys in `conf/interfaces/<name>.yml`, beside the port. Absent: its `defaults.yml` alone. */
  config?: Readonly<Record<string, unknown>>
  /** It runs in the server, as after `sluice plugin trust`. */
  trusted?: boolean
  /** Options of the server beside these. */
  server?: ServerOptions
}

/** Mocha tests that every interface must pass, ours or a third party's: the whole server, with the exchanges of the devnet. */
export function interfaceContract({ ...contract }: InterfaceContract): void {
  interfaceSuite(contract)
}

/** @internal A server that has an interface which is watched. */
export interface WatchedServer {
  readonly server: TestServer
  readonly watched: WatchedInterface
}

/**
 * @internal What authors see leads to no part of the server.
 * @param running the server that has the plugin already, and goes on afterwards
 */
export function interfaceSuite(contract: InterfaceContract, running?: WatchedServer): void {
  const name = path.basename(contract.folder)

  describe(`interface ${name}`, function () {
    this.timeout(400_000)
    let site: TestInterface
    let started: TestServer | undefined
    const clients: Client[] = []

    before(async function () {
      // A busy machine takes long to start a server and a chain.
      this.timeout(300_000)
      const { server, watched } = running ?? (await startWatched(contract))
      if (!running) started = server
      if (!existsSync(path.join(server.certsDir, `${stranger}_cert.pem`))) await newClient(server.certsDir, stranger)
      site = siteOf(name, server, watched, clients)
    })
    after(async () => {
      for (const client of clients) client.close()
      await started?.stop()
    })

    const add: AddCard = (title, run) => this.addTest(new Test(title, runsCard(run)))
    interfaceCards(() => site, add)
  })
}

async function startWatched({ folder, config, trusted = false, server: options }: InterfaceContract): Promise<WatchedServer> {
  const name = path.basename(folder)
  const watched = watchInterface()
  const server = await startServer(
    {
      ...options,
      plugins: [folder, ...(options?.plugins ?? [])],
      ...(trusted && { trusted: [name] }),
      conf: { ...devnetConf, ...options?.conf, ...confOf(name, config) },
      settings: { 'log.level': 'fatal', 'server.requestTimeoutSeconds': 10, ...options?.settings },
    },
    undefined,
    watchedPlugins((each) => (each === name ? watched : undefined)),
  )
  return { server, watched }
}

/** @internal A certificate without permissions. */
export const stranger = 'stranger'

/** @internal The files of `conf` that the cards need. */
export const confOf = (name: string, config: InterfaceContract['config'] = {}, port = 0): Readonly<Record<string, unknown>> => ({
  'clients.yml': {
    clients: { client: { permissions: ['read', 'trade', 'thin', 'admin'], wallets: 'all' }, [stranger]: { permissions: [], wallets: [] } },
  },
  [`interfaces/${name}.yml`]: { ...config, port },
})

/** @internal A part of the server in place of its own: all is as it is, and what the interface answers is seen. */
export const watchedPlugins = (
  watchedAs: (name: string) => WatchedInterface | undefined,
): NonNullable<Parameters<typeof startServer>[2]> => ({
  plugins: {
    async open(parts) {
      const loaded = await loadServerPlugins(parts)
      const interfaces = loaded.interfaces.map((each) => {
        const watched = watchedAs(each.name)
        return each.listener && watched
          ? { ...each, listener: { ...each.listener, interface: watched.watch(each.listener.interface) } }
          : each
      })
      return { ...loaded, interfaces }
    },
  },
})

/** @internal @param clients gets those that are to be closed @throws Error where it was refused */
export function siteOf(name: string, server: TestServer, watched: WatchedInterface, clients: Client[]): TestInterface {
  const { kernel, certsDir } = server
  const url = server.interfaceUrls[name]
  const served = watched.served()
  if (url === undefined || served === undefined) {
    const refusal = kernel.plugins.refused.find((each) => each.name === name)
    throw new Error(
      refusal ? `${name} was refused (${refusal.step}): ${refusal.reason}. ${refusal.remedy}` : `${name} was not found, or is no interface`,
    )
  }
  const to = (certificate: string): Client => {
    const client = createClient(url, certsDir, certificate)
    clients.push(client)
    return client
  }
  return { name, served, client: to('client'), stranger: to(stranger), server: server.client, watched }
}
