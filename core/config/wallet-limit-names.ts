// What `conf/limits.yml` names, held against what the signer knows: wallets, networks, tokens and their decimals. A row of a wrong one would bound
// something else, or nothing. Pure.
import { isSameAddress } from '../base/addresses.ts'
import { curves, walletAddress, type CurveName } from '../keys/curves.ts'
import { amountProblems, isMistypedAddress, type KnownNetwork, type KnownToken } from './known-names.ts'
import { nearest, suggestion } from './problems.ts'
import { pointerOf, type TreeProblem } from './tree.ts'
import {
  withdrawalDecimals,
  type LimitRow,
  type LimitsAsFarAsRight,
  type LimitsOfNetworkAsFarAsRight,
  type WalletLimits,
} from './wallet-limits.ts'
import { networkPath } from '../base/networks.ts'

/** A network that the signer signs on. What a list does not say of a token is absent. */
export interface SigningNetwork extends Omit<KnownNetwork, 'tokens'> {
  /** Of its wallets; absent where it is not known. */
  readonly keys?: CurveName | undefined
  readonly tokens: readonly (Pick<KnownToken, 'address'> & Partial<KnownToken>)[]
}

export interface SigningNetworks {
  readonly networks: readonly SigningNetwork[]
  /** There may be others: sluice.lock cannot be read. */
  readonly isIncomplete?: boolean
}

/** What is wrong with the addresses themselves, and with numbers that are not exact: whatever there is. */
export function spellingProblems(wallets: LimitsAsFarAsRight): readonly TreeProblem[] {
  return Object.entries(wallets).flatMap(([wallet, networks]) => [
    ...addressProblems(['wallets', wallet], Object.keys(wallets), 'wallet'),
    ...Object.entries(networks).flatMap(([path, limits]) => {
      const tokens = Object.keys(limits.tokens ?? {})
      return [
        // Symbols are told where the lists are known.
        ...tokens
          .filter((token) => looksLikeAddress(token))
          .flatMap((token) => addressProblems(['wallets', wallet, path, 'tokens', token], tokens, 'token')),
        ...rowsOf(limits).flatMap(({ at, row }) => inexactProblems(['wallets', wallet, path, ...at], row)),
      ]
    }),
  ])
}

const looksLikeAddress = (text: string): boolean => /^0x/i.test(text) || walletAddress(text) !== undefined

/** As it is compared: an address of EVM without 0x, or as an IBAN, is another text. */
const isAddress = (text: string): boolean => isSameAddress(walletAddress(text) ?? '', text)

function addressProblems(at: readonly string[], beside: readonly string[], what: 'wallet' | 'token'): readonly TreeProblem[] {
  const [address = ''] = at.slice(-1)
  const pointer = pointerOf(at)
  if (!isAddress(address))
    return [
      isMistypedAddress(address)
        ? {
            pointer,
            problem: `is no address: its letters do not have the right checksum, so it would bound no ${what}`,
            remedy: 'Copy the address again.',
          }
        : {
            pointer,
            problem: `is no address, so it would bound no ${what}`,
            remedy: `Write the address of the ${what}, complete and, on EVM chains, with 0x.`,
          },
    ]
  const other = beside.slice(0, beside.indexOf(address)).find((each) => isSameAddress(each, address))
  return other === undefined ? [] : [{ pointer, problem: `is the ${what} ${other} in another spelling`, remedy: 'Keep one of the two.' }]
}

/** So many digits a number has for certain. */
const exactDigits = 15

const inexactProblems = (at: readonly string[], row: Partial<LimitRow>): readonly TreeProblem[] =>
  (['perTransaction', 'perHour', 'perDay'] as const).flatMap((window) => {
    const amount = row[window]
    const digits = typeof amount === 'number' ? amount.toString().replace(/e.*$/, '').replace('.', '').replace(/^0+/, '') : ''
    return digits.length <= exactDigits
      ? []
      : [
          {
            pointer: pointerOf([...at, window]),
            problem: 'is a number of too many digits to be exact',
            remedy: 'Put quotes around it.',
          },
        ]
  })

/** What names something that the signer does not know, or otherwise: each refuses the file. */
export function unknownProblems(wallets: LimitsAsFarAsRight, { networks, isIncomplete = false }: SigningNetworks): readonly TreeProblem[] {
  return Object.entries(wallets).flatMap(([wallet, byNetwork]) =>
    Object.entries(byNetwork).flatMap(([path, limits]): readonly TreeProblem[] => {
      const at = ['wallets', wallet, path]
      const network = networks.find((each) => networkPath(each) === path)
      if (!network) {
        const problem = 'is no network that the signer signs on, so it would bound nothing'
        return isIncomplete ? [] : [{ pointer: pointerOf(at), problem, remedy: suggestion(path, networks.map(networkPath)) }]
      }
      const { keys } = network
      if (keys !== undefined && isAddress(wallet) && curves[keys].address(wallet) === undefined) {
        const problem = "is a network whose wallets have other addresses than this one's, so it would bound nothing"
        return [{ pointer: pointerOf(at), problem, remedy: 'Move it to a wallet of that network.' }]
      }
      return Object.entries(limits.tokens ?? {}).flatMap(([token, { decimals }]) =>
        tokenProblems([...at, 'tokens', token], { token, decimals, network }),
      )
    }),
  )
}

