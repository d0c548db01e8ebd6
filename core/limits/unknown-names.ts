// What conf/clients.yml names and nobody knows: a misspelt name allows nothing, so its client is refused and nobody is told why. Pure.
import { isSameAddress } from '../base/addresses.ts'
import type { Client, ClientLimits } from '../config/clients.ts'
import { amountProblems, networkPath, tokenNamed, unknownWords, type KnownNetwork, type KnownToken } from '../config/known-names.ts'
import { didYouMean } from '../config/problems.ts'
import { referenceDecimals } from './limit-checks.ts'

export interface KnownNames {
  readonly connectors: readonly string[]
  readonly networks: readonly KnownNetwork[]
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
  const paths = known.networks.map(networkPath)
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
    ...ofAmounts('limits.value', value, { decimals: referenceDecimals, symbol: 'the reference token' }),
    ...known.networks.flatMap((on) => {
      const key = (name: string) => `limits.tokens["${networkPath(on)}"].${name}`
      return [
        ...Object.entries(tokens[networkPath(on)] ?? {}).flatMap(([name, amounts]) => {
          const found = tokenNamed(name, on.tokens)
          return typeof found === 'string' ? [limitsNone(key(name), found)] : ofAmounts(key(name), amounts, found)
        }),
        ...Object.keys(approveTokensAbove[networkPath(on)] ?? {}).flatMap((name) => {
          const found = tokenNamed(name, on.tokens)
          return typeof found === 'string' ? [limitsNone(`limits.approveTokensAbove["${networkPath(on)}"].${name}`, found)] : []
        }),
      ]
    }),
  ]
}

const limitsNone = (key: string, why: string): LimitProblem => [key, `limits no token: ${why}`]

const ofAmounts = (key: string, ...amounts: Parameters<typeof amountProblems>): readonly LimitProblem[] =>
  amountProblems(...amounts).map(([window, words]) => [`${key}.${window}`, words])

const unlisted = (key: string, names: readonly string[], known: readonly string[], what: string): readonly LimitProblem[] =>
  names.flatMap((name) => {
    const words = unknownWords(name, known, what)
    return words === undefined ? [] : [[key, `has ${name}, ${words}`]]
  })

/** An address may be of a token that nobody lists. */
function allowedTokenProblems(name: string, listed: readonly KnownToken[]): readonly LimitProblem[] {
  if (name.startsWith('0x') || listed.some(({ symbol, address }) => symbol === name || isSameAddress(address, name))) return []
  const guess = didYouMean(name, [...new Set(listed.map(({ symbol }) => symbol))])
  return [
    [
      'limits.allowed.tokens',
      `has ${name}, and no network of this server lists such a token${guess}: it allows at most perpetuals whose market has this symbol`,
    ],
  ]
}
