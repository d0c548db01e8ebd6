import { lamports, type Address, type Instruction, type KeyPairSigner, type Signature } from '@solana/kit'
import { createHash } from 'node:crypto'
import type { LiteSVM } from 'litesvm'
import { skipsBySeed, type Leader } from './ledger/leaders.ts'
import { createLedger, finalizedDepth, type Ledger } from './ledger/ledger.ts'
import { lookupTableAccount, type LookupTable } from './ledger/lookup-tables.ts'
import type { Wire } from './ledger/read-wire.ts'
import { serve, type NodeService } from './rpc/serve.ts'
import { createView, type ViewOptions } from './rpc/view.ts'
import { createFaucet, signerOf } from './faucet.ts'
import { createMintInstructions, mintToInstructions, programOf, type Mint, type MintSeed } from './mints.ts'

export interface SolanaOptions {
  /** How long a slot takes; 'by hand': only `tick` lets time pass. */
  slotMs: number | 'by hand'
  /** Decides which slots are skipped, and the cluster's blockhashes. */
  seed: string
  /** How many of the slots are skipped, 0 to 1. */
  skipped: number
  /** Its node also takes what `controlMethods` has. */
  hasControls: boolean
}

/** A cluster of Solana of one validator: a real runtime behind the JSON-RPC face of its nodes. */
export interface Solana {
  url: string
  svm: LiteSVM
  ledger: Ledger
  genesisHash: string
  faucet: KeyPairSigner
  /** By symbol: USDC (6, Token), BASE (9, Token), FEES (9, Token-2022 with a transfer fee). */
  mints: { readonly USDC: Mint; readonly BASE: Mint; readonly FEES: Mint }
  /** Lets slots pass. */
  tick(slots?: number): void
  /** Lets slots pass until so many blocks were made in them. */
  blocks(count: number): void
  /** Slots pass by themselves no more, until `resume`. */
  pause(): void
  resume(): void
  /** What leaders do with transactions from now on. */
  lead(leader: Leader): void
  /** The newest blocks, 32 at most, are taken back; their transactions are sent again, or lost. */
  reorganise(depth: number, transactions?: 'again' | 'lost'): void
  /** Everything that was sent to any node, whatever became of it. */
  sent: readonly Wire[]
  /** The faucet signs and pays for these, with who else signs in them; in a block when it settles. */
  land(instructions: readonly Instruction[]): Promise<Signature>
  /** In a block when it settles. Lamports. */
  fund(to: Address, lamports: bigint): Promise<Signature>
  /** Creates the owner's associated account where there is none; in a block when it settles. */
  mintTo(owner: Address, mint: Mint, amountRaw: bigint): Promise<Signature>
  createMint(seed: MintSeed): Promise<Mint>
  /**
   * An address lookup table, as its program keeps it: made anew or changed at once, in no transaction.
   * @param state deactivated, or extended a moment ago
   */
  setLookupTable(at: Address, addresses: readonly Address[], state?: Partial<Omit<LookupTable, 'addresses'>>): void
  /** Another node of the same cluster, that may lag, forget or be ill. */
  addNode(options: Partial<ViewOptions>): Promise<SolanaNode>
  stop(): Promise<void>
}

export interface SolanaNode {
  url: string
  /** May be changed at any time. */
  options: ViewOptions
  stop(): Promise<void>
}

/** Numbers as on mainnet, where a slot's is far ahead of its block's height. */
const [firstSlot, firstHeight] = [350_000_000n, 328_000_000n]

export async function startSolana(options: Partial<SolanaOptions> = {}): Promise<Solana> {
  const { slotMs = 400, seed = 'a cluster', skipped = 0.1, hasControls = false } = options
  const ledger = createLedger({
    firstSlot,
    firstHeight,
    isSkipped: skipsBySeed(seed, skipped),
    time: () => Math.floor(Date.now() / 1000),
    hashesBehind: createHash('sha256').update(seed).digest().readUInt16BE(),
  })
  const faucet = await createFaucet(ledger)
  const nodes: NodeService[] = []
  let timer: NodeJS.Timeout | undefined

  const addNode = async (given: Partial<ViewOptions>): Promise<SolanaNode> => {
    const view = createView(ledger, faucet, given)
    const served = await serve(view)
    nodes.push(served)
    return { ...served, options: view.options }
  }
  const tick = (slots = 1) => {
    for (let passed = 0; passed < slots; passed++) ledger.passSlot()
  }
  const blocks = (count: number) => {
    for (const until = ledger.tip.height + BigInt(count); ledger.tip.height < until;) ledger.passSlot()
  }
  const land = async (wire: Wire): Promise<Signature> => {
    const leader = ledger.leader
    ledger.leader = (waiting) => (waiting.wire === wire ? 'takes' : leader(waiting))
    ledger.submit(wire, Infinity)
    blocks(1)
    ledger.leader = leader
    const error = ledger.find(wire.signature)?.landed.outcome.error
    if (error !== null) throw new Error(`The faucet's transaction failed: ${JSON.stringify(error)}`)
    return wire.signature
  }
  const landAll = async (instructions: readonly Instruction[]) => land(await faucet.sign(instructions))
  const createMint = async (mint: MintSeed): Promise<Mint> => {
    const signer = await signerOf(`mint ${mint.symbol}`)
    await landAll(createMintInstructions(ledger, faucet.signer, signer, mint))
    return { symbol: mint.symbol, decimals: mint.decimals, address: signer.address, program: programOf(mint) }
  }
  const pause = () => clearInterval(timer)
  const resume = () => {
    pause()
    if (slotMs !== 'by hand') timer = setInterval(tick, slotMs, 1)
  }

  const mints = {
    USDC: await createMint({ symbol: 'USDC', decimals: 6 }),
    BASE: await createMint({ symbol: 'BASE', decimals: 9 }),
    FEES: await createMint({ symbol: 'FEES', decimals: 9, transferFee: { basisPoints: 100, maximumRaw: 5_000_000_000n } }),
  }
  blocks(Number(finalizedDepth) + 1)
  const main = await addNode({ hasControls })
  resume()
  return {
    url: main.url,
    svm: ledger.svm,
    ledger,
    genesisHash: ledger.genesisHash,
    faucet: faucet.signer,
    mints,
    tick,
    blocks,
    pause,
    resume,
    lead: (leader) => void (ledger.leader = leader),
    reorganise: (depth, transactions) => void ledger.reorganise(depth, transactions),
    sent: ledger.sent,
    land: landAll,
    fund: async (to, amount) => land(await faucet.transfer(to, lamports(amount))),
    mintTo: async (owner, mint, amountRaw) => landAll(await mintToInstructions(faucet.signer, mint, owner, amountRaw)),
    createMint,
    setLookupTable: (at, addresses, state) => ledger.svm.setAccount(lookupTableAccount(at, addresses, state)),
    addNode,
    async stop() {
      pause()
      await Promise.all(nodes.map((node) => node.stop()))
    },
  }
}
