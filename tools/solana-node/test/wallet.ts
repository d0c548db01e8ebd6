import {
  appendTransactionMessageInstructions,
  createSolanaRpc,
  createTransactionMessage,
  getBase64EncodedWireTransaction,
  getSignatureFromTransaction,
  pipe,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  setTransactionMessageLifetimeUsingDurableNonce,
  signTransactionMessageWithSigners,
  type Address,
  type Base64EncodedWireTransaction,
  type Instruction,
  type KeyPairSigner,
  type Nonce,
  type Rpc,
  type Signature,
  type SolanaRpcApi,
} from '@solana/kit'
import { getTransferSolInstruction } from '@solana-program/system'

export type Client = Rpc<SolanaRpcApi>

export interface SignedTransfer {
  signature: Signature
  wire: Base64EncodedWireTransaction
  lastValidBlockHeight: bigint
}

export const clientOf = ({ url }: { url: string }): Client => createSolanaRpc(url)

export const transferTo = (source: KeyPairSigner, destination: Address, lamports: bigint): Instruction =>
  getTransferSolInstruction({ source, destination, amount: lamports })

/** Signed by the official client, on the newest blockhash that the node says. */
export async function sign(client: Client, payer: KeyPairSigner, instructions: readonly Instruction[]): Promise<SignedTransfer> {
  const { value: latest } = await client.getLatestBlockhash({ commitment: 'processed' }).send()
  const message = pipe(
    createTransactionMessage({ version: 0 }),
    (empty) => setTransactionMessageFeePayerSigner(payer, empty),
    (paid) => setTransactionMessageLifetimeUsingBlockhash(latest, paid),
    (timed) => appendTransactionMessageInstructions(instructions, timed),
  )
  return signed(await signTransactionMessageWithSigners(message), latest.lastValidBlockHeight)
}

export interface DurableNonce {
  nonce: string
  nonceAccountAddress: Address
  nonceAuthorityAddress: Address
}

/** Good for as long as the nonce is, however long that may be. */
export async function signDurable(
  payer: KeyPairSigner,
  { nonce, ...accounts }: DurableNonce,
  instructions: readonly Instruction[],
): Promise<SignedTransfer> {
  const message = pipe(
    createTransactionMessage({ version: 0 }),
    (empty) => setTransactionMessageFeePayerSigner(payer, empty),
    (paid) => setTransactionMessageLifetimeUsingDurableNonce({ nonce: nonce as Nonce, ...accounts }, paid),
    (timed) => appendTransactionMessageInstructions(instructions, timed),
  )
  return signed(await signTransactionMessageWithSigners(message), Infinity as never)
}

function signed(transaction: Parameters<typeof getBase64EncodedWireTransaction>[0], lastValidBlockHeight: bigint): SignedTransfer {
  return { signature: getSignatureFromTransaction(transaction), wire: getBase64EncodedWireTransaction(transaction), lastValidBlockHeight }
}

/** Sends as a rail does: tried by nobody before, sent again by nobody. */
export const send = (client: Client, { wire }: SignedTransfer): Promise<Signature> =>
  client.sendTransaction(wire, { encoding: 'base64', skipPreflight: true, maxRetries: 0n }).send()

export async function statusOf(client: Client, { signature }: SignedTransfer) {
  const { value } = await client.getSignatureStatuses([signature], { searchTransactionHistory: true }).send()
  return value[0]
}
