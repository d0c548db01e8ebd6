import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { address } from '@solana/kit'
import type { LiteSVM } from 'litesvm'
import pinned from '../../../core/devnet/solana-programs.json' with { type: 'json' }

/** Programs of others are in no repository of ours: the folder that this variable names has them, as `<name>.so`. */
export const programsVariable = 'SLUICE_SOLANA_PROGRAMS'

type RealProgram = keyof typeof pinned

interface Build {
  readonly sha256: string
}

/**
 * Its bytes, or why they are not there and how to get them: for tests, which are left out then. The first build that is known, else one that is named.
 * @param named the sha256 of further bytes, which the operator named in conf/connectors
 */
export function realProgram(
  name: RealProgram,
  folder: string | undefined = process.env[programsVariable],
  named: readonly string[] = [],
): Uint8Array | { missing: string } {
  const { id, sha256, builds } = pinned[name]
  if (!folder) return { missing: `${programsVariable} names no folder with ${name}.so: sluice devnet programs fetch <url of a node>` }
  const usual = path.join(folder, `${name}.so`)
  // Other bytes than those that were there are kept beside them: `fetch` writes the beginning of their sha256 into the name.
  const isOfIt = new RegExp(`^${name}(\\.[0-9a-f]{8})?\\.so$`)
  const files = existsSync(folder) ? readdirSync(folder).filter((file) => isOfIt.test(file)) : []
  if (files.length === 0) return { missing: `${usual} is missing: sluice devnet programs fetch <url of a node> --to ${folder} takes ${id}` }
  const bySha256 = new Map(
    files.map((file) => {
      const bytes = readFileSync(path.join(folder, file))
      return [createHash('sha256').update(bytes).digest('hex'), bytes] as const
    }),
  )
  const known: readonly string[] = [sha256, ...builds.map((each: Build) => each.sha256), ...named]
  const found = known.map((each) => bySha256.get(each)).find((bytes) => bytes !== undefined)
  const shown = [...bySha256.keys()].join(', ')
  const why = 'which the arithmetic was held against, and conf/connectors names none of them'
  return found ?? { missing: `${usual} has another sha256 than ${sha256} (${shown}), ${why}` }
}

/** @throws Error where the folder has not the pinned bytes */
export function addRealProgram(svm: LiteSVM, name: RealProgram, bytes: ReturnType<typeof realProgram> = realProgram(name)): void {
  if ('missing' in bytes) throw new Error(bytes.missing)
  svm.addProgram(address(pinned[name].id), bytes)
}
