import { mkdirSync, readFileSync } from 'node:fs'
import { rename, writeFile } from 'node:fs/promises'
import path from 'node:path'
import Type, { type Static } from 'typebox'
import { Value } from 'typebox/value'
import type { Log } from '../../contracts/index.ts'

const Token = Type.Object({
  symbol: Type.String(),
  address: Type.String(),
  decimals: Type.Integer({ minimum: 0, maximum: 255 }),
  native: Type.Optional(Type.Literal(true)),
})

/** Two tokens that an exchange was asked about. */
const QuotedPair = Type.Object({
  chain: Type.String(),
  network: Type.String(),
  connector: Type.String(),
  version: Type.Optional(Type.String()),
  tokenIn: Token,
  tokenOut: Token,
})
const Kept = Type.Array(QuotedPair)

export type QuotedPair = Static<typeof QuotedPair>

/** What was asked about when the server ran last, newest first: so that its pools are in memory before it is asked about again. */
export interface QuotedPairs {
  readonly known: readonly QuotedPair[]
  /** Never fails: what cannot be kept is only read anew. */
  keep(pairs: readonly QuotedPair[]): Promise<void>
}

/** In one file of the server's data; what is damaged is left. */
export function quotedPairs(dataDir: string, log: Log): QuotedPairs {
  const file = path.join(dataDir, 'quoted-pairs.json')
  let writing = Promise.resolve()
  return {
    known: readPairs(file, log),
    keep(pairs) {
      writing = writing.then(async () => {
        try {
          mkdirSync(dataDir, { recursive: true })
          await writeFile(`${file}.new`, JSON.stringify(pairs))
          await rename(`${file}.new`, file)
        } catch (cause) {
          log.warn({ err: cause, file }, 'which pairs were asked about cannot be remembered')
        }
      })
      return writing
    },
  }
}

function readPairs(file: string, log: Log): readonly QuotedPair[] {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch {
    // Nobody asked yet, or what there is cannot be read, which keeping it will say.
    return []
  }
  try {
    return Value.Parse(Kept, JSON.parse(text))
  } catch (cause) {
    log.warn({ err: cause, file }, 'which pairs were asked about is not in the file that should have it')
    return []
  }
}
