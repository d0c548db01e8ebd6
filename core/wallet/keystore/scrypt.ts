import { scrypt as nodeScrypt } from 'node:crypto'
import { promisify } from 'node:util'
import { scrypt } from 'ethers/crypto'

const derive = promisify<Uint8Array, Uint8Array, number, { N: number; r: number; p: number; maxmem: number }, Buffer>(nodeScrypt)

/** Files of other programs use up to 256 MiB; a file that asks for more than this is broken or hostile. */
const mostMemoryBytes = 1024 ** 3

/** Lets ethers derive keys in OpenSSL's threads: several at once, and the event loop stays free. Call once per process. */
export function useNativeScrypt(): void {
  scrypt.register(async (passphrase, salt, N, r, p, lengthBytes) => {
    const memoryBytes = 128 * N * r + 128 * r * p
    if (memoryBytes > mostMemoryBytes) throw new Error('its scrypt parameters ask for more than 1 GiB of memory')
    return derive(passphrase, salt, lengthBytes, { N, r, p, maxmem: memoryBytes + 1024 ** 2 })
  })
}
