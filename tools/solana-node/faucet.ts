import { createHash } from 'node:crypto'
import { getSetComputeUnitLimitInstruction } from '@solana-program/compute-budget'
import { getTransferSolInstruction } from '@solana-program/system'
import {
  appendTransactionMessageInstructions,
  createKeyPairSignerFromPrivateKeyBytes,
  createTransactionMessage,
  getTransactionEncoder,
  lamports,
  pipe,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  signTransactionMessageWithSigners,
  type Address,
  type Blockhash,
  type Instruction,
  type KeyPairSigner,
  type Lamports,
} from '@solana/kit'
import { largestAge, type Ledger } from './ledger/ledger.ts'
import { readWire, type Wire } from './ledger/read-wire.ts'

const lamportsPerSol = 1_000_000_000n

/** The wallet that has all there is, as a test cluster's own. */
export interface Faucet {
  signer: KeyPairSigner
  /** Signs on the newest blockhash; two of the same are two. */
  sign(instructions: readonly Instruction[]): Promise<Wire>
  transfer(to: Address, amount: Lamports): Promise<Wire>
}

export async function createFaucet(ledger: Ledger): Promise<Faucet> {
  const signer = await signerOf('faucet')
  ledger.svm.airdrop(signer.address, lamports(500_000n * lamportsPerSol))
  let count = 0

  async function sign(instructions: readonly Instruction[]): Promise<Wire> {
    count += 1
    const { blockhash, height } = ledger.tip
    const message = pipe(
      createTransactionMessage({ version: 0 }),
      (empty) => setTransactionMessageFeePayerSigner(signer, empty),
      (paid) =>
        setTransactionMessageLifetimeUsingBlockhash({ blockhash: blockhash as Blockhash, lastValidBlockHeight: height + largestAge }, paid),
      (timed) =>
        appendTransactionMessageInstructions(
          [getSetComputeUnitLimitInstruction({ units: 400_000 + (count % 100_000) }), ...instructions],
          timed,
        ),
    )
    const signed = await signTransactionMessageWithSigners(message)
    return readWire(Uint8Array.from(getTransactionEncoder().encode(signed)))
  }

  return {
    signer,
    sign,
    transfer: (destination, amount) => sign([getTransferSolInstruction({ source: signer, destination, amount })]),
  }
}

/** A wallet of tests whose address is the same in every run. */
export function signerOf(name: string): Promise<KeyPairSigner> {
  return createKeyPairSignerFromPrivateKeyBytes(createHash('sha256').update(`a test wallet: ${name}`).digest())
}
