import { createRequire } from 'node:module'
import { DevnetError } from './devnet-error.ts'

export interface AnvilBinary {
  path: string
  version: string
}

// npm's names for the processor and those of the packages.
const packageArch: Partial<Record<NodeJS.Architecture, string>> = { x64: 'amd64', arm64: 'arm64' }

/** The anvil that npm installed for this machine, without the Node program around it. */
export function anvilBinary(): AnvilBinary {
  const arch = packageArch[process.arch]
  // The watchdog is a script of the POSIX shell.
  if (!arch || process.platform === 'win32') throw missing('There is no devnet for this system')
  try {
    // From the package that depends on it, since npm need not put the binary's package at the top.
    const anvil = createRequire(createRequire(import.meta.url).resolve('@foundry-rs/anvil/package.json'))
    const platform = `@foundry-rs/anvil-${process.platform}-${arch}`
    const manifest: unknown = anvil(`${platform}/package.json`)
    return { path: anvil.resolve(`${platform}/bin/anvil`), version: versionOf(manifest) }
  } catch (cause) {
    throw missing('The devnet needs anvil, and it is not installed', cause)
  }
}

function missing(what: string, cause?: unknown): DevnetError {
  const system = `${process.platform}-${process.arch}`
  const cure = 'run `npm install --include=dev --include=optional`, or do without the devnet: devnet.enabled: false in conf/server.yml'
  return new DevnetError(`${what} (${system}): ${cure} (environment: SLUICE_DEVNET_ENABLED=false).`, { cause })
}

function versionOf(manifest: unknown): string {
  if (typeof manifest === 'object' && manifest !== null && 'version' in manifest && typeof manifest.version === 'string')
    return manifest.version
  throw new Error('The package of anvil has no version.')
}
