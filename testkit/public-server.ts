import type { Client } from './client.ts'

// What "sluice/testing" says of its server: no type of the server's own parts, so that authors of plugins need none of their packages.

export interface ServerOptions {
  /** Folders of plugins besides Sluice's own. */
  plugins?: readonly string[]
  /**
   * Names of those that run in the server, as after `sluice plugin trust`: chains, exchanges of signed actions. Absent: none on a server that
   * only tries, on the devnet alone; all on any other.
   */
  trusted?: readonly string[]
  /**
   * Settings by their name, e.g. `{ 'server.drainSeconds': 1 }`, that replace the test's defaults: loopback, free ports, a temporary home, the
   * devnet.
   */
  settings?: Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>
  /** Further configuration files: name in the conf folder → content. */
  conf?: Readonly<Record<string, unknown>>
  /** Starts a proxy between the server and the devnet's node, and returns its URL. */
  between?: (rpcUrl: string) => Promise<string>
  /** The server's environment variables, none by default. */
  env?: Readonly<Record<string, string>>
}

/** A whole server in this process, in a temporary home. */
export interface TestServer {
  /** Where it listens. */
  url: string
  /** Where the interfaces of plugins listen, by their names. */
  interfaceUrls: Readonly<Record<string, string>>
  /** A client with the certificate from set-up, which has all permissions. */
  client: Client
  /** The folder with its certificates, for `createClient`. */
  certsDir: string
  /** URL of the devnet's node; empty without a devnet. */
  rpcUrl: string
  stop(): Promise<void>
}
