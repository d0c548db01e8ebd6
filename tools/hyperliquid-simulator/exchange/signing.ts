import { createL1ActionHash } from '@nktkas/hyperliquid/signing'
import { verifyTypedData } from 'ethers'

/** A request as its schema reads it: fields in the order and the numbers in the form that are signed. */
export interface SignedRequest {
  readonly action: Readonly<Record<string, unknown>>
  readonly nonce: number
  readonly signature: { readonly r: string; readonly s: string; readonly v: number }
  readonly vaultAddress?: string
  readonly expiresAfter?: number
}

/** The fields of a user-signed action: https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/signing */
export type ActionTypes = Readonly<Record<string, readonly { readonly name: string; readonly type: string }[]>>

const verifyingContract = '0x0000000000000000000000000000000000000000'

/** Who signed it, in lower case; another signature is somebody else's. Undefined where nobody can have signed so. */
export function recoverSigner(request: SignedRequest, testnet: boolean, types?: ActionTypes): string | undefined {
  try {
    return (types ? recoverUserSigned(request, types) : recoverL1(request, testnet)).toLowerCase()
  } catch {
    // ethers throws for values of a signature that no key gives; there is nothing else to be said of it.
    return undefined
  }
}

function recoverL1({ action, nonce, signature, vaultAddress, expiresAfter }: SignedRequest, testnet: boolean): string {
  const connectionId = createL1ActionHash({
    action,
    nonce,
    ...(vaultAddress ? { vaultAddress: vaultAddress as `0x${string}` } : {}),
    ...(expiresAfter === undefined ? {} : { expiresAfter }),
  })
  const agent = [
    { name: 'source', type: 'string' },
    { name: 'connectionId', type: 'bytes32' },
  ]
  const domain = { name: 'Exchange', version: '1', chainId: 1337, verifyingContract }
  return verifyTypedData(domain, { Agent: agent }, { source: testnet ? 'b' : 'a', connectionId }, signature)
}

function recoverUserSigned({ action, signature }: SignedRequest, types: ActionTypes): string {
  const [primary = '', fields = []] = Object.entries(types)[0] ?? []
  const domain = { name: 'HyperliquidSignTransaction', version: '1', chainId: Number(action['signatureChainId']), verifyingContract }
  // An agent without a name signs an empty one.
  const message = Object.fromEntries(fields.map(({ name }) => [name, action[name] ?? '']))
  return verifyTypedData(domain, { [primary]: [...fields] }, message, signature)
}

/** By https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/nonces-and-api-wallets */
const kept = 100
const dayMs = 86_400_000

/** Whose nonces: a wallet's or an agent's, each by itself. */
export interface Nonces {
  /** Takes a nonce, or says why it cannot. */
  take(signer: string, nonce: number, now: number): string | undefined
  /** Of an agent that is none any more. */
  forget(signer: string): void
}

export function createNonces(): Nonces {
  const bySigner = new Map<string, { seen: Set<number>; highest: number[] }>()
  return {
    take: (signer, nonce, now) => {
      const known = bySigner.get(signer) ?? { seen: new Set(), highest: [] }
      bySigner.set(signer, known)
      if (known.seen.has(nonce)) return `Invalid nonce: duplicate nonce ${nonce}`
      const fixture = Math.max(now - 2 * dayMs, known.highest.length < kept ? 0 : known.highest[0]!)
      if (nonce <= fixture) return `Invalid nonce: nonce too low ${nonce} < ${fixture}`
      if (nonce >= now + dayMs) return `Invalid nonce: nonce too high ${nonce} > ${now + dayMs}`
      known.seen.add(nonce)
      insert(known.highest, nonce)
      if (known.highest.length > kept) known.highest.shift()
      return undefined
    },
    forget: (signer) => bySigner.delete(signer),
  }
}

function insert(sorted: number[], value: number) {
  let at = sorted.length
  while (at > 0 && sorted[at - 1]! > value) at--
  sorted.splice(at, 0, value)
}
