import { getTransferSolInstruction } from '@solana-program/system'
import {
  generateKeyPairSigner,
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
  type KeyPairSigner,
  type Address,
  type Base64EncodedWireTransaction,
  type Instruction,
  type Nonce,
  type Rpc,
  type Signature,
  type SolanaRpcApi,
} from '@solana/kit'
import { startSolana, type Solana, type SolanaOptions } from '../start-solana.ts'

interface Site {
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

interface DurableNonce {
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

/** What a node says, word for word: to what the official client would never ask, and in figures that it would not round. */
export async function askText({ url }: { url: string }, body: unknown): Promise<string> {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: text })
  return response.text()
}

interface RpcReply {
  result?: unknown
  error?: { code: number; message: string; data?: unknown }
  id?: unknown
}

export async function ask(node: { url: string }, method: string, params?: unknown): Promise<RpcReply> {
  const told: unknown = JSON.parse(await askText(node, { jsonrpc: '2.0', id: 7, method, params }))
  return Object(told)
}
