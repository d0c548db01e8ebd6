import type { Json } from '../../../contracts/index.ts'
import { instructionName, knownPrograms } from './instructions.ts'
import type { Executed } from './instructions.ts'
import type { SolanaReceipt } from '../../../../kits/solana/types.ts'

/** Lines of the runtime: agave `program-runtime/src/stable_log.rs`. */
const invoked = /^Program (\w{32,44}) invoke \[(\d+)\]$/
const ended = /^Program (\w{32,44}) (?:success|failed: .*)$/

interface Call {
  program: string
  /** 1 where the transaction itself calls it. */
  depth: number
  lines: string[]
}

/** The receipt with its log by calls of programs, in the order in which they began; known ones get `name` and `events: [{ name, value }]`. */
export function decodeLogs({ instructions, ...receipt }: SolanaReceipt): Json {
  return { ...receipt, logs: callsIn(receipt.logs).map((call, index) => explain(call, instructions[index])) }
}

export function callsIn(lines: readonly string[]): readonly Call[] {
  const calls: Call[] = []
  const open: Call[] = []
  for (const line of lines) {
    const [, program, depth] = invoked.exec(line) ?? []
    if (program !== undefined) {
      const call = { program, depth: Number(depth), lines: [] }
      calls.push(call)
      open.push(call)
      continue
    }
    open.at(-1)?.lines.push(line)
    if (ended.exec(line)?.[1] === open.at(-1)?.program) open.pop()
  }
  return calls
}

/** A log that was cut off, or is another's, names no instruction. */
function explain({ program, depth, lines }: Call, executed: Executed | undefined): Json {
  const name = knownPrograms.get(program)?.name
  const value = executed?.program === program ? instructionName(executed) : undefined
  const events = value === undefined ? [] : [{ name: 'instruction', value }]
  return { program, depth, ...(name !== undefined && { name, events }), lines }
}
