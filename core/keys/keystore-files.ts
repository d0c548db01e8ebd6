// The files of the keystore: `<dataDir>/keystore/<chain>/<address>.json`.
import { existsSync, linkSync, mkdirSync, readdirSync, rmdirSync, unlinkSync } from 'node:fs'
import path from 'node:path'

export const keystoreFolder = (dataDir: string): string => path.join(dataDir, 'keystore')

/** @param address in its canonical spelling */
export function keyFile(dataDir: string, chain: string, address: string): string {
  if (!/^[a-z0-9][a-z0-9-]*$/.test(chain)) throw new Error(`"${chain}" is not a valid chain name: use lower-case letters, digits and "-".`)
  return path.join(keystoreFolder(dataDir), chain, `${address}.json`)
}

/** Of the plugin of a chain whose exchange has the same name. */
const pluginEnding = '-chain'

/**
 * Moves keys to where requests look for them: up to version 0.2 `sluice wallet add` took the name of the plugin for that of its chain. A key that both folders have
 * stays in both.
 * @param chains the names of all chains
 * @returns a sentence for each that could not be moved
 */
export function moveFormerFolders(dataDir: string, chains: ReadonlySet<string>): readonly string[] {
  const moved: string[] = []
  const problems: string[] = []
  for (const { chain: folder, file, problem } of keystoreFiles(dataDir)) {
    const chain = folder.endsWith(pluginEnding) && !chains.has(folder) ? folder.slice(0, -pluginEnding.length) : folder
    if (problem !== undefined || chain === folder || !chains.has(chain)) continue
    const to = path.join(keystoreFolder(dataDir), chain, path.basename(file))
    try {
      mkdirSync(path.dirname(to), { recursive: true, mode: 0o700 })
      // Unlike a rename it replaces nothing.
      linkSync(file, to)
      unlinkSync(file)
      moved.push(to)
    } catch {
      if (!existsSync(to)) problems.push(`${file} is a key of the chain ${chain} and could not be moved: move it to ${to}.`)
    }
  }
  for (const folder of new Set(moved.map((file) => `${path.dirname(file)}${pluginEnding}`))) removeEmpty(folder)
  return problems
}

/** The system refuses while anything is in it. */
function removeEmpty(folder: string): void {
  try {
    rmdirSync(folder)
  } catch {
    // Something is in it.
  }
}

/** Whether there is any key, and so a passphrase is needed. Unreadable files count, since they may hold somebody's keys. */
export const keystoreHasKeys = (dataDir: string): boolean => keystoreFiles(dataDir).length > 0

export interface KeystoreFile {
  readonly chain: string
  readonly file: string
  /** Of a chain whose folder cannot be read, which is named in its place. */
  readonly problem?: string
}

export function keystoreFiles(dataDir: string): KeystoreFile[] {
  const folder = keystoreFolder(dataDir)
  if (!existsSync(folder)) return []
  const chains = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
  return chains.toSorted().flatMap((chain) => {
    const own = path.join(folder, chain)
    try {
      const names = readdirSync(own).filter((name) => name.endsWith('.json') && !name.startsWith('.'))
      return names.toSorted().map((name) => ({ chain, file: path.join(own, name) }))
    } catch {
      // The keys of other chains are in folders of their own.
      return [{ chain, file: own, problem: `${own} cannot be read; check its owner and mode.` }]
    }
  })
}
