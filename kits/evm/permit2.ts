// Allowances by Permit2: a token's allowance for the contract, and within it amounts and expiries for spenders.
// https://github.com/Uniswap/permit2/blob/main/src/interfaces/IAllowanceTransfer.sol
import { AbiCoder, Signature, TypedDataEncoder, hexlify, keccak256, verifyTypedData } from 'ethers'
import {
  canonicalPermit2,
  permitTypedData,
  type At,
  type EvmVerbs,
  type Permit,
  type Permit2Allowance,
  type Plan,
  type Token,
} from '../../core/contracts/index.ts'
import { addressWord, isSameAddress, word, wordAt } from './encoding.ts'
import { allowanceCall, uintOf } from './tokens.ts'
import type { Call, CallResult, Evm, EvmReader } from './types.ts'

/** Amounts have 160 bits. Such an allowance is not reduced by what is taken. */
const maxAmountRaw = 2n ** 160n - 1n
export const isUnlimitedByPermit2 = (amountRaw: bigint): boolean => amountRaw >= maxAmountRaw
/** Expiries have 48 bits. */
const never = 2n ** 48n - 1n

/** Seconds since the Unix epoch. Until then, its second included, the spender may take the amount. */
export const permit2AllowanceCall = (permit2: string, token: string, owner: string, spender: string): Call => ({
  to: permit2,
  data: `0x927da105${addressWord(owner)}${addressWord(token)}${addressWord(spender)}`,
})

/** `nonce` is that of the next permit. Undefined where the contract is not there. */
export function permit2AllowanceOf({
  ok,
  data,
}: CallResult): { readonly amountRaw: bigint; readonly expires: bigint; readonly nonce: bigint } | undefined {
  return ok && data.length >= 2 + 3 * 64 ? { amountRaw: wordAt(data, 0), expires: wordAt(data, 1), nonce: wordAt(data, 2) } : undefined
}

/** What the contract hashes with all that is signed for it: only for this one is a permit signed. */
export const permit2DomainCall = (permit2: string): Call => ({ to: permit2, data: '0x3644e515' })

/** Whether the contract takes signatures of this domain, by its own word. */
export const hasDomainOf = (permit: Permit, chainId: number, { ok, data }: CallResult): boolean =>
  ok && data === TypedDataEncoder.hashDomain(permitTypedData(permit, chainId).domain)

/**
 * The permit by which a wallet can give what it lacks. Undefined where none is signed: for another contract, without an end, or for an amount that
 * lasts.
 * @param allowance as the contract has it now
 */
export function permitFor(
  need: {
    readonly permit2?: string
    readonly token: string
    readonly spender: string
    readonly amountRaw: bigint
    readonly until?: number | undefined
  },
  allowance: CallResult,
): Permit | undefined {
  const { permit2, token, spender, amountRaw, until: expires } = need
  const nonce = permit2AllowanceOf(allowance)?.nonce
  if (permit2 === undefined || expires === undefined || nonce === undefined || !isSameAddress(permit2, canonicalPermit2)) return undefined
  return amountRaw > 0n && amountRaw < maxAmountRaw ? { permit2, token, spender, amountRaw, expires, nonce: Number(nonce) } : undefined
}

/** A signature of nobody. No byte is 0: bytes of 0 cost less gas. */
export const nobodysSignature: string = `0x${'11'.repeat(64)}1b`

/**
 * What a permit that counts uses beside one that does not: it writes an allowance where there is none (22,100, EIP-2929) and emits an event of
 * three words and four topics (2,643), and the simulation has that slot written already.
 */
export const permitGas = 30_000n

/** `allowance` of AllowanceTransfer: the second variable of the contract, behind `nonceBitmap` of SignatureTransfer. */
const allowanceSlot = 1
const nested = (slot: string, key: string) => keccak256(`0x${addressWord(key)}${slot}`).slice(2)

