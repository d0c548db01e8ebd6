import { Transaction, Wallet } from 'ethers'
import { signedBytes } from '../checker/known.ts'
import type { Call, History, JournalEntry, MinedTransaction, Request, SentBytes } from '../history.ts'
import { liveFrom } from '../settle-world.ts'

/** A key that everybody knows. */
const signer = new Wallet('0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80')
export const wallet = signer.address

interface Bytes {
  txHash: string
  raw: string
  nonce: number
  valueRaw: bigint
}

/** Signed bytes as a server makes them: another fee makes another attempt. */
export function signed(nonce: number, valueRaw: bigint, fee = 1n, data = '0x'): Bytes {
  const tx = Transaction.from({ type: 2, chainId: 31337, nonce, to: wallet, value: valueRaw, data, gasLimit: 21_000, maxFeePerGas: fee })
  tx.signature = signer.signingKey.sign(tx.unsignedHash)
  return { txHash: tx.hash ?? '', raw: tx.serialized, nonce, valueRaw }
}

/** Data of a call that says no amount. */
export const closing = '0xc105e000'

export const close = (id: number, key?: string): Request => ({ id, op: 'close', wallet, ...(key !== undefined && { key }) })

export const trade = (id: number, key?: string): Request => ({
  id,
  op: 'trade',
  wallet,
  valueRaw: BigInt(id),
  ...(key !== undefined && { key }),
})

let calls = 0

/** A call that took from one time to another. */
function call(request: number, outcome: Call['outcome'], [sentAt, endedAt]: readonly [number, number] = [1, 2]): Call {
  calls += 1
  return { request, requestId: `call-${calls}`, sentAt, endedAt, outcome }
}

export const answered = (request: number, { txHash }: Bytes, at?: readonly [number, number]): Call =>
  call(request, { is: 'answer', status: 200, text: `{"txHash":"${txHash}"}`, txHash }, at)
export const refused = (request: number, name: string, at?: readonly [number, number]): Call =>
  call(request, { is: 'answer', status: 422, name, text: `{"name":"${name}"}` }, at)
export const lost = (request: number, at?: readonly [number, number]): Call => call(request, { is: 'lost', reason: 'ECONNRESET' }, at)

export const mined = ({ txHash, nonce, valueRaw }: Bytes, ok = true): MinedTransaction => ({
  txHash,
  from: wallet,
  to: wallet,
  nonce,
  valueRaw,
  block: 1,
  ok,
})

export const entry = (state: string, attempts: readonly Bytes[], more: Partial<JournalEntry> = {}): JournalEntry => ({
  key: attempts[0]?.raw ?? 'unsigned',
  address: wallet,
  kind: 'trade',
  state,
  nonce: attempts[0]?.nonce ?? 0,
  rank: 0,
  requestId: 'call',
  attempts,
  ...more,
})

/** What is not said is empty; nonces of the chain follow from what was mined. */
export function history({ sent, ...of }: Partial<History> & { sent?: readonly SentBytes[] }): History {
  const journal = of.journal ?? []
  const signed = signedBytes({
    journal,
    sent: sent ?? journal.flatMap(({ attempts }) => attempts.flatMap(({ raw }) => (raw === undefined ? [] : [{ at: 1, raw }]))),
  })
  const next = Math.max(0, ...(of.mined ?? []).map(({ nonce }) => nonce + 1))
  return {
    wallets: [wallet],
    requests: [],
    calls: [],
    samples: [],
    signed,
    live: liveFrom(signed, of.nextNonces ?? new Map([[wallet, next]])),
    mined: [],
    nextNonces: new Map([[wallet, next]]),
    journal,
    foreign: new Set(),
    healed: [],
    settled: { blocks: 11, allowed: 11 },
    ...of,
  }
}
