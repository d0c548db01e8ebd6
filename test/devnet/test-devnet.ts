import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

/** The devnet files of this repository; the chain's is not the first, as the order must not matter. */
export const devnetFiles = ['uniswap', 'sushiswap', 'ethereum'].map((name) =>
  fileURLToPath(new URL(`../../plugins/${name}/devnet.ts`, import.meta.url)),
)

export async function temporaryFolder(): Promise<{ folder: string; remove(): Promise<void> }> {
  const folder = await mkdtemp(path.join(tmpdir(), 'sluice-devnet-'))
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) }
}
