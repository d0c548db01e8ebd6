import { generateKeyPairSigner, type Address, type KeyPairSigner, type Signature } from '@solana/kit'
import { getTokenDecoder } from '@solana-program/token'
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Answer, Client } from '../../../testkit/client.ts'
import { startServer, type TestServer } from '../../../testkit/server.ts'
import type { SolanaChainConfig } from '../../../kits/solana/index.ts'
import { curves } from '../../../core/keys/curves.ts'
import { writeLock } from '../../../core/config/lock.ts'
import { readPluginFiles } from '../../../core/plugins/index.ts'
import { saveKey } from '../../../core/keys/keystore.ts'
import { clientOf, sign } from '../../../tools/solana-node/test/site.ts'
import { wrappedSol, type Mint } from '../../../tools/solana-node/mints.ts'
import { createPool, swapInstruction, type Pool, type Swap } from '../../../tools/solana-node/programs/pool.ts'
import { seedExchanges } from '../../../tools/solana-node/programs/exchanges.ts'
import { startSolana, type Solana, type SolanaOptions } from '../../../tools/solana-node/start-solana.ts'
import { startFaultyProxy, type FaultyProxy } from '../../http/trouble/faulty-proxy.ts'
import { until } from '../../transactions/site.ts'

const folder = (name: string) => fileURLToPath(new URL(`../../../${name}`, import.meta.url))
const passphrase = 'correct horse battery'
const seeds = ['7', '8', '9'].map((digit) => `0x${digit.repeat(64)}`)
const [rich = '', other = '', poor = ''] = seeds.map((seed) => curves.ed25519.addressOf(seed))

export const here = { chain: 'solana', network: 'local' } as const
export const venue = { ...here, connector: 'poolswap' } as const
export const pair = { ...venue, base: 'BASE', quote: 'USDC' } as const

/** A server with wallets of Solana and the exchange of the pool program, as a third party would add it. */
export interface AmmSite {
  solana: Solana
  server: TestServer
  client: Client
  /** What stands between the server and its node. */
  proxy: FaultyProxy
  /** Two with a lot of every token, one with coin for fees alone. */
  wallets: readonly [string, string, string]
  base: Mint
  /** Nobody's wallet that has more of both tokens than anybody asks for. */
  payer: string
  /** 0.3 % and the deeper; 1 %, with its tokens the other way round. */
  pools: readonly [Pool, Pool]
  /** What an account of a token holds now. */
  heldRaw(account: string): bigint
  /** Somebody who is no client of the server's trades: in a block when it settles, which the server knows then. */
  moves(swap: Swap, pool?: Pool): Promise<void>
  /** The price once it holds for the newest confirmed slot. */
  priceAtTip(fields?: object): Promise<Answer['body']>
  /** What the program itself would make of it now. */
  asks(swap: Swap, pool?: Pool): Promise<{ paidRaw: bigint; gotRaw: bigint } | undefined>
  /**
   * What `/network/poll` says, once it says so; blocks come meanwhile where the test makes them. Where it is to be MINED no more than that takes, for
   * with some more it is final.
   */
  polled(txHash: string, wanted: Record<string, unknown>): Promise<Answer['body']>
  stop(): Promise<void>
}

export interface AmmSiteOptions extends Partial<SolanaOptions> {
  /** Also the exchanges of others, whose programs have to be there. */
  readonly exchanges?: readonly string[]
  /** Also FEES, whose transfers cost a fee, with a pool of the pool program, which cannot move it. */
  readonly withFees?: boolean
  /** Also `solswap`, a trusted copy of the exchange with a pool of SOL. */
  readonly withSol?: boolean
  /** The exchange is a plugin of a third party that is contained, `strangeswap`; what is changed in its files. */
  readonly contained?: Change
  /** Copies of the exchange that are trusted, by their names, and what is changed in their files. */
  readonly copies?: Readonly<Record<string, Change>>
  /** Further settings of the network. */
  readonly network?: SolanaChainConfig
}

