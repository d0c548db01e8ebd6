import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { Interface, isHexString, type InterfaceAbi } from 'ethers'
import type { Artifact } from '../contracts/devnet.ts'
import { DevnetError } from './devnet-error.ts'

/** Reads `artifacts/<name>.json` in the folder of the module that asks for it. */
export async function readArtifact(name: string, moduleUrl: string): Promise<Artifact> {
  const file = fileURLToPath(new URL(`artifacts/${name}.json`, moduleUrl))
  const artifact: unknown = JSON.parse(await readFile(file, 'utf8'))
  if (!isArtifact(artifact))
    throw new DevnetError(
      `${file} is no artifact: it needs contractName, abi, bytecode and license. Write it again with scripts/artifacts.mjs.`,
    )
  return artifact
}

function isArtifact(value: unknown): value is Artifact {
  if (typeof value !== 'object' || value === null) return false
  return (
    'contractName' in value &&
    typeof value.contractName === 'string' &&
    'license' in value &&
    typeof value.license === 'string' &&
    'bytecode' in value &&
    isHexString(value.bytecode) &&
    'abi' in value &&
    isAbi(value.abi)
  )
}

function isAbi(value: unknown): value is InterfaceAbi {
  if (!Array.isArray(value)) return false
  try {
    return Interface.from(value).fragments.length === value.length
  } catch {
    return false
  }
}
