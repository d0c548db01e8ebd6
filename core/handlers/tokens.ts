import { badFields, SluiceError } from '../api/index.ts'
import { nearest } from '../config/problems.ts'
import type { At, Chain, Token } from '../contracts/index.ts'
import { maxRaw, toRaw } from '../decimal.ts'

const mostUnlisted = 10_000

/** A network's tokens: by symbol, by address, and those that only the chain knows. */
export interface TokenBook {
  /** The native coin first, then the list. */
  readonly listed: readonly Token[]
  /**
   * The token that a caller means by a symbol (case-insensitive when unambiguous) or an address; at once where it is known.
   * @param field the request's field, for the error
   * @throws SluiceError TOKEN_NOT_SUPPORTED, or INCOMPLETE_PARAMS when several listed tokens share the symbol
   */
  resolve(name: string, field: string, at: At): Token | Promise<Token>
  /** The same for a list, as far as its first mistake. */
  resolveAll(names: readonly string[], field: string, at: At): Promise<readonly Token[]>
}

export function createTokenBook(chain: Chain, list: readonly Token[], where: string): TokenBook {
  // Where the coin is a token itself, the list has it too.
  const listed = [chain.nativeCurrency, ...list.filter(({ address }) => address !== chain.nativeCurrency.address)]
  const bySymbol = groupBy(listed, ({ symbol }) => symbol)
  const byFolded = groupBy(listed, ({ symbol }) => symbol.toLowerCase())
  const byAddress = new Map(listed.map((token) => [token.address, token]))
  const symbols = [...bySymbol.keys()]

  async function fromChain(address: string, at: At): Promise<Token> {
    const found = await chain.token(address, at)
    if (!found) throw new SluiceError('TOKEN_NOT_SUPPORTED', `There is no token at ${address} on ${where}.`)
    if (byAddress.size < mostUnlisted) byAddress.set(address, found)
    return found
  }

  /** The listed token, or the address of one that only the chain may know. */
  function find(name: string, field: string): Token | string {
    const candidates = bySymbol.get(name) ?? byFolded.get(name.toLowerCase())
    if (candidates?.[0] && candidates.length === 1) return candidates[0]
    if (candidates) {
      const addresses = candidates.map(({ symbol, address }) => `${symbol} ${address}`)
      throw badFields([
        { field, problem: `"${name}" is the symbol of several tokens on ${where}; give the address: ${addresses.join(' or ')}` },
      ])
    }
    const spelled = byAddress.get(name)
    if (spelled) return spelled
    const address = chain.address(name)
    if (address !== undefined) return byAddress.get(address) ?? address
    // Where another case is another spelling of an address, the chain has its own for it; elsewhere it is another address.
    const inLowerCase = name.toLowerCase()
    const spelt = chain.address(inLowerCase)
    if (spelt !== undefined && spelt !== inLowerCase) {
      throw new SluiceError(
        'TOKEN_NOT_SUPPORTED',
        `${field}: "${name}" is no address on ${where}: its checksum, in the letters' case, is wrong. Copy it anew, or write it in lower case.`,
      )
    }
    throw new SluiceError(
      'TOKEN_NOT_SUPPORTED',
      `${field}: ${where} has no token "${name}"${didYouMean(name, symbols)}; give a symbol of GET /network/tokens or a token's address.`,
    )
  }

  const known = (found: Token | string, at: At) => (typeof found === 'string' ? fromChain(found, at) : found)

  return {
    listed,
    resolve: (name, field, at) => known(find(name, field), at),
    async resolveAll(names, field, at) {
      const found = names.map((name) => find(name, field))
      return Promise.all(found.map(async (each) => known(each, at)))
    },
  }
}

/** Smallest units of an amount in a request. @throws SluiceError INCOMPLETE_PARAMS where the token cannot have that much, or that exactly */
export function readRaw(text: string, token: Token, field: string): bigint {
  const raw = toRaw(text, token.decimals)
  if (raw === undefined) throw badFields([{ field, problem: `${text} has more decimals than ${token.symbol} (${token.decimals})` }])
  if (raw >= maxRaw) throw badFields([{ field, problem: 'is more than any token can hold' }])
  return raw
}

/** The same of an amount that has to be more than 0. */
export function readPositiveRaw(text: string, token: Token, field: string): bigint {
  const raw = readRaw(text, token, field)
  if (raw === 0n) throw badFields([{ field, problem: 'must be more than 0' }])
  return raw
}

/** What a token answers under in a map: the listed spelling of a symbol; one that was asked for by address, that address. */
export const answerKey = (asked: string | undefined, { symbol }: Token): string =>
  asked === undefined || asked.toLowerCase() === symbol.toLowerCase() ? symbol : asked

function groupBy(tokens: readonly Token[], keyOf: (token: Token) => string): Map<string, Token[]> {
  const groups = new Map<string, Token[]>()
  for (const token of tokens) {
    const group = groups.get(keyOf(token))
    if (group) group.push(token)
    else groups.set(keyOf(token), [token])
  }
  return groups
}

/** ' (did you mean "x"?)', or nothing. */
export function didYouMean(name: string, known: readonly string[]): string {
  const candidate = nearest(name, known)
  return candidate === undefined ? '' : ` (did you mean "${candidate}"?)`
}
