import { AccountRole, address, getU16Encoder, getU64Encoder, lamports, type Instruction, type KeyPairSigner } from '@solana/kit'
import { getTokenDecoder } from '@solana-program/token'
import { LiteSVM } from 'litesvm'
import { tokenAccountOf } from '../../../kits/solana/addresses.ts'
import type { Clock } from '../../../kits/solana/amm/swap-quote.ts'
import { toKit, type SolanaAccount, type SolanaInstruction } from '../../../kits/solana/types.ts'
import { signerOf } from '../faucet.ts'
import { slotsPerEpoch } from '../ledger/ledger.ts'
import { tokenSize } from '../ledger/tokens.ts'
import { createMintInstructions, mintToInstructions, programOf, type Mint, type MintSeed } from '../mints.ts'
import { mustRun, runUnsigned } from './unsigned.ts'

/** A runtime with one wallet, without blocks and signatures: real programs are held against our arithmetic on it, ten thousand swaps a minute. */
export interface Market {
  svm: LiteSVM
  /** Makes mints and pools, and swaps. */
  wallet: string
  clock: Clock
  setClock(change: Partial<Clock>): void
  /** With so much in the wallet's associated account. */
  createMint(seed: MintSeed, amountRaw: bigint): Promise<Mint>
  /** Token-2022: from two epochs on, transfers cost this. */
  changeTransferFee(mint: Mint, fee: { basisPoints: number; maximumRaw: bigint }): void
  tokenAccount(mint: Mint): string
  balance(mint: Mint): bigint
  account(of: string): SolanaAccount | undefined
  /** What the program says where it fails, and null where not. */
  run(instructions: readonly SolanaInstruction[]): string | null
}

export async function openMarket(): Promise<Market> {
  const svm = new LiteSVM().withSigverify(false).withBlockhashCheck(false).withTransactionHistory(0n)
  const signer: KeyPairSigner = await signerOf('faucet')
  const wallet = signer.address
  svm.airdrop(wallet, lamports(10n ** 14n))
  let clock: Clock = { slot: 350_000_000n, epoch: 350_000_000n / slotsPerEpoch, unixTime: 1_790_000_000n }
  const setClock = (change: Partial<Clock>) => {
    clock = { ...clock, ...change }
    const sysvar = svm.getClock()
    sysvar.slot = clock.slot
    sysvar.epoch = clock.epoch
    sysvar.unixTimestamp = clock.unixTime
    svm.setClock(sysvar)
  }
  setClock({})

  const account = (of: string): SolanaAccount | undefined => {
    const found = svm.getAccount(address(of))
    return found.exists ? { lamportsRaw: found.lamports, owner: found.programAddress, data: Uint8Array.from(found.data) } : undefined
  }
  const tokenAccounts = new Map<string, string>()
  const tokenAccount = (mint: Mint) => {
    const known = tokenAccounts.get(mint.address) ?? tokenAccountOf(wallet, mint.address, mint.program)
    tokenAccounts.set(mint.address, known)
    return known
  }
  return {
    svm,
    wallet,
    get clock() {
      return clock
    },
    setClock,
    async createMint(seed, amountRaw) {
      const key = await signerOf(`mint ${seed.symbol}`)
      const mint = { symbol: seed.symbol, decimals: seed.decimals, address: key.address, program: programOf(seed) }
      mustRun(svm, wallet, createMintInstructions({ svm }, signer, key, seed))
      mustRun(svm, wallet, await mintToInstructions(signer, mint, wallet, amountRaw))
      return mint
    },
    changeTransferFee: (mint, fee) => mustRun(svm, wallet, [setTransferFee(mint, wallet, fee)]),
    tokenAccount,
    balance: (mint) => {
      const held = account(tokenAccount(mint))
      return held ? getTokenDecoder().decode(held.data.subarray(0, tokenSize)).amount : 0n
    },
    account,
    run: (instructions) => runUnsigned(svm, wallet, instructions.map(toKit)),
  }
}

/** Source: solana-program/token-2022, program/src/extension/transfer_fee/instruction.rs, SetTransferFee. */
function setTransferFee(mint: Mint, authority: string, fee: { basisPoints: number; maximumRaw: bigint }): Instruction {
  return {
    programAddress: mint.program,
    accounts: [
      { address: mint.address, role: AccountRole.WRITABLE },
      { address: address(authority), role: AccountRole.READONLY_SIGNER },
    ],
    data: Uint8Array.of(26, 5, ...getU16Encoder().encode(fee.basisPoints), ...getU64Encoder().encode(fee.maximumRaw)),
  }
}
