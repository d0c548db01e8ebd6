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