/** The state of the contract as if the permit had been used (`PackedAllowance`: amount, expiration, nonce), as nodes take overrides. */
export function stateWith({ permit2, token, spender, amountRaw, expires, nonce }: Permit, owner: string) {
  const slot = [owner, token, spender].reduce(nested, word(allowanceSlot))
  const packed = amountRaw | (BigInt(expires) << 160n) | (BigInt(nonce + 1) << 208n)
  return { [permit2]: { stateDiff: { [`0x${slot}`]: `0x${word(packed)}` } } }
}

/** The signature as the contract takes it. @param signature r, s and the parity of y @throws Error unless it is the owner's */
export function sealPermit(permit: Permit, signature: Uint8Array, owner: string, chainId: number): string {
  const { domain, types, message } = permitTypedData(permit, chainId)
  const { serialized } = Signature.from(hexlify(signature))
  if (isSameAddress(verifyTypedData(domain, types, message, serialized), owner)) return serialized
  throw new Error('The signature of the permit is not of its owner.')
}

const approveCall = (permit2: string, token: string, spender: string, amountRaw: bigint, expires: bigint) => ({
  to: permit2,
  data: `0x87517c45${AbiCoder.defaultAbiCoder().encode(['address', 'address', 'uint160', 'uint48'], [token, spender, amountRaw, expires]).slice(2)}`,
  value: '0',
})

/** @param approve of the token for the contract: `EvmVerbs.approve` */
export function createPermit2(reader: EvmReader, approve: EvmVerbs<Evm>['approve']): NonNullable<EvmVerbs<Evm>['permit2']> {
  async function allowances(
    owner: string,
    permit2: string,
    spenders: readonly string[],
    tokens: readonly Token[],
    at: At,
  ): Promise<readonly (readonly (Permit2Allowance | undefined)[])[]> {
    const erc20 = tokens.filter((token) => !token.native)
    const calls = [
      ...erc20.map((token) => allowanceCall(token.address, owner, permit2)),
      ...spenders.flatMap((spender) => erc20.map((token) => permit2AllowanceCall(permit2, token.address, owner, spender))),
    ]
    const { head, results } = await reader.read(calls, at)
    return spenders.map((_, row) =>
      tokens.map((token): Permit2Allowance | undefined => {
        if (token.native) return { amountRaw: maxAmountRaw, expires: Number(never) }
        const index = erc20.indexOf(token)
        const ofToken = uintOf(results[index] ?? { ok: false, data: '0x' })
        if (ofToken === undefined) return undefined
        const ofSpender = permit2AllowanceOf(results[(row + 1) * erc20.length + index] ?? { ok: false, data: '0x' })
        if (!ofSpender) return { amountRaw: 0n, expires: 0 }
        const { amountRaw, expires } = ofSpender
        const givenRaw = expires >= BigInt(head.timestamp) ? amountRaw : 0n
        return { amountRaw: givenRaw < ofToken ? givenRaw : ofToken, givenRaw, expires: Number(expires) }
      }),
    )
  }

  return {
    allowances,
    async approve({ owner, permit2, token, spender, amountRaw, expires }, at) {
      const isUnlimited = amountRaw === undefined || amountRaw >= maxAmountRaw
      const newRaw = isUnlimited ? maxAmountRaw : amountRaw
      const until = newRaw === 0n ? 0n : expires === undefined ? never : BigInt(expires)
      const ofSpender = approveCall(permit2, token.address, spender, newRaw, until)
      const memo = { kind: 'approve', token: token.address, spender, permit2, amountRaw: newRaw.toString(), expires: until.toString() }
      const planOf = (steps: Plan<Evm>['steps']) => ({ plan: { steps, needs: [], memo }, amountRaw: newRaw, expires: Number(until) })
      // The contract takes nothing by the token's allowance alone, so one that is larger stays: other spenders may need it.
      const { results } = await reader.read([allowanceCall(token.address, owner, permit2)], at)
      const ofToken = uintOf(results[0] ?? { ok: false, data: '0x' }) ?? 0n
      if (newRaw === 0n || ofToken >= newRaw) return planOf([ofSpender])
      const { plan } = await approve(owner, token, permit2, isUnlimited ? undefined : newRaw, at)
      return planOf([...plan.steps, ofSpender])
    },
  }
}