type Change = (content: string, file: string) => string

export async function startAmmSite({
  contained,
  copies = {},
  exchanges = [],
  withFees = exchanges.length > 0,
  withSol = false,
  network = {},
  ...options
}: AmmSiteOptions = {}): Promise<AmmSite> {
  const solana = await startSolana({ slotMs: 'by hand', ...options })
  if (exchanges.length > 0) await seedExchanges(solana)
  const { BASE: base, USDC: quote } = solana.mints
  const pools = [
    await createPool(solana, [base, quote], [1_000_000_000_000n, 150_000_000_000n], 30n),
    await createPool(solana, [quote, base], [1_500_000_000n, 10_000_000_000n], 100n),
  ] as const
  const { FEES: fees } = solana.mints
  if (withFees) {
    await createPool(solana, [fees, quote], [100_000_000_000n, 15_000_000_000n], 30n)
    for (const owner of [rich, other]) await solana.mintTo(owner as Address, fees, 10n ** 12n)
  }
  const ofSol = withSol && (await createPool(solana, [wrappedSol, quote], [1_000_000_000_000n, 150_000_000_000n], 30n))
  const all = { ...copies, ...(ofSol && { solswap: (content: string) => content.replace(pools[0].address, ofSol.address) }) }
  const mover = await generateKeyPairSigner()
  for (const mint of [base, quote]) {
    for (const owner of [rich, other]) await solana.mintTo(owner as Address, mint, 10n ** 14n)
    // Enough to be asked about any amount that there can be.
    await solana.mintTo(mover.address, mint, 2n ** 63n)
  }

  const home = await mkdtemp(path.join(tmpdir(), 'sluice-amm-'))
  const dataDir = path.join(home, 'data')
  // The exchange imports packages of this checkout; what was allowed runs from the home.
  await symlink(folder('node_modules'), path.join(home, 'node_modules'))
  for (const privateKey of seeds) {
    const wallet = await saveKey({ dataDir, chain: 'solana', curve: 'ed25519', privateKey, passphrase, scryptN: 1024 })
    await solana.fund(wallet as Address, 5_000_000_000n)
  }
  await solana.fund(mover.address, 5_000_000_000n)
  solana.blocks(1)
  const proxy = await startFaultyProxy()
  proxy.target = solana.url
  const mints = [base, quote, ...(withFees ? [fees] : []), ...(withSol || exchanges.length > 0 ? [wrappedSol] : [])]
  const server = await startIn(home, `http://127.0.0.1:${proxy.port}`, mints, { contained, copies: all, exchanges, network })
  const { client } = server
  async function priceAtTip(fields: object = {}): Promise<Answer['body']> {
    let body: Answer['body']
    await until('the price holds for the newest slot', async () => {
      body = (await client.post('/amm/price', { ...pair, amount: '1', side: 'SELL', ...fields })).body
      // The one before the newest is confirmed; slots between them may have been skipped.
      return BigInt(body.blockNumber) >= (solana.ledger.blocks.at(-2) ?? solana.ledger.tip).slot
    })
    return body
  }
  return {
    solana,
    server,
    client,
    proxy,
    wallets: [rich, other, poor],
    base,
    payer: mover.address,
    pools,
    heldRaw(account) {
      const found = solana.svm.getAccount(account as Address)
      return found.exists ? getTokenDecoder().decode(found.data).amount : 0n
    },
    async moves(swap, pool = pools[0]) {
      await solana.land([await swapInstruction(pool, mover, swap)])
      solana.blocks(1)
      await priceAtTip()
    },
    priceAtTip,
    asks: (swap, pool = pools[0]) => simulated(solana, mover, pool, swap),
    async polled(txHash, wanted) {
      let last: Answer['body']
      const isConfirmed = () => {
        const found = solana.ledger.find(txHash as Signature)
        return found !== undefined && solana.ledger.tip.height > found.block.height
      }
      await until(`${txHash} has ${JSON.stringify(wanted)}`, async () => {
        last = (await client.get('/network/poll', { ...here, txHash })).body
        const holds = Object.entries(wanted).every(([key, value]) => last[key] === value)
        if (!holds && wanted['txState'] !== 'MINED') solana.blocks(5)
        else if (!holds && !isConfirmed()) solana.blocks(1)
        return holds
      }).catch((error: unknown) => {
        throw new Error(`It is ${JSON.stringify(last)}`, { cause: error })
      })
      return last
    },
    async stop() {
      await server.stop()
      await proxy.stop()
      await solana.stop()
      await rm(home, { recursive: true, force: true })
    },
  }
}

