// What the signer signs on which network. policy-evm.ts and policy-solana.ts hold a request against it.
import { getAddress } from 'ethers/address'
import * as Type from 'typebox'
import type { Static } from 'typebox'
import { firstProblem, fits } from '../base/schema-check.ts'
import type { ErrorName } from '../base/errors.ts'
import { networkPath } from '../base/networks.ts'
import { curves } from '../keys/curves.ts'

/** Why the signer does not sign: a sentence for the caller and the log, without any secret, and its name in the table of errors. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly errorName: ErrorName

  /** For the caller: without any secret. */
  readonly details: Readonly<Record<string, string | number>> | undefined

  constructor(message: string, errorName: ErrorName = 'FORBIDDEN', details?: Readonly<Record<string, string | number>>) {
    super(message)
    this.errorName = errorName
    this.details = details
  }
}

const address = Type.String({ pattern: '^0x[0-9a-fA-F]{40}$' })

const typedDataPolicy = Type.Object(
  {
    /** `domain.name` of the typed data. */
    domain: Type.String(),
    primaryType: Type.String(),
    /** What `domain.chainId` must be. Absent: the network's own chain id. */
    chainId: Type.Optional(Type.Integer({ minimum: 0 })),
    /** Fields of the message that must be the signer's own address. */
    own: Type.Optional(Type.Array(Type.String())),
  },
  { additionalProperties: false },
)
export type TypedDataRules = Static<typeof typedDataPolicy>

const actionKind = {
  domain: Type.String(),
  primaryType: Type.String(),
  /** The field of the message with what is withdrawn, in dollars; absent where nothing leaves the exchange. */
  amountField: Type.Optional(Type.String()),
  /** The field that says for which network of the exchange the action is: it takes one for any chain id. */
  networkField: Type.String(),
}
/** As signing.json has it, with what that field says on each network (`chain/network`). */
export const releasedAction = Type.Object(
  { ...actionKind, networks: Type.Record(Type.String(), Type.String()) },
  { additionalProperties: false },
)
const signedAction = Type.Object({ ...actionKind, network: Type.String() }, { additionalProperties: false })
type SignedAction = Static<typeof signedAction>

const commonFields = {
  chain: Type.String({ minLength: 1 }),
  network: Type.String({ minLength: 1 }),
  /** A devnet. Keys that everybody knows sign on such networks only. */
  local: Type.Boolean(),
}

const evmPolicy = Type.Object(
  {
    keys: Type.Literal('secp256k1'),
    ...commonFields,
    chainId: Type.Integer({ minimum: 1 }),
    /** The highest price of a unit of gas, in wei. */
    feeCapRaw: Type.String({ pattern: '^[0-9]+$' }),
    /** The contracts that connectors declare for this network: transactions may call them. */
    contracts: Type.Array(address),
    /** The spenders of the connectors on this network: they may be given allowances. */
    spenders: Type.Array(address),
    /** Those of them that get allowances in exact amounts only, because their plugins are contained. */
    exactSpenders: Type.Optional(Type.Array(address)),
    /** ERC-20 tokens by the lists of the release and of conf: on them anybody's allowance may be taken to 0. */
    tokens: Type.Optional(Type.Array(address)),
    /** The token that wraps the native coin: its deposit and its withdrawal are signed. */
    wrapped: Type.Optional(address),
    /**
     * The one transfer of a token that is signed: to the address by which a connector takes deposits from this network. Each is for the connector alone whose
     * it is: `plugin` is the SHA-256 of its files; absent for connectors of the release.
     */
    deposits: Type.Array(
      Type.Object(
        { token: address, recipient: address, plugin: Type.Optional(Type.String({ pattern: '^[0-9a-f]{64}$' })) },
        { additionalProperties: false },
      ),
    ),
    /** The typed data (EIP-712) that connectors declare. */
    typedData: Type.Array(typedDataPolicy),
    /** The spenders that get permits of Permit2: those of built-in connectors whose settings say `signedPermits`. */
    permitSpenders: Type.Optional(Type.Array(address)),
    /** By contracts of the release, the reader of what calls of them take. They take from their caller alone. */
    readers: Type.Optional(Type.Record(address, Type.String())),
    /** The typed data of exchanges of the release whose amounts are read. */
    signedActions: Type.Optional(Type.Array(signedAction)),
  },
  { additionalProperties: false },
)

