import { chainContract } from '../../../testkit/index.ts'
import { everyChain } from './every-chain.ts'

// Each starts a server of its own: those that differ most. Every chain is created and read in chains.rest.test.ts, and served in server.rest.test.ts.
for (const { name, folder } of everyChain) if (['celo', 'polygon'].includes(name)) chainContract({ folder })
