// What no policy can go beyond. The signer is told it once, before code of any plugin runs, by what the release, the operator's conf and
// sluice.lock name; what comes over its channel later can only be less.
import * as Type from 'typebox'
import type { Static } from 'typebox'
import * as Value from 'typebox/value'
import type { NetworkPolicy, SignerPolicy, TypedDataRules } from './policy.ts'

const text = Type.String()

const policyBounds = Type.Object(
  {
    /** Addresses of contracts by network: `mainnet`, or `ethereum_mainnet` where several chains have a network of that name. */
    contracts: Type.Record(text, Type.Array(text)),
    deposits: Type.Array(Type.Object({ token: text, recipient: text })),
    allowedSpenders: Type.Array(text),
    /** Kinds of typed data that plugins of third parties were allowed. */
    typedData: Type.Array(Type.Unknown()),
  },
  { additionalProperties: false },
)
export type PolicyBounds = Static<typeof policyBounds>

export const isPolicyBounds = (value: unknown): value is PolicyBounds => Value.Check(policyBounds, value)

interface Bounded {
  readonly policy: SignerPolicy
  /** What was asked for beyond the bounds, for the log. */
  readonly refused: readonly string[]
}

/**
 * A policy without what is beyond the bounds. A network that was given before keeps its chain id, fee cap and kind of keys; a chain that was
 * given before gets no more networks; and a network gets no more kinds of typed data than it had, but for those of the bounds.
 */
export function boundPolicy(asked: SignerPolicy, before: SignerPolicy | undefined, bounds: PolicyBounds): Bounded {
  const refused: string[] = []
  const refuse = (what: string) => {
    refused.push(what)
    return false
  }
  const networks = asked.networks.flatMap((network): NetworkPolicy[] => {
    const on = `${network.chain}/${network.network}`
    const earlier = before?.networks.find((each) => each.chain === network.chain && each.network === network.network)
    if (!earlier && before?.networks.some(({ chain }) => chain === network.chain)) {
      refuse(`the network ${on}`)
      return []
    }
    if (earlier && !isSame(fixed(earlier), fixed(network))) refuse(`another chain id, fee cap or kind of keys on ${on}`)
    const same = earlier ? { ...network, ...fixed(earlier) } : network
    const known = new Set(
      [`${network.chain}_${network.network}`.replaceAll('-', '_'), network.network].flatMap((key) =>
        (Object.hasOwn(bounds.contracts, key) ? (bounds.contracts[key] ?? []) : []).map(spelling),
      ),
    )
    const isKnown = (what: string) => (address: string) => known.has(spelling(address)) || refuse(`the ${what} ${address} on ${on}`)
    const contracts = network.contracts.filter(isKnown('contract'))
    if (same.keys === 'ed25519' || network.keys === 'ed25519') return [{ ...same, contracts } as NetworkPolicy]
    const typedData = earlier?.keys === 'secp256k1' ? [...earlier.typedData, ...bounds.typedData] : undefined
    return [
      {
        ...same,
        contracts,
        spenders: network.spenders.filter(isKnown('spender')),
        deposits: network.deposits.filter(
          (pair) =>
            bounds.deposits.some((each) => isPair(each, pair)) || refuse(`a deposit of ${pair.token} to ${pair.recipient} on ${on}`),
        ),
        typedData: network.typedData.filter(
          (each) =>
            typedData === undefined || typedData.some((one) => isSame(one, each)) || refuse(`typed data of ${nameOf(each)} on ${on}`),
        ),
      } as NetworkPolicy,
    ]
  })
  const spenders = new Set(bounds.allowedSpenders.map(spelling))
  const allowedSpenders = asked.allowedSpenders.filter((each) => spenders.has(spelling(each)) || refuse(`the spender ${each}`))
  return { policy: { networks, allowedSpenders }, refused }
}

const fixed = (network: NetworkPolicy) => ({
  keys: network.keys,
  feeCapRaw: network.feeCapRaw,
  local: network.local,
  ...(network.keys === 'secp256k1' && { chainId: network.chainId }),
})

/** The letter case of an address of ed25519 counts. */
const spelling = (address: string): string => (address.startsWith('0x') ? address.toLowerCase() : address)

const isPair = (one: { token: string; recipient: string }, other: { token: string; recipient: string }): boolean =>
  spelling(one.token) === spelling(other.token) && spelling(one.recipient) === spelling(other.recipient)

const nameOf = ({ domain, primaryType }: TypedDataRules): string => `${primaryType} of ${domain}`

const isSame = (one: unknown, other: unknown): boolean => Value.Equal(one, other)
