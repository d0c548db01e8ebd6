// What files of limits name, held against what there is: networks, tokens and the amounts of both. Of conf/clients.yml and conf/limits.yml alike. Pure.
import { isSameAddress } from '../base/addresses.ts'
import { parseDecimal, rescale } from '../base/decimal.ts'
import { walletAddress } from '../keys/curves.ts'
import { didYouMean } from './problems.ts'
import type { NetworkName } from '../base/networks.ts'

/** A token of a list. */
export interface KnownToken {
  readonly address: string
  readonly symbol: string
  readonly decimals: number
}

export interface KnownNetwork extends NetworkName {
  readonly tokens: readonly KnownToken[]
}

/** The words for a name that is not among these; undefined: it is one of them. */
export const unknownWords = (name: string, known: readonly string[], what: string): string | undefined =>
  known.includes(name) ? undefined : `and this server has no such ${what}${didYouMean(name, known)}`

/** An address of EVM whose letters, small and large, are not those of its checksum. */
export const isMistypedAddress = (text: string): boolean => /^0x[0-9a-f]{40}$/i.test(text) && walletAddress(text) === undefined

/** By symbol or address. Or what is wrong with the name. */
export function tokenNamed(name: string, listed: readonly KnownToken[]): KnownToken | string {
  const [token, ...others] = listed.filter(({ symbol, address }) => symbol === name || isSameAddress(address, name))
  if (!token && isMistypedAddress(name)) return 'its letters do not have the right checksum. Copy the address again'
  if (!token)
    return `the network lists none of this name${didYouMean(
      name,
      listed.map(({ symbol }) => symbol),
    )}`
  return others.length > 0 ? 'the network lists several of this symbol. Write the address' : token
}

const windows = ['perTransaction', 'perHour', 'perDay'] as const

/** The windows of an amount whose limit allows nothing, or never refuses anything, with the words for it. */
export function amountProblems(
  amounts: Readonly<Partial<Record<(typeof windows)[number], string | number>>>,
  { decimals, symbol }: Pick<KnownToken, 'decimals' | 'symbol'>,
): readonly (readonly [window: string, words: string])[] {
  const set = windows.flatMap((name) => {
    const amount = amounts[name]
    if (amount === undefined) return []
    const { digits, scale } = parseDecimal(String(amount))
    return [{ name, amount, digits, raw: rescale(digits, scale, decimals) }]
  })
  return [
    ...set
      .filter(({ digits, raw }) => raw === 0n && digits !== 0n)
      .map(({ name, amount }) => [name, `is ${amount}, which is less than the smallest unit of ${symbol}: it allows nothing`] as const),
    ...set.flatMap(({ name, amount, raw }, index) => {
      const less = set.slice(index + 1).find((each) => each.raw < raw)
      return less ? [[name, `is ${amount}, which is above ${less.name} (${less.amount}): it never refuses anything`] as const] : []
    }),
  ]
}
