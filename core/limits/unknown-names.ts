// What conf/clients.yml names and nobody knows: a misspelt name allows nothing, so its client is refused and nobody is told why. Pure.
import { isSameAddress } from '../base/addresses.ts'
import { parseDecimal } from '../base/decimal.ts'
import type { AmountLimits, Client, ClientLimits } from '../config/clients.ts'
import { didYouMean } from '../config/problems.ts'
import { amountWindows, limitRaw, referenceDecimals, type LimitedToken } from './limit-checks.ts'

export interface KnownNames {
  readonly connectors: readonly string[]
  readonly networks: readonly { readonly chain: string; readonly network: string; readonly tokens: readonly LimitedToken[] }[]
  /** The common names of client certificates that were made here and not revoked. */
  readonly certificates: readonly string[]
}

/** A sentence for each, for the operator. */
export function unknownNames(clients: readonly Client[], known: KnownNames): readonly string[] {
  const entries = new Set(clients.map(({ name }) => name))
  const withoutEntry = known.certificates.filter((name) => !entries.has(name))
  return clients.flatMap((client) => [
    ...certificateProblems(client, known.certificates, withoutEntry),
    ...limitProblems(client.limits ?? {}, known).map(
      ([key, problem]) => `${key} of the client "${client.name}" in conf/clients.yml ${problem}.`,
    ),
  ])
}

/** Certificates may be made elsewhere, or later: only a similar one that has no entry tells of a mistake. */
function certificateProblems({ name, fingerprint }: Client, made: readonly string[], withoutEntry: readonly string[]): readonly string[] {
  if (fingerprint !== undefined || made.includes(name)) return []
  const guess = didYouMean(name, withoutEntry)
  if (guess === '') return []
  return [`No certificate that was made here has the name of the client "${name}" in conf/clients.yml${guess}. Its entry holds for nobody.`]
}

/** The key, and what is wrong with it. */
type LimitProblem = readonly [key: string, problem: string]

function limitProblems(limits: ClientLimits, known: KnownNames): readonly LimitProblem[] {
  const { allowed = {}, value = {}, tokens = {}, approveTokensAbove = {} } = limits
  const paths = known.networks.map(pathOf)
  const all = known.networks.flatMap(({ tokens: listed }) => listed)
  const networkProblems = (key: string, names: readonly string[]) => unlisted(key, names, paths, 'network')
  const byNetwork = (['maxFee', 'maxDailyGas'] as const).flatMap((key) => {
    const amount = limits[key]
    return typeof amount === 'object' ? networkProblems(`limits.${key}`, Object.keys(amount)) : []
  })
  return [
    ...unlisted('limits.allowed.connectors', allowed.connectors ?? [], known.connectors, 'connector'),
    ...networkProblems('limits.allowed.networks', allowed.networks ?? []),
    ...(allowed.tokens ?? []).flatMap((name) => allowedTokenProblems(name, all)),
    ...byNetwork,
    ...networkProblems('limits.tokens', Object.keys(tokens)),
    ...networkProblems('limits.approveTokensAbove', Object.keys(approveTokensAbove)),
    ...amountProblems('limits.value', value, { decimals: referenceDecimals, symbol: 'the reference token' }),
    ...known.networks.flatMap((on) => {
      const key = (name: string) => `limits.tokens["${pathOf(on)}"].${name}`
      return [
        ...Object.entries(tokens[pathOf(on)] ?? {}).flatMap(([name, amounts]) => {
          const found = tokenNamed(name, on.tokens)
          return typeof found === 'string' ? [[key(name), found] as const] : amountProblems(key(name), amounts, found)
        }),
        ...Object.keys(approveTokensAbove[pathOf(on)] ?? {}).flatMap((name): LimitProblem[] => {
          const found = tokenNamed(name, on.tokens)
          return typeof found === 'string' ? [[`limits.approveTokensAbove["${pathOf(on)}"].${name}`, found]] : []
        }),
      ]
    }),
  ]
}

const pathOf = ({ chain, network }: { readonly chain: string; readonly network: string }): string => `${chain}/${network}`

const unlisted = (key: string, names: readonly string[], known: readonly string[], what: string): readonly LimitProblem[] =>
  names.flatMap((name) =>
    known.includes(name) ? [] : [[key, `has ${name}, and this server has no such ${what}${didYouMean(name, known)}`]],
  )

/** An address may be of a token that nobody lists. */
function allowedTokenProblems(name: string, listed: readonly LimitedToken[]): readonly LimitProblem[] {
  if (name.startsWith('0x') || listed.some(({ symbol, address }) => symbol === name || isSameAddress(address, name))) return []
  const guess = didYouMean(name, [...new Set(listed.map(({ symbol }) => symbol))])
  return [
    [
      'limits.allowed.tokens',
      `has ${name}, and no network of this server lists such a token${guess}: it allows at most perpetuals whose market has this symbol`,
    ],
  ]
}

/** Or what is wrong with the name. */
function tokenNamed(name: string, listed: readonly LimitedToken[]): LimitedToken | string {
  const [token, ...others] = listed.filter(({ symbol, address }) => symbol === name || isSameAddress(address, name))
  if (!token)
    return `limits no token: the network lists none of this name${didYouMean(
      name,
      listed.map(({ symbol }) => symbol),
    )}`
  return others.length > 0 ? 'limits no token: the network lists several of this symbol. Write the address' : token
}

function amountProblems(
  key: string,
  amounts: AmountLimits,
  { decimals, symbol }: Pick<LimitedToken, 'decimals' | 'symbol'>,
): readonly LimitProblem[] {
  const set = amountWindows.flatMap(([name]) => {
    const amount = amounts[name]
    return amount === undefined ? [] : [{ name, amount, raw: limitRaw(amount, decimals) }]
  })
  return [
    ...set
      .filter(({ amount, raw }) => raw === 0n && parseDecimal(amount).digits !== 0n)
      .map(
        ({ name, amount }) =>
          [`${key}.${name}`, `is ${amount}, which is less than the smallest unit of ${symbol}: it allows nothing`] as const,
      ),
    ...set.flatMap(({ name, amount, raw }, index) => {
      const less = set.slice(index + 1).find((each) => each.raw < raw)
      return less
        ? [[`${key}.${name}`, `is ${amount}, which is above ${less.name} (${less.amount}): it never refuses anything`] as const]
        : []
    }),
  ]
}
