import { createHash } from 'node:crypto'
import type { Json, Sealed, Signable } from 'sluice/plugin'
import type { Sequence } from './nonces.ts'
import { is, object, integer, decimal, union, flag, array, nothing, text, literal, type Infer } from './shape.ts'

const noContract = '0x0000000000000000000000000000000000000000'

/** Domain and type of what is signed for actions of the exchange's chain: signing/mod.js of @nktkas/hyperliquid@0.31.0. */
export const agentKind = { domain: 'Exchange', chainId: 1337, primaryType: 'Agent' } as const
export const userSignedDomain = 'HyperliquidSignTransaction'

type Fields = readonly { readonly name: string; readonly type: string }[]
const string = (name: string) => ({ name, type: 'string' })
const chain = string('hyperliquidChain')

/** What plain actions are signed as: `Withdraw3Types` and `UsdClassTransferTypes` of the same package, api/exchange. */
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

const unsigned = object({ action: object({}), nonce: integer }, { expiresAfter: integer })

interface Wording {
  readonly domain: { readonly name: string; readonly chainId: string }
  readonly primaryType: string
  readonly fields: Fields
  readonly message: { readonly [field: string]: Json }
}

/** What is signed, and the request that it is for. */
export function draft({ action, expiresAfter }: Step, { nonce }: Sequence, network: HyperliquidNetwork, library: Library): Signable {
  if (isUserSigned(action)) return plainDraft(action, nonce, network)
  const request = { action, nonce, ...(expiresAfter !== undefined && { expiresAfter }) }
  const wording: Wording = {
    domain: { name: agentKind.domain, chainId: String(agentKind.chainId) },
    primaryType: agentKind.primaryType,
    fields: [string('source'), { name: 'connectionId', type: 'bytes32' }],
    message: { source: network.source, connectionId: library.createL1ActionHash(request) },
  }
  return signable(wording, request)
}

function plainDraft({ type, ...said }: UserSignedAction, nonce: number, { name, signatureChainId }: HyperliquidNetwork): Signable {
  const { primaryType, nonce: key, fields } = userSignedKinds[type]
  const message = { hyperliquidChain: name, ...said }
  const wording: Wording = {
    domain: { name: userSignedDomain, chainId: String(signatureChainId) },
    primaryType,
    fields,
    message: { ...message, [key]: String(nonce) },
  }
  const action = { type, signatureChainId: `0x${signatureChainId.toString(16)}`, ...message, [key]: nonce }
  return signable(wording, { action, nonce })
}

function signable({ domain, primaryType, fields, message }: Wording, body: Json): Signable {
  const typedData = {
    domain: { ...domain, version: '1', verifyingContract: noContract },
    types: { [primaryType]: fields },
    primaryType,
    message,
  }
  return { scheme: 'typed-data', bytes: new TextEncoder().encode(JSON.stringify(typedData)), body }
}

/**
 * The whole request. Its id is the hash of it: that of the action alone would be the same for whoever does the same in the same
 * millisecond.
 * @param signature 65 bytes: r, s, v
 */
export function seal(draft: Signable, signature: Uint8Array): Sealed {
  const body: unknown = draft.body
  if (!is(unsigned, body)) throw new Error('What was signed is no action of Hyperliquid.')
  const hex = (from: number, to: number) => `0x${Buffer.from(signature.subarray(from, to)).toString('hex')}`
  const recovery = signature[64] ?? 0
  const request = { ...body, signature: { r: hex(0, 32), s: hex(32, 64), v: recovery < 27 ? recovery + 27 : recovery } }
  const raw = new TextEncoder().encode(JSON.stringify(request))
  return { id: `0x${createHash('sha256').update(raw).digest('hex')}`, raw }
}

/** An order as the exchange takes it: `OrderRequest` of @nktkas/hyperliquid, whose order of keys is part of what is signed. */
export type WireOrder = {
  readonly a: number
  readonly b: boolean
  readonly p: string
  readonly s: string
  readonly r: boolean
  readonly t: { readonly limit: { readonly tif: 'Gtc' | 'Ioc' | 'Alo' } }
  readonly c: string
}

