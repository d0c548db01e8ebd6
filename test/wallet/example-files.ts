import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { stringify } from 'yaml'
import { writeLock, type LockedPlugin } from '../../core/config/lock.ts'
import { newSealing, seal, sealKey } from '../../core/wallet/lock-seal.ts'
import type { SignerFiles } from '../../core/wallet/policy-files.ts'
import { allowedSpender, bridge, dollar, feeCapRaw, otherBridge, router, trustedSha256, wrapper } from './example-policy.ts'

const here = { contracts: { router, wrapper }, spenders: [router] }

/** What the operator allowed a connector: with conf, `examplePolicy` follows from it. */
export const book: LockedPlugin = {
  sha256: trustedSha256,
  tier: 'trusted',
  kind: 'connector',
  networks: { 'ethereum/local': here, 'ethereum/mainnet': here },
  signs: [{ domain: 'Book', primaryType: 'Order' }],
  deposits: [
    { chain: 'ethereum', network: 'local', token: dollar, recipient: bridge },
    { chain: 'ethereum', network: 'local', token: wrapper, recipient: otherBridge },
  ],
  hosts: [],
  allowedAt: '2026-11-22T15:00:00.000Z',
}

interface ExampleOptions {
  /** Seals the records. */
  readonly passphrase?: string
  readonly records?: Readonly<Record<string, LockedPlugin>>
  readonly conf?: Readonly<Record<string, object>>
}

const feeCap = Number(feeCapRaw / 10n ** 9n)

/** Files of an operator in this folder, from which the signer gets `examplePolicy`. */
export async function exampleFiles(
  folder: string,
  { passphrase, records = { book }, conf = {} }: ExampleOptions = {},
): Promise<SignerFiles> {
  const confDir = path.join(folder, 'conf')
  const files = { 'chains/ethereum.yml': { local: { feeCap }, mainnet: { feeCap } }, ...conf }
  for (const [name, content] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(confDir, name)), { recursive: true })
    await writeFile(path.join(confDir, name), stringify(content))
  }
  const sealing = passphrase === undefined ? undefined : newSealing(1024)
  const key = passphrase === undefined || sealing === undefined ? undefined : await sealKey(passphrase, sealing)
  const sealed = Object.entries(records).map(([name, record]) => [name, key ? seal(key, name, record) : record] as const)
  await writeLock(confDir, Object.fromEntries(sealed), sealing)
  return {
    confDir,
    plugins: ['ethereum', 'solana', ...Object.keys(records)],
    allowedSpenders: [allowedSpender],
    environment: {},
    tries: false,
  }
}
