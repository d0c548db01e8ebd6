// The mocha file of `sluice plugin test <folder>`: the cards for the plugin in that folder.
import { chainContract } from './chain-contract.ts'
import { connectorContract } from './connector-contract.ts'
import { interfaceContract } from './interface-contract.ts'

const { PLUGIN_FOLDER: folder = '', PLUGIN_KIND: kind, PLUGIN_NETWORK: network, PLUGIN_TRUSTED: trusted } = process.env

if (kind === 'chain') chainContract({ folder, ...(network !== undefined && { network }) })
else if (kind === 'interface') interfaceContract({ folder, trusted: trusted !== undefined })
else connectorContract({ folder, trusted: trusted !== undefined })
