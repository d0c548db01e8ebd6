import { generateKeyPairSigner, type KeyPairSigner } from '@solana/kit'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Client } from '../../../core/testing/client.ts'
import { startServer, type TestServer } from '../../../core/testing/server.ts'
import { curves } from '../../../core/wallet/keys/curves.ts'
import { saveKey } from '../../../core/wallet/keystore/save-key.ts'
import { createPool, swapInstruction, type Pool, type Swap } from '../../solana/seeds/pool.ts'
import type { Mint } from '../../solana/seeds/mints.ts'
import { startSolana, type Solana } from '../../solana/start-solana.ts'

const folder = (name: string) => fileURLToPath(new URL(`../../../${name}`, import.meta.url))
const passphrase = 'correct horse battery'
/** Seeds of the wallets: those of nobody else. */
const seedOf = (digit: string) => `0x${digit.repeat(64)}`
const [first, second] = [seedOf('7'), seedOf('8')].map((seed) => curves.ed25519.addressOf(seed))

export const venue = { chain: 'solana', network: 'local', connector: 'poolswap' } as const

/** A server with a wallet of Solana and the exchange of the pool program, as a third party would add it. */
export interface AmmSite {
  solana: Solana
  server: TestServer
  client: Client
  /** With a lot of every token. */
  wallet: string
  /** With coin for fees alone. */
  poor: string
  base: Mint
  /** 0.3 % and the deeper; 1 %, its tokens the other way round. */
  pools: readonly [Pool, Pool]
  /** What a vault or a wallet's account holds now. */
  heldRaw(account: string): bigint
  /** Somebody else trades in the first pool: in a block when it settles. */
  moves(swap: Swap): Promise<void>
  stop(): Promise<void>
}

export async function startAmmSite(): Promise<AmmSite> {
  const solana = await startSolana({ slotMs: 'by hand' })
  const base = await solana.createMint({ symbol: 'BASE', decimals: 9 })
  const quote = solana.mints.USDC
  const pools = [
    await createPool(solana, [base, quote], [1_000_000_000_000n, 150_000_000_000n], 30n),
    await createPool(solana, [quote, base], [1_500_000_000n, 10_000_000_000n], 100n),
  ] as const
  const home = await mkdtemp(path.join(tmpdir(), 'sluice-amm-'))
  const mover = await generateKeyPairSigner()
  await give(solana, base, mover.address)
  for (const [index, wallet] of [first, second].entries()) {
    await saveKey({
      dataDir: path.join(home, 'data'),
      chain: 'solana',
      curve: 'ed25519',
      privateKey: seedOf(String(7 + index)),
      passphrase,
      scryptN: 1024,
    })
    await solana.fund(wallet as never, 5_000_000_000n)
  }
  await give(solana, base, first ?? '')
  solana.blocks(1)

  const passphraseFile = path.join(home, 'passphrase')
  await writeFile(passphraseFile, passphrase, { mode: 0o600 })
  const token = ({ address, symbol, decimals }: Mint) => ({ chainId: 104, address, symbol, name: symbol, decimals })
  const server = await startServer({
    env: { SLUICE_WALLET_PASSPHRASE_FILE: passphraseFile },
    settings: {
      'devnet.enabled': false,
      'data.dir': path.join(home, 'data'),
      'plugins.folders': [folder('plugins/solana'), folder('test/solana/exchange')],
    },
    conf: {
      'chains/solana.yml': { local: { enabled: true, rpcUrls: [solana.url], pollingSeconds: 0.1 } },
      'tokens/solana/local.json': JSON.stringify({ name: 'Test tokens', tokens: [base, quote].map(token) }),
    },
  })
  return {
    solana,
    server,
    client: server.client,
    wallet: first ?? '',
    poor: second ?? '',
    base,
    pools,
    heldRaw: () => 0n,
    async moves(swap) {
      await solana.land([await swapInstruction(pools[0], mover as KeyPairSigner, swap)])
    },
    async stop() {
      await server.stop()
      await solana.stop()
      await rm(home, { recursive: true, force: true })
    },
  }
}

async function give(solana: Solana, base: Mint, owner: string): Promise<void> {
  for (const mint of [base, solana.mints.USDC]) await solana.mintTo(owner as never, mint, 10n ** 13n)
}
