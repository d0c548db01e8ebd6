// The process behind solana/local beside the devnet: a node with money for some wallets, the pools of plugins/poolswap, and
// those of exchanges whose programs the folder of SLUICE_SOLANA_PROGRAMS has.
// local.js <wallets>. It prints one line of JSON once it listens; core/devnet/local-sites.ts starts and ends it.
import { address } from '@solana/kit'
import { seedExchanges } from './programs/exchanges.ts'
import { createPool } from './programs/pool.ts'
import { startSolana } from './start-solana.ts'

const solPerWallet = 1_000n
const usdcPerWallet = 1_000_000n
const basePerWallet = 1_000n

const solana = await startSolana({ seed: 'solana/local', skipped: 0 })
const { BASE, USDC } = solana.mints
await createPool(solana, [BASE, USDC], [1_000_000_000_000n, 150_000_000_000n], 30n)
await createPool(solana, [USDC, BASE], [1_500_000_000n, 10_000_000_000n], 100n)
await seedExchanges(solana)
for (const wallet of process.argv.slice(2).map((each) => address(each))) {
  await solana.fund(wallet, solPerWallet * 10n ** 9n)
  await solana.mintTo(wallet, USDC, usdcPerWallet * 10n ** BigInt(USDC.decimals))
  await solana.mintTo(wallet, BASE, basePerWallet * 10n ** BigInt(BASE.decimals))
}
console.log(JSON.stringify({ port: Number(new URL(solana.url).port) }))
