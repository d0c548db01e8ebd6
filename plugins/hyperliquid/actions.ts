import { createHash } from 'node:crypto'
import type { Json, Sealed, Signable } from 'sluice/plugin'
import type { Sequence } from './nonces.ts'
import { array, decimal, flag, integer, is, literal, nothing, object, text, union, type Infer } from './shape.ts'

const noContract = '0x0000000000000000000000000000000000000000'

/** Domain and type of the data that is signed for L1 actions: signing/mod.js of @nktkas/hyperliquid@0.31.0. */
export const agentKind = { domain: 'Exchange', chainId: 1337, primaryType: 'Agent' } as const
export const userSignedDomain = 'HyperliquidSignTransaction'

type Fields = readonly { readonly name: string; readonly type: string }[]
const string = (name: string) => ({ name, type: 'string' })
const chain = string('hyperliquidChain')

/** The types that user-signed actions are signed as: `Withdraw3Types` and `UsdClassTransferTypes` of the same package, api/exchange. */
export const userSignedKinds = {
  withdraw3: {
    primaryType: 'HyperliquidTransaction:Withdraw',
    nonce: 'time',
    fields: [chain, string('destination'), string('amount'), { name: 'time', type: 'uint64' }],
  },
  usdClassTransfer: {
    primaryType: 'HyperliquidTransaction:UsdClassTransfer',
    nonce: 'nonce',
    fields: [chain, string('amount'), { name: 'toPerp', type: 'bool' }, { name: 'nonce', type: 'uint64' }],
  },
} as const satisfies Record<UserSignedAction['type'], { primaryType: string; nonce: string; fields: Fields }>

const unsignedRequest = object({ action: object({}), nonce: integer }, { expiresAfter: integer })

interface Message {
  readonly domain: { readonly name: string; readonly chainId: string }
  readonly primaryType: string
  readonly fields: Fields
  readonly message: { readonly [field: string]: Json }
}

/** The EIP-712 data to sign, and the request that the signature is for. */
export function draft({ action, expiresAfter }: Step, { nonce }: Sequence, network: HyperliquidNetwork, library: Library): Signable {
  if (isUserSigned(action)) return userSignedDraft(action, nonce, network)
  const request = { action, nonce, ...(expiresAfter !== undefined && { expiresAfter }) }
  const fields = [string('source'), { name: 'connectionId', type: 'bytes32' }]
  const message = { source: network.source, connectionId: library.createL1ActionHash(request) }
  const domain = { name: agentKind.domain, chainId: String(agentKind.chainId) }
  return signable({ domain, primaryType: agentKind.primaryType, fields, message }, request)
}

function userSignedDraft({ type, ...params }: UserSignedAction, nonce: number, { name, signatureChainId }: HyperliquidNetwork): Signable {
  const { primaryType, nonce: nonceField, fields } = userSignedKinds[type]
  const content = { hyperliquidChain: name, ...params }
  const message: Message = {
    domain: { name: userSignedDomain, chainId: String(signatureChainId) },
    primaryType,
    fields,
    message: { ...content, [nonceField]: String(nonce) },
  }
  const action = { type, signatureChainId: `0x${signatureChainId.toString(16)}`, ...content, [nonceField]: nonce }
  return signable(message, { action, nonce })
}

function signable({ domain, primaryType, fields, message }: Message, body: Json): Signable {
  const typedData = {
    domain: { ...domain, version: '1', verifyingContract: noContract },
    types: { [primaryType]: fields },
    primaryType,
    message,
  }
  return { scheme: 'typed-data', bytes: new TextEncoder().encode(JSON.stringify(typedData)), body }
}

/**
 * The signed request. Its id is the hash of all of it: two wallets that do the same in the same millisecond have equal actions.
 * @param signature 65 bytes: r, s, v
 */
export function seal(draft: Signable, signature: Uint8Array): Sealed {
  const body: unknown = draft.body
  if (!is(unsignedRequest, body)) throw new Error('The draft is not an action of Hyperliquid.')
  const hex = (from: number, to: number) => `0x${Buffer.from(signature.subarray(from, to)).toString('hex')}`
  const recovery = signature[64] ?? 0
  const request = { ...body, signature: { r: hex(0, 32), s: hex(32, 64), v: recovery < 27 ? recovery + 27 : recovery } }
  const raw = new TextEncoder().encode(JSON.stringify(request))
  return { id: `0x${createHash('sha256').update(raw).digest('hex')}`, raw }
}

/** An order in the exchange's format: `OrderRequest` of @nktkas/hyperliquid. The order of its keys is part of what is signed. */
export type WireOrder = {
  readonly a: number
  readonly b: boolean
  readonly p: string
  readonly s: string
  readonly r: boolean
  readonly t: { readonly limit: { readonly tif: 'Gtc' | 'Ioc' | 'Alo' } }
  readonly c: string
}

