import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { address } from '@solana/kit'
import type { LiteSVM } from 'litesvm'
import pinned from '../../../core/devnet/solana-programs.json' with { type: 'json' }

/** Programs of others are in no repository of ours: the folder that this variable names has them, as `<name>.so`. */
export const programsVariable = 'SLUICE_SOLANA_PROGRAMS'

type RealProgram = keyof typeof pinned

/** Its bytes, or why they are not there and how to get them: for tests, which are left out then. */
export function realProgram(
  name: RealProgram,
  folder: string | undefined = process.env[programsVariable],
): Uint8Array | { missing: string } {
  const { id, sha256 } = pinned[name]
  if (!folder) return { missing: `${programsVariable} names no folder with ${name}.so: sluice devnet programs fetch <url of a node>` }
  const file = path.join(folder, `${name}.so`)
  if (!existsSync(file)) return { missing: `${file} is missing: sluice devnet programs fetch <url of a node> --to ${folder} takes ${id}` }
  const bytes = readFileSync(file)
  if (createHash('sha256').update(bytes).digest('hex') !== sha256)
    return { missing: `${file} has another sha256 than ${sha256}, which the arithmetic was held against` }
  return bytes
}

/** @throws Error where the folder has not the pinned bytes */
export function addRealProgram(svm: LiteSVM, name: RealProgram): void {
  const bytes = realProgram(name)
  if ('missing' in bytes) throw new Error(bytes.missing)
  svm.addProgram(address(pinned[name].id), bytes)
}
