// A network's tokens, by symbol and by address.
import { didYouMean } from '../config/problems.ts'
import type { At, Chain, Token } from '../contracts/index.ts'
import { badFields, SluiceError } from '../base/errors.ts'
import { dropOldest } from '../base/oldest.ts'
import { isPlain } from './looks.ts'

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
  /**
   * `resolve` for a list: those that only the chain knows in one round trip. Fails at the first unknown name.
   * @throws SluiceError as `resolve`, and INCOMPLETE_PARAMS for more than 20 that only the chain knows
   */
  resolveAll(names: readonly string[], field: string, at: At): Promise<readonly Token[]>
  /**
   * The same for an answer that can do without some: those of a name that is no token, or several, are told apart.
   * @throws SluiceError where no name is a token; that of a node in trouble
   */
  resolveEach(names: readonly string[], field: string, at: At): Promise<FoundTokens>
  /**
   * The listed token of a symbol or an address, without asking the chain; undefined for the address of another one.
   * @throws SluiceError as `resolve`
   */
  known(name: string, field: string): Token | undefined
  /** The listed token of an address. */
  listedAt(address: string): Token | undefined
  /** The listed tokens of a symbol, in any letter case, or of an address. */
  listedAs(name: string): readonly Token[]
  /** Puts a token on the list while the server runs. */
  add(token: Token): void
}

/** Unlisted tokens that are asked for in one request: each runs code of whoever deployed it. */
const maxAsked = 20

/** What the names of a request stand for. */
export interface FoundTokens {
  /** With the name that the request has. */
  readonly found: readonly { readonly name: string; readonly token: Token }[]
  readonly missing: readonly { readonly token: string; readonly reason: string }[]
}
/** Unlisted tokens that are cached. */
const maxUnlisted = 10_000

