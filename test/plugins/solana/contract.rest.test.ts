import { fileURLToPath } from 'node:url'
import { generateKeyPairSigner } from '@solana/kit'
import { chainContract } from '../../../testkit/index.ts'
import { startSolana } from '../../../tools/solana-node/start-solana.ts'

const cluster = await startSolana({ slotMs: 100 })
const { address } = await generateKeyPairSigner()
await cluster.fund(address, 1_000_000_000n)
for (const mint of Object.values(cluster.mints)) await cluster.mintTo(address, mint, 1_000n)
cluster.blocks(1)
after(() => cluster.stop())

const tokens = Object.values(cluster.mints).map((mint) => ({ chainId: 104, name: mint.symbol, ...mint }))

chainContract({
  folder: fileURLToPath(new URL('../../../plugins/solana', import.meta.url)),
  network: 'local',
  owner: address,
  conf: {
    'chains/solana.yml': { local: { enabled: true, rpcUrls: [cluster.url], pollingSeconds: 0.1 } },
    'tokens/solana/local.json': JSON.stringify({ name: 'Local', tokens }),
  },
})
