// What the signer knows by itself of networks and tokens: what conf/limits.yml names is held against it, by the signer and by whoever starts one.
import { addressKey, isSameAddress } from '../base/addresses.ts'
import type { KnownNetwork } from '../config/known-names.ts'
import { readWalletLimits, shownLimitsFile } from '../config/limits-file.ts'
import { readLock, type PluginLock } from '../config/lock.ts'
import { ConfigError, didYouMean } from '../config/problems.ts'
import type { Settings } from '../config/settings.ts'
import { dottedPath } from '../config/tree.ts'
import { doubtfulLimits, unknownProblems, type SigningNetwork, type SigningNetworks } from '../config/wallet-limit-names.ts'
import type { WalletLimits } from '../config/wallet-limits.ts'
import { hasCount, withoutCount } from './limits/count-file.ts'
import { listedTokens } from './listed-tokens.ts'
import { readReleasePolicy } from './release-policy.ts'
import { networkPath } from '../base/networks.ts'

/** The networks of the release and of records, with the tokens of the lists that the signer reads. @param records undefined: they cannot be read */
export function signingNetworks(confDir: string, records: PluginLock | undefined): SigningNetworks {
  const release = readReleasePolicy()
  const lists = listedTokens(release, confDir, ['secp256k1', 'ed25519'])
  const networkOf = (path: string, keys: SigningNetwork['keys']): SigningNetwork => {
    const [chain = '', network = ''] = path.split('/')
    return { chain, network, keys, tokens: Object.hasOwn(lists, path) ? (lists[path] ?? []) : [] }
  }
  const released = Object.values(release.chains).flatMap(({ chain, keys, networks }) =>
    Object.keys(networks).map((network) => networkOf(`${chain}/${network}`, keys)),
  )
  const recorded = Object.values(records ?? {}).flatMap(({ kind, keys, networks }) =>
    kind === 'chain' ? Object.keys(networks).map((path) => networkOf(path, keys)) : [],
  )
  return { networks: [...released, ...recorded], ...(!records && { isIncomplete: true }) }
}

/** `conf/limits.yml` as the signer goes by it. */
export interface SigningLimits {
  readonly limits: WalletLimits
  /** What holds, and is probably not what was meant: sentences for the operator. */
  readonly doubtful: readonly string[]
  /** Of tokens, by `chain/network` and address: for people. Empty without limits. */
  readonly symbols: Readonly<Record<string, Readonly<Record<string, string>>>>
}

/** @throws ConfigError with every problem */
export function readSigningLimits(confDir: string): SigningLimits {
  let known: SigningNetworks | undefined
  const limits = readWalletLimits(confDir, () => (known = signingNetworks(confDir, recordsOf(confDir))))
  return {
    limits,
    doubtful: known ? doubtfulLimits(limits, known, shownLimitsFile(confDir)) : [],
    symbols: known ? symbolsOf(known) : {},
  }
}

/** The keys of a signer: its wallets, and in words those that it could not open. */
export interface HeldKeys {
  wallets(): readonly { readonly address: string }[]
  locked(): readonly string[]
}

/** `conf/limits.yml` as a server finds it that has its own signer. */
export interface ServedLimits {
  readonly limits: WalletLimits
  /** Why nothing is signed for the wallets that it names. */
  readonly withoutCount?: string
  /** What holds, and is probably not what was meant. */
  readonly doubtful: readonly string[]
}

/** @param keys absent: nobody has opened them @returns undefined where no wallet has limits @throws ConfigError */
export function servedLimits(
  { confDir, data }: Pick<Settings, 'confDir' | 'data'>,
  networks: readonly KnownNetwork[],
  keys?: HeldKeys,
): ServedLimits | undefined {
  const { limits } = readSigningLimits(confDir)
  const wallets = Object.keys(limits).length
  if (wallets === 0) return undefined
  return {
    limits,
    ...(!hasCount(data.dir) && { withoutCount: withoutCount(wallets) }),
    doubtful: [...(keys ? unboundWallets(limits, keys) : []), ...doubtfulByServer(limits, confDir, networks)],
  }
}

/** Of each wallet of conf/limits.yml of which there is no key, a sentence. A key that is locked counts as there. */
export function unboundWallets(limits: WalletLimits, keys: HeldKeys): readonly string[] {
  const addresses = keys.wallets().map(({ address }) => address)
  const locked = keys.locked().join(' ').toLowerCase()
  return Object.keys(limits).flatMap((wallet) => {
    if (addresses.some((each) => isSameAddress(each, wallet)) || locked.includes(wallet.toLowerCase())) return []
    return [
      `The limits of the wallet ${wallet} in conf/limits.yml bound nothing: no key here is of that address${didYouMean(wallet, addresses)}.`,
    ]
  })
}

/**
 * What is doubtful by what the server knows, which has more lists than the signer: those that conf names elsewhere, of plugins, and tokens that it
 * was given while it ran. Their authors are not asked what the signer signs, so what they say otherwise refuses nothing.
 */
function doubtfulByServer(limits: WalletLimits, confDir: string, served: readonly KnownNetwork[]): readonly string[] {
  const file = shownLimitsFile(confDir)
  const own = signingNetworks(confDir, recordsOf(confDir)).networks
  const isSame = (one: KnownNetwork | SigningNetwork) => (other: KnownNetwork | SigningNetwork) => networkPath(one) === networkPath(other)
  const known = served.map((on): SigningNetwork => ({ ...on, keys: own.find(isSame(on))?.keys }))
  return [
    ...unknownProblems(limits, { networks: known, isIncomplete: true }).map(
      ({ pointer, problem, remedy }) => `${dottedPath(pointer)} in ${file} ${problem}. ${remedy}`,
    ),
    ...doubtfulLimits(limits, { networks: [...known, ...own.filter((on) => !known.some(isSame(on)))] }, file),
  ]
}

/** Undefined where the lock cannot be read: the loader says why. */
function recordsOf(confDir: string): PluginLock | undefined {
  try {
    return readLock(confDir)
  } catch (error) {
    if (error instanceof ConfigError) return undefined
    throw error
  }
}

const symbolsOf = ({ networks }: SigningNetworks): SigningLimits['symbols'] =>
  Object.fromEntries(
    networks.map((each) => [
      networkPath(each),
      Object.fromEntries(each.tokens.flatMap(({ address, symbol }) => (symbol === undefined ? [] : [[addressKey(address), symbol]]))),
    ]),
  )
