import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

/** The devnet files of this repository; the chain's is not the first, as the order must not matter. */
export const devnetFiles = ['uniswap', 'sushiswap', 'ethereum'].map((name) =>
  fileURLToPath(new URL(`../../plugins/${name}/devnet.ts`, import.meta.url)),
)

/**
 * A data folder that keeps what is deployed for later tests and runs, one for each set of these files: the devnet itself sees whether its inputs
 * changed. Deploying is tested in test/devnet.
 */
export function keptDataDir(files: readonly string[]): string {
  const names = files.map((file) => path.basename(path.dirname(file))).toSorted()
  return path.join(tmpdir(), `sluice-kept-devnets-${process.getuid?.() ?? ''}`, names.join('-'))
}

export async function temporaryFolder(): Promise<{ folder: string; remove(): Promise<void> }> {
  const folder = await mkdtemp(path.join(tmpdir(), 'sluice-devnet-'))
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) }
}
