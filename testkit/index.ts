// "sluice/testing": what a plugin's author runs with mocha.
export { connectorContract, type ConnectorContract, type ContractSite } from './connector-contract.ts'
export { chainContract, type ChainContract } from './chain-contract.ts'
export { createClient, type Answer, type Client } from './client.ts'
export { startServer, type ServerOptions, type TestServer } from './server.ts'
