// Which symbols of tokens look alike: by Unicode's list of confusable characters (UTS #39), in any letter case.
import type { Token } from '../contracts/index.ts'
import confusables from './confusables.json' with { type: 'json' }

/** By a character, the characters that stand for all that look like it. Made when it is first needed. */
let prototypes: ReadonlyMap<string, string> | undefined

const prototypeOf = (character: string): string => {
  prototypes ??= new Map(
    Object.entries(confusables.looks).flatMap(([look, characters]) => Array.from(characters).map((each) => [each, look] as const)),
  )
  return prototypes.get(character) ?? character
}

const unseen = /[\p{Default_Ignorable_Code_Point}\p{C}\p{Z}]/gu

/** https://www.unicode.org/reports/tr39/#Confusable_Detection */
const skeletonOf = (text: string): string => text.normalize('NFD').replace(unseen, '').replace(/./gsu, prototypeOf).normalize('NFD')

/** Without marks and signs, in one letter case. In some cases of letters i, l and 1 look alike, and so do o and 0; ₮ is Tether's T. */
const foldedOf = (skeleton: string): string =>
  skeleton
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[i1|]/g, 'l')
    .replaceAll('0', 'o')
    .replaceAll('₮', 't')
    .replace(/[^\p{L}\p{N}.+-]/gu, '')

/** How a symbol looks as it is, in small letters and in capitals: a letter may have a twin in one case only. */
function looksOf(symbol: string): ReadonlySet<string> {
  const plain = symbol.normalize('NFKC')
  return new Set([plain, plain.toLowerCase(), plain.toUpperCase()].map((each) => foldedOf(skeletonOf(each))).filter((look) => look !== ''))
}

/** Whether a symbol has nothing but characters of ASCII: what others imitate. */
export const isPlain = (symbol: string): boolean => /^[\u0020-\u007e]*$/.test(symbol)

interface RankedToken {
  readonly token: Token
  /** Its place in the list. */
  readonly rank: number
}

const indexes = new WeakMap<readonly Token[], ReadonlyMap<string, readonly RankedToken[]>>()

/** The listed tokens by how they look. */
function indexOf(listed: readonly Token[]): ReadonlyMap<string, readonly RankedToken[]> {
  const known = indexes.get(listed)
  if (known) return known
  const index = new Map<string, RankedToken[]>()
  for (const [rank, token] of listed.entries())
    for (const look of looksOf(token.symbol)) index.set(look, [...(index.get(look) ?? []), { token, rank }])
  indexes.set(listed, index)
  return index
}

/**
 * The listed token whose symbol another one has, or one that looks like it. Of two the one of ASCII is the original, so that an impostor on a list
 * never stands in the way of what it imitates. Of two listed ones of a kind it is the first, unless their symbols differ by letter case alone.
 * @param listed the list as it is in force; whether the token itself is on it does not matter
 */
export function originalOf({ symbol, address }: Pick<Token, 'symbol' | 'address'>, listed: readonly Token[]): Token | undefined {
  const index = indexOf(listed)
  const alike = [...looksOf(symbol)].flatMap((look) => index.get(look) ?? []).toSorted((one, other) => one.rank - other.rank)
  const own = alike.find(({ token }) => token.address === address)
  const originals = alike.filter(({ token, rank }) => {
    if (token.address === address) return false
    if (isPlain(token.symbol) !== isPlain(symbol)) return isPlain(token.symbol)
    return own === undefined || (rank < own.rank && token.symbol.toLowerCase() !== symbol.toLowerCase())
  })
  return (originals.find(({ token }) => isPlain(token.symbol)) ?? originals[0])?.token
}
