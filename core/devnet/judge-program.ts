// Compares the bytes of a program with the arithmetic that quotes its pools: in a process of its own, which has a simulated cluster.
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { isObject } from '../base/json.ts'
import { builtDevnetRoot } from '../base/layout.ts'
import { printable } from '../base/printable.ts'

/** What a walk of swaps came to, for one version of the arithmetic. */
export interface Judgement {
  readonly is: 'equal' | 'different' | 'not compared'
  readonly version: string
  /** Swaps that moved what was quoted, and those that both refuse. */
  readonly swaps?: number
  readonly refused?: number
  readonly after?: number
  readonly why?: string
}

export interface JudgedProgram {
  readonly chain: string
  readonly name: string
  /** Where its bytes are. */
  readonly file: string
}

/** A walk of 300 swaps takes a quarter of a minute. */
const mostMs = 900_000
const maxOutput = 1024 * 1024

/** @throws Error that says why nothing could be compared */
export async function judgeProgram({ chain, name, file }: JudgedProgram, swaps: number): Promise<readonly Judgement[]> {
  const root = builtDevnetRoot()
  const judge = root && new URL(`plugins/${chain}/judge.js`, root)
  if (!judge || !existsSync(judge)) throw new Error('the package sluice-devnet is missing, which has a simulated cluster')
  const args = [fileURLToPath(judge), name, file, String(swaps)]
  const { PATH, HOME, TMPDIR } = process.env
  const options = { timeout: mostMs, maxBuffer: maxOutput, env: { PATH, HOME, TMPDIR } }
  const { stdout } = await promisify(execFile)(process.execPath, args, options).catch((error: unknown) => {
    const { stderr } = isObject(error) ? error : {}
    throw new Error(
      `the comparison ended with an error: ${printable(
        String(stderr ?? error)
          .trim()
          .slice(-300),
      )}`,
    )
  })
  return readJudgements(JSON.parse(stdout))
}

export function readJudgements(said: unknown): readonly Judgement[] {
  const found = Array.isArray(said) ? said.flatMap((each: unknown) => readJudgement(each) ?? []) : []
  if (found.length === 0) throw new Error('the comparison said nothing')
  return found
}

function readJudgement(said: unknown): Judgement | undefined {
  const { is, version, swaps, refused, after, why } = isObject(said) ? said : {}
  if ((is !== 'equal' && is !== 'different' && is !== 'not compared') || typeof version !== 'string') return undefined
  return {
    is,
    version: printable(version),
    ...(typeof swaps === 'number' && { swaps }),
    ...(typeof refused === 'number' && { refused }),
    ...(typeof after === 'number' && { after }),
    ...(typeof why === 'string' && { why: printable(why).slice(0, 300) }),
  }
}
