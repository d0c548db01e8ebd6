// A process with the wallet commands alone, for tests that look at it from outside.
import { Command } from 'commander'
import { walletCommand } from '../../core/cli/wallet.ts'

const chains = new Map([
  ['ethereum', 'secp256k1'],
  ['polygon', 'secp256k1'],
  ['solana', 'ed25519'],
] as const)
const program = new Command('sluice')
program.addCommand(walletCommand(async () => ({ dataDir: process.env.TEST_DATA_DIR ?? '', chains: async () => chains })))
await program.parseAsync()