export function createTokenBook(chain: Chain, list: readonly Token[], where: string): TokenBook {
  const coin = chain.nativeCurrency
  // Where the native coin is a token itself, the list has it too.
  const coinAddresses = new Set([coin.address, ...(chain.coinAddresses ?? [])])
  let listed = [coin, ...list.filter(({ address }) => !coinAddresses.has(address))]
  let bySymbol = groupBy(listed, ({ symbol }) => symbol)
  let byFoldedSymbol = groupBy(listed, ({ symbol }) => symbol.toLowerCase())
  const byAddress = new Map(listed.map((token) => [token.address, token]))
  for (const address of coinAddresses) byAddress.set(address, coin)
  const unlisted = new Map<string, Token>()

  const noTokenAt = (address: string) => new SluiceError('TOKEN_NOT_SUPPORTED', `There is no token at ${address} on ${where}.`)

  async function fetchToken(address: string, at: At): Promise<Token> {
    return learn(address, await chain.token(address, at))
  }

  function learn(address: string, token: Token | undefined): Token {
    if (!token) throw noTokenAt(address)
    // What was learnt first is forgotten first, so that nobody can fill it for good.
    dropOldest(unlisted, maxUnlisted - 1)
    unlisted.set(address, token)
    return token
  }

  /** Those of these addresses that are tokens. Stops at the first trouble. */
  async function fetchEach(addresses: readonly string[], at: At): Promise<ReadonlyMap<string, Token>> {
    const batch = addresses.length > 1 ? await chain.tokens?.(addresses, at) : undefined
    const read = new Map<string, Token>()
    for (const [index, address] of addresses.entries()) {
      const token = batch ? batch[index] : await chain.token(address, at)
      if (token) read.set(address, learn(address, token))
    }
    return read
  }

  /** Several that are on no list. */
  async function fetchTokens(addresses: readonly string[], at: At): Promise<void> {
    const [first, ...others] = addresses
    if (first === undefined) return
    if (others.length > 0 && chain.tokens) {
      const found = await chain.tokens(addresses, at)
      for (const [index, address] of addresses.entries()) learn(address, found[index])
      return
    }
    for (const address of addresses) await fetchToken(address, at)
  }

  /** The known token, or the address of one to ask the chain for. */
  function find(name: string, field: string): Token | string {
    // The coin keeps its symbol, whatever lists name so.
    if (name === coin.symbol) return coin
    const known = byAddress.get(name) ?? unlisted.get(name)
    if (known) return known
    // An address is that of its token, whatever lists name so.
    const address = chain.address(name)
    if (address !== undefined) return byAddress.get(address) ?? unlisted.get(address) ?? address
    // On chains with a checksum in the letters' case, the lower-case spelling is the same address; on others it is another one.
    const lowerCase = name.toLowerCase()
    const checksummed = chain.address(lowerCase)
    if (checksummed !== undefined && checksummed !== lowerCase) throw wrongChecksum(name, field, where)
    const candidates = bySymbol.get(name) ?? withoutImpostors(byFoldedSymbol.get(lowerCase))
    if (candidates?.[0] && candidates.length === 1) return candidates[0]
    if (candidates) {
      const addresses = candidates.map(({ symbol, address: ofToken }) => `${symbol} ${ofToken}`)
      throw badFields([
        {
          field,
          problem: `"${name}" is the symbol of several tokens of the lists of ${where}; give the address: ${addresses.join(' or ')}`,
        },
      ])
    }
    throw new SluiceError(
      'TOKEN_NOT_SUPPORTED',
      `${field}: ${where} has no token "${name}"${didYouMean(name, [...bySymbol.keys()])}; give a symbol of GET /network/tokens or a token's address.`,
    )
  }

  const listedAt = (address: string) => (coinAddresses.has(address) ? coin : byAddress.get(address))

  const load = (found: Token | string, at: At) => (typeof found === 'string' ? fetchToken(found, at) : found)

  return {
    get listed() {
      return listed
    },
    resolve: (name, field, at) => load(find(name, field), at),
    async resolveAll(names, field, at) {
      const asked = new Set<string>()
      for (const name of names) {
        const found = find(name, field)
        if (typeof found === 'string') asked.add(found)
        // At once: to read a thousand checksums takes longer than most requests.
        if (asked.size > maxAsked) throw tooManyUnlisted(field, where)
      }
      await fetchTokens([...asked], at)
      return Promise.all(names.map(async (name) => load(find(name, field), at)))
    },
    async resolveEach(names, field, at) {
      const failures = new Map<string, SluiceError>()
      const known = new Map<string, Token | string>()
      const asked = new Set<string>()
      for (const name of new Set(names)) {
        try {
          const place = find(name, field)
          known.set(name, place)
          if (typeof place === 'string') asked.add(place)
        } catch (error) {
          if (!(error instanceof SluiceError)) throw error
          failures.set(name, error)
          // At once: to look for what a thousand names may mean takes longer than most requests.
          if (failures.size > maxAsked) throw error
        }
        if (asked.size > maxAsked) throw tooManyUnlisted(field, where)
      }
      const read = await fetchEach([...asked], at)
      for (const [name, place] of known) if (typeof place === 'string' && !read.has(place)) failures.set(name, noTokenAt(place))
      const [first] = failures.values()
      if (first && failures.size === new Set(names).size) throw first
      return {
        found: names.flatMap((name) => {
          const place = known.get(name)
          const token = typeof place === 'string' ? read.get(place) : place
          return token ? [{ name, token }] : []
        }),
        missing: [...failures].map(([token, { message }]) => ({ token, reason: message })),
      }
    },
    known(name, field) {
      const found = find(name, field)
      return listedAt(typeof found === 'string' ? found : found.address)
    },
    listedAt,
    listedAs(name) {
      const at = listedAt(chain.address(name) ?? chain.address(name.toLowerCase()) ?? name)
      return at ? [at] : (byFoldedSymbol.get(name.toLowerCase()) ?? [])
    },
    add(token) {
      listed = [...listed.filter(({ address }) => address !== token.address), token]
      bySymbol = groupBy(listed, ({ symbol }) => symbol)
      byFoldedSymbol = groupBy(listed, ({ symbol }) => symbol.toLowerCase())
      byAddress.set(token.address, token)
      unlisted.delete(token.address)
    },
  }
}

const wrongChecksum = (name: string, field: string, where: string) =>
  new SluiceError(
    'TOKEN_NOT_SUPPORTED',
    `${field}: the checksum of "${name}", in the case of its letters, is wrong on ${where}. Copy the address again, or write it in lower case.`,
  )

const tooManyUnlisted = (field: string, where: string) =>
  badFields([
    {
      field,
      problem: `has more than ${maxAsked} addresses that are on no list of ${where}, and a request may have ${maxAsked} of them: ask for the others apart`,
    },
  ])

/** Some characters become letters of ASCII in lower case, such as the Kelvin sign: what has them does not stand for the symbol of others. */
function withoutImpostors(tokens: readonly Token[] | undefined): readonly Token[] | undefined {
  const plain = tokens?.filter(({ symbol }) => isPlain(symbol))
  return plain === undefined || plain.length === 0 ? tokens : plain
}

function groupBy(tokens: readonly Token[], keyOf: (token: Token) => string): Map<string, Token[]> {
  const groups = new Map<string, Token[]>()
  for (const token of tokens) groups.set(keyOf(token), [...(groups.get(keyOf(token)) ?? []), token])
  return groups
}

/** A token's key in a map of a response: the listed spelling of a symbol, or the address if the request gave the address. */
export const responseKey = (requested: string | undefined, { symbol }: Token): string =>
  requested === undefined || requested.toLowerCase() === symbol.toLowerCase() ? symbol : requested