const program = Type.String({ pattern: '^[1-9A-HJ-NP-Za-km-z]{32,44}$' })

/** Lamports at most, to one of the accounts. */
const tipPolicy = Type.Object(
  { mostRaw: Type.String({ pattern: '^[0-9]{1,10}$' }), accounts: Type.Array(program) },
  { additionalProperties: false },
)

export type TipRules = Static<typeof tipPolicy>

const solanaPolicy = Type.Object(
  {
    keys: Type.Literal('ed25519'),
    ...commonFields,
    /** The highest priority fee of a transaction, on top of the fee for its signature, in lamports. */
    feeCapRaw: Type.String({ pattern: '^[0-9]+$' }),
    /** The programs that connectors declare for this network. */
    contracts: Type.Array(program),
    /** Those of them that get no signature of a wallet, because their plugins are contained. */
    contained: Type.Optional(Type.Array(program)),
    /** Those that a contained plugin and another one declare: they may be called either way. */
    shared: Type.Optional(Type.Array(program)),
    /** The one transfer of lamports to somebody else that is signed, once in a transaction: what `privateTip` of the operator's file says. */
    tip: Type.Optional(tipPolicy),
  },
  { additionalProperties: false },
)

const networkPolicy = Type.Union([evmPolicy, solanaPolicy])

const signerPolicy = Type.Object(
  {
    networks: Type.Array(networkPolicy),
    /** `wallet.allowedSpenders` of the settings: further spenders, on every network. */
    allowedSpenders: Type.Array(address),
    /** By wallets, the addresses that they may send to: `sendTo` of `conf/clients.yml`. */
    recipients: Type.Optional(Type.Record(Type.String(), Type.Array(address))),
  },
  { additionalProperties: false },
)

/** What the signer signs. It refuses everything else. Plain JSON: it crosses a process boundary. */
export type SignerPolicy = Static<typeof signerPolicy>
export type NetworkPolicy = Static<typeof networkPolicy>

/** A network's policy, prepared for lookups. Addresses are lower-case. */
export interface EvmRules {
  readonly keys: 'secp256k1'
  readonly name: string
  readonly chainId: bigint
  readonly feeCapRaw: bigint
  readonly local: boolean
  readonly contracts: ReadonlySet<string>
  readonly spenders: ReadonlySet<string>
  /** A devnet, whose chain id no public network has: a caller may approve anybody there. */
  readonly anySpender: boolean
  /** Those of the spenders that get no unlimited allowance. */
  readonly exactSpenders: ReadonlySet<string>
  /** On these anybody's allowance may be taken to 0. */
  readonly tokens: ReadonlySet<string>
  /** The token that wraps the native coin. */
  readonly wrapped?: string | undefined
  /** By wallets, the addresses that they may send to. */
  readonly recipients: ReadonlyMap<string, ReadonlySet<string>>
  readonly deposits: readonly { readonly token: string; readonly recipient: string; readonly plugin?: string }[]
  readonly typedData: readonly TypedDataRules[]
  /** They get permits of Permit2. */
  readonly permitSpenders: ReadonlySet<string>
  /** By contracts of the release, the reader of what calls of them take. */
  readonly readers: ReadonlyMap<string, string>
  /** The typed data of exchanges of the release whose amounts are read. */
  readonly signedActions: readonly SignedAction[]
}

/** The same for keys of ed25519. The letter case of an address counts. */
export interface SolanaRules {
  readonly keys: 'ed25519'
  readonly name: string
  readonly feeCapRaw: bigint
  readonly local: boolean
  readonly contracts: ReadonlySet<string>
  /** Those of them that get no signature of a wallet. */
  readonly contained: ReadonlySet<string>
  /** Those that a plugin which is not contained declares beside one that is. */
  readonly shared?: ReadonlySet<string>
  /** What a transaction may give to whoever passes it on, to one of these accounts. */
  readonly tip?: { readonly mostRaw: bigint; readonly accounts: ReadonlySet<string> }
}

