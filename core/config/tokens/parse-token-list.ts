import { Type } from 'typebox'
import type { Token } from '../../contracts/index.ts'
import { compile } from '../check.ts'
import type { ConfigProblem } from '../problems.ts'
import { dotted } from '../yaml/pointer.ts'
import { schemaProblems } from '../checks/schema-problems.ts'

// The parts of the Uniswap Token Lists format that are used; the rest (name, logoURI, tags …) may say what it likes.
// No invisible characters in symbols: a symbol that looks like another one must not be another one.
const validate = compile(
  Type.Object({
    tokens: Type.Array(
      Type.Object({
        chainId: Type.Integer({ minimum: 1, description: 'the number of the chain' }),
        address: Type.String({ pattern: '^[!-~]{1,128}$', description: 'the address, without spaces' }),
        symbol: Type.String({
          pattern: '^[^\\s\\p{C}]([^\\p{C}]{0,62}[^\\s\\p{C}])?$',
          description: 'the symbol, up to 64 visible characters',
        }),
        decimals: Type.Integer({ minimum: 0, maximum: 255, description: 'the decimals of the token' }),
      }),
    ),
  }),
)

/** So that a wholly wrong file does not fill the screen. */
const mostProblems = 10

export interface TokenListScope {
  chainId: number
  /** A list of this network alone, where an entry of another chain is a mistake. */
  own: boolean
}

/** Reads a list in the Uniswap Token Lists format and picks the chain's tokens. Problems are added to `problems`. */
export function parseTokenList(text: string, file: string, { chainId, own }: TokenListScope, problems: ConfigProblem[]): Token[] {
  const report = (path: string, problem: string, cure: string) => void problems.push({ file, path, problem, cure })
  const list = fromJson(text)
  if (list instanceof Error) {
    report('', `is not JSON: ${list.message}`, 'Correct the file; it is in the Uniswap Token Lists format.')
    return []
  }
  if (!validate(list)) {
    const found = schemaProblems(validate.errors ?? [])
    for (const { pointer, problem, cure } of found.slice(0, mostProblems)) report(dotted(pointer), problem, cure)
    if (found.length > mostProblems)
      report('', `has ${found.length - mostProblems} more such problems`, 'Correct the file; it is in the Uniswap Token Lists format.')
    return []
  }
  const tokens = new Map<string, Token>()
  for (const [index, { chainId: of, symbol, address, decimals }] of list.tokens.entries()) {
    const entry = `tokens[${index}]`
    if (of !== chainId) {
      if (own)
        report(
          `${entry}.chainId`,
          `(${symbol}) is ${of}, and this network's is ${chainId}`,
          `Write ${chainId}, or move the entry to its own network's file.`,
        )
      continue
    }
    const before = tokens.get(tokenKey(address))
    if (before && (before.decimals !== decimals || before.symbol !== symbol))
      report(
        `${entry}.address`,
        `(${symbol}) is also that of another entry, ${before.symbol} with ${before.decimals} decimals`,
        'Keep the right one.',
      )
    tokens.set(tokenKey(address), { symbol, address, decimals })
  }
  return [...tokens.values()]
}

/** What makes two spellings of an address one: the case of hexadecimal digits is only a checksum, that of other alphabets counts. */
export function tokenKey(address: string): string {
  return /^0x[0-9a-f]+$/i.test(address) ? address.toLowerCase() : address
}

function fromJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  }
}
