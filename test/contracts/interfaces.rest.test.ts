import path from 'node:path'
import { interfaceContract } from '../../testkit/interface-contract.ts'
import { oneChain } from '../http/shared-server.ts'

const root = path.join(import.meta.dirname, '..', '..')

// Of a third party, in a process of its own, and one of the release.
interfaceContract({ folder: path.join(root, 'templates', 'pair-prices'), server: { settings: oneChain.settings } })
interfaceContract({
  folder: path.join(root, 'plugins', 'hummingbot'),
  config: { receiptSeconds: 1, defaultNetworks: { ethereum: 'local' } },
  server: oneChain,
})
