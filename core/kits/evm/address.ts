import { getAddress } from 'ethers'

/** The checksummed spelling (EIP-55); undefined where the text is no address or its checksum is wrong. */
export function canonicalAddress(text: string): string | undefined {
  if (!/^0x[0-9a-fA-F]{40}$/.test(text)) return undefined
  try {
    return getAddress(text)
  } catch {
    return undefined
  }
}

export function isTransactionHash(text: string): boolean {
  return /^0x[0-9a-fA-F]{64}$/.test(text)
}

/** What stands for the native coin in answers. */
export const nativeAddress = '0x0000000000000000000000000000000000000000'
