import { didYouMean } from '../config/problems.ts'
import type { At, Chain, Token } from '../contracts/index.ts'
import { maxRaw, toRaw } from '../decimal.ts'
import { badFields, SluiceError } from '../errors.ts'

/** A network's tokens: the listed ones by symbol and address, and those that only the chain knows by address. */
export interface TokenBook {
  /** The native coin first, then the list. */
  readonly listed: readonly Token[]
  /**
   * The token for a symbol (case-insensitive if unambiguous) or an address; without a promise if it is known.
   * @param field the request's field, for the error
   * @throws SluiceError TOKEN_NOT_SUPPORTED, or INCOMPLETE_PARAMS if several listed tokens have the symbol
   */
  resolve(name: string, field: string, at: At): Token | Promise<Token>
  /** `resolve` for a list. Fails at the first unknown name. */
  resolveAll(names: readonly string[], field: string, at: At): Promise<readonly Token[]>
}

/** Unlisted tokens that are cached. */
const maxUnlisted = 10_000

export function createTokenBook(chain: Chain, list: readonly Token[], where: string): TokenBook {
  // Where the native coin is a token itself, the list has it too.
  const listed = [chain.nativeCurrency, ...list.filter(({ address }) => address !== chain.nativeCurrency.address)]
  const bySymbol = groupBy(listed, ({ symbol }) => symbol)
  const byFoldedSymbol = groupBy(listed, ({ symbol }) => symbol.toLowerCase())
  const byAddress = new Map(listed.map((token) => [token.address, token]))
  const symbols = [...bySymbol.keys()]

  async function fetchToken(address: string, at: At): Promise<Token> {
    const token = await chain.token(address, at)
    if (!token) throw new SluiceError('TOKEN_NOT_SUPPORTED', `There is no token at ${address} on ${where}.`)
    if (byAddress.size < maxUnlisted) byAddress.set(address, token)
    return token
  }

  /** The known token, or the address of one to ask the chain for. */
  function find(name: string, field: string): Token | string {
    const candidates = bySymbol.get(name) ?? byFoldedSymbol.get(name.toLowerCase())
    if (candidates?.[0] && candidates.length === 1) return candidates[0]
    if (candidates) {
      const addresses = candidates.map(({ symbol, address }) => `${symbol} ${address}`)
      throw badFields([
        { field, problem: `"${name}" is the symbol of several tokens on ${where}; give the address: ${addresses.join(' or ')}` },
      ])
    }
    const known = byAddress.get(name)
    if (known) return known
    const address = chain.address(name)
    if (address !== undefined) return byAddress.get(address) ?? address
    // On chains with a checksum in the letters' case, the lower-case spelling is the same address; on others it is another one.
    const lowerCase = name.toLowerCase()
    const checksummed = chain.address(lowerCase)
    if (checksummed !== undefined && checksummed !== lowerCase) {
      throw new SluiceError(
        'TOKEN_NOT_SUPPORTED',
        `${field}: the checksum of "${name}", in the case of its letters, is wrong on ${where}. Copy the address again, or write it in lower case.`,
      )
    }
    throw new SluiceError(
      'TOKEN_NOT_SUPPORTED',
      `${field}: ${where} has no token "${name}"${didYouMean(name, symbols)}; give a symbol of GET /network/tokens or a token's address.`,
    )
  }

  const load = (found: Token | string, at: At) => (typeof found === 'string' ? fetchToken(found, at) : found)

  return {
    listed,
    resolve: (name, field, at) => load(find(name, field), at),
    async resolveAll(names, field, at) {
      const found = names.map((name) => find(name, field))
      return Promise.all(found.map(async (each) => load(each, at)))
    },
  }
}

/** An amount of a request in smallest units. @throws SluiceError INCOMPLETE_PARAMS if it has too many decimals or is too large */
export function readRaw(text: string, token: Token, field: string): bigint {
  const raw = toRaw(text, token.decimals)
  if (raw === undefined) throw badFields([{ field, problem: `${text} has more decimals than ${token.symbol} (${token.decimals})` }])
  if (raw >= maxRaw) throw badFields([{ field, problem: 'is more than any token can hold' }])
  return raw
}

/** `readRaw` for an amount that must be more than 0. */
export function readPositiveRaw(text: string, token: Token, field: string): bigint {
  const raw = readRaw(text, token, field)
  if (raw === 0n) throw badFields([{ field, problem: 'must be more than 0' }])
  return raw
}

/** A token's key in a map of a response: the listed spelling of a symbol, or the address if the request gave the address. */
export const responseKey = (requested: string | undefined, { symbol }: Token): string =>
  requested === undefined || requested.toLowerCase() === symbol.toLowerCase() ? symbol : requested

function groupBy(tokens: readonly Token[], keyOf: (token: Token) => string): Map<string, Token[]> {
  const groups = new Map<string, Token[]>()
  for (const token of tokens) groups.set(keyOf(token), [...(groups.get(keyOf(token)) ?? []), token])
  return groups
}