/** Actions of the exchange's own chain (L1). The wallet or its agent signs a hash of them. */
export type L1Action =
  | { readonly type: 'order'; readonly orders: readonly WireOrder[]; readonly grouping: 'na' }
  | { readonly type: 'cancel'; readonly cancels: readonly { readonly a: number; readonly o: number }[] }
  | { readonly type: 'cancelByCloid'; readonly cancels: readonly { readonly asset: number; readonly cloid: string }[] }
  | { readonly type: 'updateLeverage'; readonly asset: number; readonly isCross: boolean; readonly leverage: number }
  | {
      readonly type: 'borrowLend'
      readonly operation: 'supply' | 'withdraw' | 'repay' | 'borrow'
      readonly token: number
      /** Null means all. */
      readonly amount: string | null
    }
  | { readonly type: 'noop' }

/** Actions that the wallet itself signs in readable form. Their nonce is one of the signed fields. */
export type UserSignedAction =
  | { readonly type: 'withdraw3'; readonly destination: string; readonly amount: string }
  | { readonly type: 'usdClassTransfer'; readonly amount: string; readonly toPerp: boolean }

/** One step of a plan that goes over the exchange's rail. */
export type Step = TracedStep & { readonly action: L1Action | UserSignedAction }

export const isUserSigned = (action: Step['action']): action is UserSignedAction =>
  action.type === 'withdraw3' || action.type === 'usdClassTransfer'

/** The trace that an action leaves at the exchange. An action whose answer was lost is found by it. The journal keeps it. */
const trace = union(
  object({ of: literal('orders'), cloids: array(text) }),
  object({ of: literal('cancels'), orders: array(union(text, integer)) }),
  object({ of: literal('leverage'), coin: text, isCross: flag, leverage: integer }),
  object({ of: literal('borrowLend'), operation: text, token: text, amount: union(decimal, nothing) }),
  object({ of: literal('withdraw') }, { amount: decimal }),
  object({ of: literal('usdClassTransfer'), amount: decimal, toPerp: flag }),
  object({ of: literal('nothing') }),
)
export type Trace = Infer<typeof trace>

const tracedStep = object(
  {
    /** The wallet of the account, in lower case. */
    user: text,
    trace,
  },
  {
    /** Milliseconds since the Unix epoch. Absent for user-signed actions, which do not expire. */
    expiresAfter: integer,
  },
)
export type TracedStep = Infer<typeof tracedStep>

/** The exchange keeps so much of every withdrawal: https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/exchange-endpoint#initiate-a-withdrawal-request */
export const withdrawalFee = '1'

/** Checks a step that comes from the journal, perhaps written by an older version. */
export const isTracedStep = (step: unknown): step is TracedStep => is(tracedStep, step)

/** In what the exchange's networks differ, apart from their URLs. */
export interface HyperliquidNetwork {
  /** Names the network in L1 actions: `isTestnet` in signing/mod.js of @nktkas/hyperliquid@0.31.0. */
  readonly source: 'a' | 'b'
  /** Names the network in user-signed actions: `HyperliquidChainSchema`, api/exchange/_methods/_base/commonSchemas.js of the same package. */
  readonly name: 'Mainnet' | 'Testnet'
  /** The chain id that user-signed actions are signed for. The exchange accepts any, the signer only the network's own. */
  readonly signatureChainId: number
  /** The index of the chain's coin among the exchange's tokens: https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/asset-ids. Anybody can give a token its name. */
  readonly coinIndex: number
  /** Nothing moves money into it: its wallets have some from the start. */
  readonly takesNoDeposits?: true
}

export const networks: Readonly<Record<string, HyperliquidNetwork>> = {
  mainnet: { source: 'a', name: 'Mainnet', signatureChainId: 999, coinIndex: 150 },
  testnet: { source: 'b', name: 'Testnet', signatureChainId: 998, coinIndex: 1105 },
  local: { source: 'b', name: 'Testnet', signatureChainId: 31338, coinIndex: 1105, takesNoDeposits: true },
}

/** The one function of the client library that is used at run time: the hash that signatures of L1 actions are over. */
export interface Library {
  createL1ActionHash(what: { action: object; nonce: number; expiresAfter?: number }): string
}

/** Loaded when a venue starts, so that servers without this exchange do not load it. */
export async function loadLibrary(): Promise<Library> {
  const { createL1ActionHash } = await import('@nktkas/hyperliquid/signing')
  return { createL1ActionHash: (what) => createL1ActionHash({ ...what, action: { ...what.action } }) }
}
