import { randomInt } from 'node:crypto'
import { isPortFree } from '../core/devnet/anvil.ts'

/**
 * For a server that has to be told its port, or comes back on the one that it had. Port 0 gives one of those that the system hands out
 * (from 32768 on Linux, from 49152 elsewhere), and hands it to somebody else before it is taken again; nobody is handed one of these.
 */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < 100; tries += 1) {
    const port = randomInt(20_000, 32_000)
    if (await isPortFree('127.0.0.1', port)) return port
  }
  throw new Error('Of a hundred ports between 20000 and 32000 none is free.')
}
