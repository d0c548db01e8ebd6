import { getU64Decoder } from '@solana/kit'
import type { Fill, Json } from 'sluice/plugin'
import type { SolanaReceipt } from 'sluice/solana'

/** agave `program-runtime/src/stable_log.rs`, program_return. Programs' own lines begin with "Program log: ". */
const returned = /^Program return: (\w{32,44}) (\S+)$/
const wordSize = 8

/** The program returns what was paid and what was got. */
export function fillOf({ status, logs }: SolanaReceipt, memo: Json): Fill | undefined {
  const program = typeof memo === 'object' && memo !== null && 'program' in memo ? memo.program : undefined
  if (status !== 1) return undefined
  const data = logs.map((line) => returned.exec(line)).findLast((found) => found?.[1] === program)?.[2]
  const bytes = Buffer.from(data ?? '', 'base64')
  if (bytes.length !== 2 * wordSize) return undefined
  return { amountInRaw: getU64Decoder().decode(bytes), amountOutRaw: getU64Decoder().decode(bytes, wordSize) }
}