async function startIn(
  home: string,
  rpcUrl: string,
  mints: readonly Mint[],
  { contained, copies = {}, exchanges = [], network }: Pick<AmmSiteOptions, 'contained' | 'copies' | 'exchanges' | 'network'>,
): Promise<TestServer> {
  const passphraseFile = path.join(home, 'passphrase')
  await writeFile(passphraseFile, passphrase, { mode: 0o600 })
  const tokens = mints.map(({ address, symbol, decimals }) => ({ chainId: 104, address, symbol, name: symbol, decimals }))
  const exchange = contained ? await strangeExchange(home, contained) : folder('plugins/poolswap')
  const copied = await Promise.all(Object.entries(copies).map(([name, changed]) => copyExchange(home, name, changed)))
  const options = {
    env: { SLUICE_WALLET_PASSPHRASE_FILE: passphraseFile },
    settings: {
      'devnet.enabled': false,
      'data.dir': path.join(home, 'data'),
      'plugins.folders': [folder('plugins/solana'), exchange, ...exchanges.map((name) => folder(`plugins/${name}`)), ...copied],
    },
    ...(contained && { trusted: [] }),
    conf: {
      'chains/solana.yml': { local: { enabled: true, required: true, rpcUrls: [rpcUrl], pollingSeconds: 0.05, ...network } },
      'tokens/solana/local.json': JSON.stringify({ name: 'Test tokens', tokens }),
    },
  }
  return startServer(options, contained && home)
}

/** Copies the exchange as a plugin of somebody else, and allows it as one that is contained. */
async function strangeExchange(home: string, changed: Change): Promise<string> {
  const name = 'strangeswap'
  const own = await copyExchange(home, name, changed)
  const contracts = { programAddress: 'EPz1k5mNi3QYo9JFg8C7ccTCxoU7UeVLxw9Dr4LEMQJj' }
  const confDir = path.join(home, 'conf')
  await mkdir(confDir)
  await writeLock(confDir, {
    [name]: {
      sha256: readPluginFiles(own).sha256,
      tier: 'contained',
      kind: 'connector',
      networks: { 'solana/local': { contracts, spenders: [] } },
      signs: [],
      hosts: [],
    },
  })
  return own
}

async function copyExchange(home: string, name: string, changed: Change): Promise<string> {
  const own = path.join(home, name)
  await mkdir(own)
  const files = await readdir(folder('plugins/poolswap'))
  for (const file of files) {
    const content = await readFile(path.join(folder('plugins/poolswap'), file), 'utf8')
    const renamed = content.replace("name: 'poolswap',", `name: '${name}', version: '0.1.0',`)
    await writeFile(path.join(own, file), changed(renamed, file))
  }
  return own
}

const wordAt = (bytes: Uint8Array, at: number) => Buffer.concat([bytes, new Uint8Array(16)]).readBigUInt64LE(at)

async function simulated(solana: Solana, by: KeyPairSigner, pool: Pool, swap: Swap) {
  const client = clientOf(solana)
  const { wire } = await sign(client, by, [await swapInstruction(pool, by, swap)])
  const { value } = await client.simulateTransaction(wire, { encoding: 'base64', commitment: 'processed' }).send()
  if (value.err !== null || !value.returnData) return undefined
  const bytes = Buffer.from(value.returnData.data[0], 'base64')
  return { paidRaw: wordAt(bytes, 0), gotRaw: wordAt(bytes, 8) }
}
