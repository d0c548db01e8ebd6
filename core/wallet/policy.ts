import { getAddress } from 'ethers/address'
import { Type, type Static } from 'typebox'
import { Value } from 'typebox/value'
import type { ErrorName } from '../errors.ts'

const address = Type.String({ pattern: '^0x[0-9a-fA-F]{40}$' })

const typedDataPolicy = Type.Object(
  {
    /** `domain.name` of the typed data. */
    domain: Type.String(),
    primaryType: Type.String(),
    /** What `domain.chainId` must be; absent: the network's own chain id. */
    chainId: Type.Optional(Type.Integer({ minimum: 0 })),
    /** Fields of the message that must be the signer's own address. */
    own: Type.Optional(Type.Array(Type.String())),
  },
  { additionalProperties: false },
)
export type TypedDataRules = Static<typeof typedDataPolicy>

const everyNetwork = {
  chain: Type.String({ minLength: 1 }),
  network: Type.String({ minLength: 1 }),
  /** A devnet: the only place where keys that everybody knows may sign. */
  local: Type.Boolean(),
}

const evmPolicy = Type.Object(
  {
    keys: Type.Literal('secp256k1'),
    ...everyNetwork,
    chainId: Type.Integer({ minimum: 1 }),
    /** The most a transaction may pay per unit of gas, in wei. */
    feeCapRaw: Type.String({ pattern: '^[0-9]+$' }),
    /** What transactions may call: the contracts that connectors declare for this network. */
    contracts: Type.Array(address),
    /** Who may be given rights over tokens: the spenders of registered connectors on this network. */
    spenders: Type.Array(address),
    /** The one call of a token that hands it over: to the address by which a connector takes deposits from this network. */
    deposits: Type.Array(Type.Object({ token: address, recipient: address }, { additionalProperties: false })),
    /** Which typed data (EIP-712) connectors declare that they have signed. */
    typedData: Type.Array(typedDataPolicy),
  },
  { additionalProperties: false },
)

const solanaPolicy = Type.Object(
  {
    keys: Type.Literal('ed25519'),
    ...everyNetwork,
    /** The most a transaction may pay on top of the fee for its signature, in lamports. */
    feeCapRaw: Type.String({ pattern: '^[0-9]+$' }),
    /** The programs that connectors declare for this network. */
    contracts: Type.Array(Type.String({ pattern: '^[1-9A-HJ-NP-Za-km-z]{32,44}$' })),
  },
  { additionalProperties: false },
)

const networkPolicy = Type.Union([evmPolicy, solanaPolicy])

const signerPolicy = Type.Object(
  {
    networks: Type.Array(networkPolicy),
    /** `wallet.allowedSpenders` of the settings: further spenders, on every network. */
    allowedSpenders: Type.Array(address),
  },
  { additionalProperties: false },
)

/** What the signer signs; everything else it refuses. Plain JSON: it crosses a process boundary. */
export type SignerPolicy = Static<typeof signerPolicy>
export type NetworkPolicy = Static<typeof networkPolicy>

/** A network's policy, laid out for looking things up. Addresses are lower-case. */
export interface EvmRules {
  readonly keys: 'secp256k1'
  readonly name: string
  readonly chainId: bigint
  readonly feeCapRaw: bigint
  readonly local: boolean
  readonly contracts: ReadonlySet<string>
  readonly spenders: ReadonlySet<string>
  readonly deposits: readonly { readonly token: string; readonly recipient: string }[]
  readonly typedData: readonly TypedDataRules[]
}

/** The same where keys are of ed25519. The case of an address's letters counts. */
export interface SolanaRules {
  readonly keys: 'ed25519'
  readonly name: string
  readonly feeCapRaw: bigint
  readonly contracts: ReadonlySet<string>
}

type NetworkRules = EvmRules | SolanaRules
export type SignerRules = ReadonlyMap<string, NetworkRules>

export const networkKey = (chain: string, network: string): string => `${chain}/${network}`

/**
 * Checks a policy and lays it out for looking things up.
 * @throws Error saying what is wrong with which network
 */
export function readPolicy(policy: unknown): SignerRules {
  if (!Value.Check(signerPolicy, policy)) {
    const [first] = Value.Errors(signerPolicy, policy)
    throw new Error(`The signer's policy is malformed at "${first?.instancePath ?? ''}": ${first?.message ?? 'unknown'}.`)
  }
  const allowed = lowerCase(policy.allowedSpenders)
  const rules = new Map<string, NetworkRules>()
  for (const each of policy.networks) {
    const name = networkKey(each.chain, each.network)
    if (rules.has(name)) throw new Error(`The signer's policy names ${name} twice; it must have one entry per network.`)
    rules.set(name, rulesOf(name, each, allowed))
  }
  return rules
}

function rulesOf(name: string, policy: NetworkPolicy, allowed: readonly string[]): NetworkRules {
  const feeCapRaw = BigInt(policy.feeCapRaw)
  if (policy.keys === 'ed25519') return { keys: policy.keys, name, feeCapRaw, contracts: new Set(policy.contracts) }
  const { keys, chainId, local, contracts, spenders, deposits, typedData } = policy
  return {
    keys,
    name,
    chainId: BigInt(chainId),
    feeCapRaw,
    local,
    contracts: new Set(lowerCase(contracts)),
    spenders: new Set([...lowerCase(spenders), ...allowed]),
    deposits: deposits.map(({ token, recipient }) => ({ token: canonical(token), recipient: canonical(recipient) })),
    typedData,
  }
}

// getAddress refuses a wrong checksum: a mistyped spender must not become a valid one.
const canonical = (address: string): string => getAddress(address).toLowerCase()

const lowerCase = (addresses: readonly string[]): string[] => addresses.map(canonical)

/** Why the signer does not sign: a sentence for the caller and the log, without any secret, and its name in the table of errors. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly errorName: ErrorName

  constructor(message: string, errorName: ErrorName = 'FORBIDDEN') {
    super(message)
    this.errorName = errorName
  }
}
