// ethers hashes the same short texts again and again, in JavaScript: an address for its checksum, a signature for its selector.
import { keccak256 } from 'ethers'

/** An address is hashed as 40 bytes. What is longer, such as a transaction, comes once. */
const longestKept = 64
const mostKept = 8_000

/** From now on ethers hashes a short text once. */
export function keepShortHashes(): void {
  const hashOf = keccak256._
  const kept = new Map<string, Uint8Array>()
  keccak256.register((data) => {
    if (data.length > longestKept) return hashOf(data)
    const key = Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('latin1')
    const known = kept.get(key)
    if (known !== undefined) return known
    const hash = hashOf(data)
    if (kept.size === mostKept) kept.clear()
    kept.set(key, hash)
    return hash
  })
}