/** By `networkPath`. */
export type SignerRules = ReadonlyMap<string, EvmRules | SolanaRules>

/**
 * Checks a policy and prepares it for lookups.
 * @throws Error that says what is wrong with which network
 */
export function readPolicy(policy: unknown): SignerRules {
  return rulesOfPolicy(checkPolicy(policy))
}

/** @throws Error that says what is malformed */
function checkPolicy(policy: unknown): SignerPolicy {
  if (!fits(signerPolicy, policy)) {
    const first = firstProblem(signerPolicy, policy)
    throw new Error(`The signer's policy is malformed at "${first?.instancePath ?? ''}": ${first?.message ?? 'unknown'}.`)
  }
  return policy
}

export function rulesOfPolicy(policy: SignerPolicy): SignerRules {
  const allowedSpenders = policy.allowedSpenders.map(lowerCase)
  const recipients = new Map(
    Object.entries(policy.recipients ?? {}).map(([wallet, all]) => [lowerCase(wallet), new Set(all.map(lowerCase))]),
  )
  const publicChainIds = new Set(policy.networks.flatMap((each) => (each.keys === 'secp256k1' && !each.local ? [each.chainId] : [])))
  const rules = new Map<string, EvmRules | SolanaRules>()
  for (const network of policy.networks) {
    const name = networkPath(network)
    if (rules.has(name)) throw new Error(`The signer's policy names ${name} twice; it must have one entry per network.`)
    rules.set(name, rulesOf(name, network, { allowedSpenders, recipients, publicChainIds }))
  }
  return rules
}

/** What holds on all networks of a policy. */
interface Everywhere extends Pick<EvmRules, 'recipients'> {
  readonly allowedSpenders: readonly string[]
  readonly publicChainIds: ReadonlySet<number>
}

const noPrograms: ReadonlySet<string> = new Set()

function rulesOf(name: string, policy: NetworkPolicy, { allowedSpenders, recipients, publicChainIds }: Everywhere): EvmRules | SolanaRules {
  const feeCapRaw = BigInt(policy.feeCapRaw)
  if (policy.keys === 'ed25519') {
    const [contracts, contained, shared] = [policy.contracts, policy.contained, policy.shared].map((each) => new Set(each))
    return {
      keys: policy.keys,
      name,
      feeCapRaw,
      local: policy.local,
      contracts: contracts ?? noPrograms,
      contained: contained ?? noPrograms,
      shared: shared ?? noPrograms,
      ...(policy.tip && { tip: { mostRaw: BigInt(policy.tip.mostRaw), accounts: new Set(policy.tip.accounts) } }),
    }
  }
  const {
    keys,
    chainId,
    local,
    contracts,
    spenders,
    exactSpenders = [],
    tokens = [],
    wrapped,
    deposits,
    typedData,
    permitSpenders = [],
    readers = {},
    signedActions = [],
  } = policy
  return {
    keys,
    name,
    chainId: BigInt(chainId),
    feeCapRaw,
    local,
    contracts: new Set(contracts.map(lowerCase)),
    spenders: new Set([...spenders.map(lowerCase), ...allowedSpenders]),
    anySpender: local && !publicChainIds.has(chainId),
    exactSpenders: new Set(exactSpenders.map(lowerCase).filter((each) => !allowedSpenders.includes(each))),
    tokens: new Set(tokens.map(lowerCase)),
    wrapped: wrapped === undefined ? undefined : lowerCase(wrapped),
    recipients,
    deposits: deposits.map(({ token, recipient, ...owner }) => ({ token: lowerCase(token), recipient: lowerCase(recipient), ...owner })),
    typedData,
    permitSpenders: new Set(permitSpenders.map(lowerCase)),
    readers: new Map(Object.entries(readers).map(([contract, reader]) => [lowerCase(contract), reader])),
    signedActions,
  }
}

// getAddress refuses a wrong checksum: a mistyped spender must not become a valid one.
const lowerCase = (text: string): string => (curves.secp256k1.address(text) ?? getAddress(text)).toLowerCase()