interface NamedToken {
  /** As it is written. */
  readonly token: string
  /** Undefined where they are wrong already. */
  readonly decimals: number | undefined
  readonly network: SigningNetwork
}

function tokenProblems(at: readonly string[], { token, decimals, network }: NamedToken): readonly TreeProblem[] {
  const listed = network.tokens.find(({ address }) => isSameAddress(address, token))
  if (listed) {
    if (listed.decimals === undefined || decimals === undefined || listed.decimals === decimals) return []
    const name = listed.symbol ?? 'the token'
    return [
      {
        pointer: pointerOf([...at, 'decimals']),
        problem: `is ${decimals}, and ${name} (${listed.address}) has ${listed.decimals} in the token list of ${networkPath(network)}: its limits would be 10^${Math.abs(decimals - listed.decimals)} times too ${decimals > listed.decimals ? 'high' : 'low'}`,
        remedy: `Write decimals: ${listed.decimals}. Where the list is wrong, correct it by an entry in conf/tokens/${networkPath(network)}.json.`,
      },
    ]
  }
  if (looksLikeAddress(token)) return []
  const symbols = network.tokens.flatMap(({ symbol = '', address }) => (symbol === '' ? [] : [{ symbol, address }]))
  const meant = nearest(
    token,
    symbols.map(({ symbol }) => symbol),
  )
  const addresses = symbols.filter(({ symbol }) => symbol === meant).map(({ address }) => `"${address}"`)
  return [
    {
      pointer: pointerOf(at),
      problem: 'is no address, and the signer goes by addresses alone: it would bound nothing',
      remedy:
        addresses.length === 0
          ? `Write the address of the token: no list of ${networkPath(network)} has such a symbol.`
          : `Write ${addresses.join(' or ')}${meant === token ? '' : ` if you mean ${meant}`}.`,
    },
  ]
}

/** What holds, and is probably not what was meant: a sentence for each, for the operator. @param file as it is shown */
export function doubtfulLimits(wallets: WalletLimits, { networks }: SigningNetworks, file: string): readonly string[] {
  return Object.entries(wallets).flatMap(([wallet, byNetwork]) =>
    Object.entries(byNetwork).flatMap(([path, limits]) => {
      const network = networks.find((each) => networkPath(each) === path)
      const sentence = (key: string, words: string) => `${key} of the wallet ${wallet} on ${path} in ${file} ${words}.`
      const unlisted = Object.keys(limits.tokens ?? {}).filter(
        (token) => network?.tokens.find(({ address }) => isSameAddress(address, token))?.decimals === undefined,
      )
      return [
        ...unlisted.map((token) =>
          sentence(
            `tokens.${token}`,
            `is in no token list that was read, so its decimals (${limits.tokens?.[token]?.decimals}) were compared with none: look at the token's contract, and list it in conf/tokens/${path}.json`,
          ),
        ),
        ...rowsOf(limits, network).flatMap(({ at, row, decimals, symbol }) =>
          amountProblems(row, { decimals, symbol }).map(([window, words]) => sentence([...at, window].join('.'), words)),
        ),
      ]
    }),
  )
}

interface Row {
  readonly at: readonly string[]
  readonly row: Partial<LimitRow>
  readonly decimals: number
  readonly symbol: string
}

function rowsOf({ native, gasCost, withdrawals, tokens = {} }: LimitsOfNetworkAsFarAsRight, network?: SigningNetwork): readonly Row[] {
  const coin = { decimals: coinDecimals(network?.keys), symbol: 'the native coin' }
  return [
    ...(native ? [{ at: ['native'], row: native, ...coin }] : []),
    ...(gasCost ? [{ at: ['gasCost'], row: gasCost, ...coin }] : []),
    ...(withdrawals ? [{ at: ['withdrawals'], row: withdrawals, decimals: withdrawalDecimals, symbol: 'the dollar' }] : []),
    ...Object.entries(tokens).map(([token, row]) => {
      const listed = network?.tokens.find(({ address }) => isSameAddress(address, token))
      return { at: ['tokens', token], row, decimals: row.decimals ?? 0, symbol: listed?.symbol ?? 'the token' }
    }),
  ]
}

/** Of the coin of a chain with such keys. */
export const coinDecimals = (keys: CurveName | undefined): number => (keys === 'ed25519' ? 9 : 18)
