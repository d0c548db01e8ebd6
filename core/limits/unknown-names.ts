// What conf/clients.yml names and nobody knows: a misspelt name allows nothing, so its client is refused and nobody is told why. Pure.
import { isSameAddress } from '../base/addresses.ts'
import type { Client, ClientLimits } from '../config/clients.ts'
import { amountProblems, isMistypedAddress, tokenNamed, unknownWords, type KnownNetwork, type KnownToken } from '../config/known-names.ts'
import { didYouMean } from '../config/problems.ts'
import { usualReferences } from '../config/settings-schema.ts'
import { referenceDecimals } from './limit-checks.ts'
import { networkPath } from '../base/networks.ts'

export interface KnownNames {
  readonly connectors: readonly string[]
  readonly networks: readonly KnownNetwork[]
  /** The common names of client certificates that were made here and not revoked. */
  readonly certificates: readonly string[]
  /** The addresses of keys; absent: they are not looked up. */
  readonly wallets?: readonly string[]
}

/** Of the setting `limits.referenceTokens`: a symbol that no network lists, which no value is counted in. Sentences for the operator. */
export const unknownReferences = (symbols: readonly string[], networks: readonly KnownNetwork[]): readonly string[] => {
  const listed = [...new Set(networks.flatMap(({ tokens }) => tokens.map(({ symbol }) => symbol)))]
  return symbols
    .filter((symbol) => !listed.includes(symbol) && !usualReferences.includes(symbol))
    .map((symbol) => `limits.referenceTokens has ${symbol}, and no network of this server lists such a token${didYouMean(symbol, listed)}.`)
}

/** A sentence for each, for the operator. */
export function unknownNames(clients: readonly Client[], known: KnownNames): readonly string[] {
  const entries = new Set(clients.map(({ name }) => name))
  const withoutEntry = known.certificates.filter((name) => !entries.has(name))
  return clients.flatMap((client) => [
    ...certificateProblems(client, known.certificates, withoutEntry),
    ...rightProblems(client, known.wallets),
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

/** What gives nothing: wallets without a key, addresses to send to without the permission, and receivers that are not among them. */
function rightProblems({ name, permissions, wallets, sendTo, limits }: Client, held?: readonly string[]): readonly string[] {
  const of = `of the client "${name}" in conf/clients.yml`
  const recipients = [...(sendTo?.values() ?? [])].flat()
  const unheld = wallets === 'all' || !held ? [] : wallets.filter((each) => !held.some((other) => isSameAddress(other, each)))
  return [
    ...unheld.map((each) => `wallets ${of} has ${each}, and the server holds no such wallet${didYouMean(each, held ?? [])}.`),
    ...(sendTo && !permissions.includes('send') ? [`sendTo ${of} gives nothing: the client has not the permission send.`] : []),
    ...(limits?.allowed?.recipients ?? [])
      .filter((each) => !recipients.some((other) => isSameAddress(other, each)))
      .map((each) => `limits.allowed.recipients ${of} has ${each}, and sendTo does not${didYouMean(each, recipients)}: it allows nothing.`),
  ]
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
    ...(allowed.pools ?? []).flatMap((name) => (isMistypedAddress(name) ? [mistyped('limits.allowed.pools', name)] : [])),
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

const mistyped = (key: string, name: string): LimitProblem => [
  key,
  `has ${name}, whose letters do not have the right checksum: copy the address again`,
]

/** An address may be of a token that nobody lists. */
function allowedTokenProblems(name: string, listed: readonly KnownToken[]): readonly LimitProblem[] {
  if (isMistypedAddress(name)) return [mistyped('limits.allowed.tokens', name)]
  if (name.startsWith('0x') || listed.some(({ symbol, address }) => symbol === name || isSameAddress(address, name))) return []
  const guess = didYouMean(name, [...new Set(listed.map(({ symbol }) => symbol))])
  return [
    [
      'limits.allowed.tokens',
      `has ${name}, and no network of this server lists such a token${guess}: it allows at most perpetuals whose market has this symbol`,
    ],
  ]
}
