import { generateKeyPairSigner, type KeyPairSigner } from '@solana/kit'
import { startSolana, type Solana, type SolanaOptions } from '../start-solana.ts'
import { clientOf, type Client } from './wallet.ts'

export interface Site {
  solana: Solana
  client: Client
  /** Has 5 SOL. */
  from: KeyPairSigner
  /** Has nothing. */
  to: KeyPairSigner
}

/** A cluster in which time passes when the test lets it, the official client of its node, and two wallets. */
export async function startSite(options: Partial<SolanaOptions> = {}): Promise<Site> {
  const solana = await startSolana({ slotMs: 'by hand', ...options })
  const [from, to] = [await generateKeyPairSigner(), await generateKeyPairSigner()]
  await solana.fund(from.address, 5_000_000_000n)
  return { solana, client: clientOf(solana), from, to }
}
