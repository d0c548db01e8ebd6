// "sluice/testing": what a plugin's author runs with mocha.
import type { ServerOptions, TestServer } from './public-server.ts'
import { startServer as start } from './server.ts'

export { connectorContract, type ConnectorContract, type ContractSite } from './connector-contract.ts'
export { chainContract, type ChainContract } from './chain-contract.ts'
export { interfaceContract, type InterfaceContract } from './interface-contract.ts'
export { createClient, type Answer, type Client } from './client.ts'
export type { ServerOptions, TestServer }

/** Starts the whole server in this process, in a temporary home, with the devnet and real certificates. */
export const startServer: (options?: ServerOptions) => Promise<TestServer> = start
