// The process behind solana/local beside the devnet: a node with money for some wallets.
// local.js <wallets>. It prints one line of JSON once it listens; core/devnet/local-sites.ts starts and ends it.
import { address } from '@solana/kit'
import { startSolana } from './start-solana.ts'

const solPerWallet = 1_000n
const usdcPerWallet = 1_000_000n

const solana = await startSolana({ seed: 'solana/local', skipped: 0 })
const { USDC } = solana.mints
for (const wallet of process.argv.slice(2).map((each) => address(each))) {
  await solana.fund(wallet, solPerWallet * 10n ** 9n)
  await solana.mintTo(wallet, USDC, usdcPerWallet * 10n ** BigInt(USDC.decimals))
}
console.log(JSON.stringify({ port: Number(new URL(solana.url).port) }))
