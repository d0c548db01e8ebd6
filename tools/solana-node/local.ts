// The process behind solana/local beside the devnet: a node with money for some wallets, the pools of plugins/poolswap, and
// those of exchanges whose programs the folder of SLUICE_SOLANA_PROGRAMS has.
// local.js <wallets> [sha256:<bytes of a program that the operator has named>]. It prints one line of JSON once it listens; core/devnet/local-sites.ts starts and ends it.
import { address } from '@solana/kit'
import { seedExchanges } from './programs/exchanges.ts'
import { createPool } from './programs/pool.ts'
import { startSolana } from './start-solana.ts'

const solPerWallet = 1_000n
const usdcPerWallet = 1_000_000n
const basePerWallet = 1_000n

const solana = await startSolana({ seed: 'solana/local', skipped: 0, hasControls: true })
const { BASE, USDC, FEES } = solana.mints
// The second program is no connector's of the release: templates/creekswap trades on it.
for (const program of ['', 'creekswap ']) {
  await createPool(solana, [BASE, USDC], [1_000_000_000_000n, 150_000_000_000n], 30n, program)
  await createPool(solana, [USDC, BASE], [1_500_000_000n, 10_000_000_000n], 100n, program)
  // The program cannot move FEES: connectors have to leave the pool out.
  await createPool(solana, [FEES, USDC], [100_000_000_000n, 15_000_000_000n], 30n, program)
}
const namedPrefix = 'sha256:'
const [named, wallets] = [true, false].map((isNamed) => process.argv.slice(2).filter((each) => each.startsWith(namedPrefix) === isNamed))
await seedExchanges(
  solana,
  named?.map((each) => each.slice(namedPrefix.length)),
)
// Programs are asked in its name what they would do.
for (const mint of [BASE, USDC, FEES]) await solana.mintTo(solana.faucet.address, mint, 2n ** 62n)
for (const [index, wallet] of (wallets ?? []).map((each) => address(each)).entries()) {
  await solana.fund(wallet, solPerWallet * 10n ** 9n)
  await solana.mintTo(wallet, USDC, usdcPerWallet * 10n ** BigInt(USDC.decimals))
  // The first one has no account of FEES, so that one can be made for it.
  for (const mint of index === 0 ? [BASE] : [BASE, FEES]) await solana.mintTo(wallet, mint, basePerWallet * 10n ** BigInt(mint.decimals))
}
console.log(JSON.stringify({ port: Number(new URL(solana.url).port) }))
