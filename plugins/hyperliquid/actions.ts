import { createHash } from 'node:crypto'
import type { Json, Sealed, Signable } from 'sluice/plugin'
import { is, object, whole } from './shape.ts'
import type { HyperliquidNetwork } from './networks.ts'
import type { Library } from './rail/library.ts'
import type { Slot } from './nonces.ts'
import { isPlain } from './rail/step.ts'
import type { PlainAction, Step } from './rail/step.ts'

const noContract = '0x0000000000000000000000000000000000000000'

/** Domain and type of what is signed for actions of the exchange's chain: signing/mod.js of @nktkas/hyperliquid@0.31.0. */
export const agentKind = { domain: 'Exchange', chainId: 1337, primaryType: 'Agent' } as const
export const plainDomain = 'HyperliquidSignTransaction'

type Fields = readonly { readonly name: string; readonly type: string }[]
const string = (name: string) => ({ name, type: 'string' })
const chain = string('hyperliquidChain')

/** What plain actions are signed as: `Withdraw3Types` and `UsdClassTransferTypes` of the same package, api/exchange. */
export const plainKinds = {
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
} as const satisfies Record<PlainAction['type'], { primaryType: string; nonce: string; fields: Fields }>

const unsigned = object({ action: object({}), nonce: whole }, { expiresAfter: whole })

interface Wording {
  readonly domain: { readonly name: string; readonly chainId: string }
  readonly primaryType: string
  readonly fields: Fields
  readonly message: { readonly [field: string]: Json }
}

/** What is signed, and the request that it is for. */
export function draft({ action, expiresAfter }: Step, { nonce }: Slot, network: HyperliquidNetwork, library: Library): Signable {
  if (isPlain(action)) return plainDraft(action, nonce, network)
  const request = { action, nonce, ...(expiresAfter !== undefined && { expiresAfter }) }
  const wording: Wording = {
    domain: { name: agentKind.domain, chainId: String(agentKind.chainId) },
    primaryType: agentKind.primaryType,
    fields: [string('source'), { name: 'connectionId', type: 'bytes32' }],
    message: { source: network.source, connectionId: library.createL1ActionHash(request) },
  }
  return signable(wording, request)
}

function plainDraft({ type, ...said }: PlainAction, nonce: number, { name, signatureChainId }: HyperliquidNetwork): Signable {
  const { primaryType, nonce: key, fields } = plainKinds[type]
  const message = { hyperliquidChain: name, ...said }
  const wording: Wording = {
    domain: { name: plainDomain, chainId: String(signatureChainId) },
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