/** Actions of the exchange's own chain: a hash of them is signed, by the wallet or its agent. */
export type L1Action =
  | { readonly type: 'order'; readonly orders: readonly WireOrder[]; readonly grouping: 'na' }
  | { readonly type: 'cancel'; readonly cancels: readonly { readonly a: number; readonly o: number }[] }
  | { readonly type: 'cancelByCloid'; readonly cancels: readonly { readonly asset: number; readonly cloid: string }[] }
  | { readonly type: 'updateLeverage'; readonly asset: number; readonly isCross: boolean; readonly leverage: number }
  | {
      readonly type: 'borrowLend'
      readonly operation: 'supply' | 'withdraw' | 'repay' | 'borrow'
      readonly token: number
      /** Null: all that there is. */
      readonly amount: string | null
    }
  | { readonly type: 'noop' }

/** What is signed in plain words, by the wallet itself; its nonce is in it. */
export type UserSignedAction =
  | { readonly type: 'withdraw3'; readonly destination: string; readonly amount: string }
  | { readonly type: 'usdClassTransfer'; readonly amount: string; readonly toPerp: boolean }

/** One step of a plan that goes by the exchange's rail. */
export type Step = TracedStep & { readonly action: L1Action | UserSignedAction }

export const isUserSigned = (action: Step['action']): action is UserSignedAction =>
  action.type === 'withdraw3' || action.type === 'usdClassTransfer'

/** What an action leaves behind, by which it is found where its answer was lost. */
const trace = union(
  object({ of: literal('orders'), cloids: array(text) }),
  object({ of: literal('cancels'), orders: array(union(text, integer)) }),
  object({ of: literal('leverage'), coin: text, isCross: flag, leverage: integer }),
  object({
    of: literal('borrowLend'),
    operation: text,
    token: text,
    amount: union(decimal, nothing),
  }),
  object({ of: literal('withdraw') }),
  object({ of: literal('usdClassTransfer'), amount: decimal, toPerp: flag }),
  object({ of: literal('nothing') }),
)
export type Trace = Infer<typeof trace>

const traced = object(
  {
    /** Whose account it is about, in lower case. */
    user: text,
    trace,
  },
  {
    /** Milliseconds since the Unix epoch; absent for plain actions, which have no such thing. */
    expiresAfter: integer,
  },
)
/** What is looked for of a step. */
export type TracedStep = Infer<typeof traced>

/** The journal's steps come back from a database, of an older version it may be. */
export const isTracedStep = (step: unknown): step is TracedStep => is(traced, step)

/** What differs between the exchange's networks beside its URLs. */
export interface HyperliquidNetwork {
  /** What signed actions of the exchange's own chain name it by: `isTestnet` in signing/mod.js of @nktkas/hyperliquid@0.31.0. */
  readonly source: 'a' | 'b'
  /** What actions that are signed in plain words name it by: `HyperliquidChainSchema` there, api/exchange/_methods/_base/commonSchemas.js. */
  readonly name: 'Mainnet' | 'Testnet'
  /** The chain id that such actions are signed for. The exchange takes any; the signer only the network's own. */
  readonly signatureChainId: number
}

export const networks: Readonly<Record<string, HyperliquidNetwork>> = {
  mainnet: { source: 'a', name: 'Mainnet', signatureChainId: 999 },
  testnet: { source: 'b', name: 'Testnet', signatureChainId: 998 },
}

/** The one part of the client library that runs here: the hash that its signatures are over. */
export interface Library {
  createL1ActionHash(what: { action: object; nonce: number; expiresAfter?: number }): string
}

/** Loaded when a venue starts: servers that do not use the exchange are not to wait for it. */
export async function loadLibrary(): Promise<Library> {
  const { createL1ActionHash } = await import('@nktkas/hyperliquid/signing')
  return { createL1ActionHash: (what) => createL1ActionHash({ ...what, action: { ...what.action } }) }
}
