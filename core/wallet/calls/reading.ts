// What is common to the readers of calls: a call of a contract of the release is read for what it can take from the wallet at most, and for who
// gets what it gives.
import { FunctionFragment, ParamType } from 'ethers/abi'
import { Refusal } from '../policy.ts'
import { decoderOf, type ArgumentsDecoder } from './abi.ts'

/** The call of a contract. Addresses are lower-case. */
export interface ContractCall {
  readonly wallet: string
  readonly contract: string
  readonly data: string
  /** Of the native coin that goes with it. */
  readonly valueRaw: bigint
  /** The token that wraps the native coin. */
  readonly wrapped: string | undefined
  /** Tokens of lists: their code is trusted not to act while they move. */
  readonly listed: ReadonlySet<string>
}

/** By token, what a call can take from the wallet at most, beside the coin that goes with it. */
export type Amounts = ReadonlyMap<string, bigint>

/** @throws Unreadable @throws Refusal where somebody else than the wallet gets what it gives */
export type CallReader = (call: ContractCall) => Amounts

/** It cannot be told what the call takes. The message goes on after "it cannot read how much … takes: ". */
export class Unreadable extends Error {
  override readonly name = 'Unreadable'
}

export const zeroAddress = '0x0000000000000000000000000000000000000000'
/** Calls, commands and actions within one call. */
const mostParts = 64
/** Of the data of a call: what points at one part of it many times would be decoded as often. Plans of this release have a few kB. */
const maxBytes = 32_768

export const text = (value: unknown): string => {
  if (typeof value !== 'string') throw new Unreadable('an argument is of another type')
  return value.toLowerCase()
}
export const amount = (value: unknown): bigint => {
  if (typeof value !== 'bigint') throw new Unreadable('an argument is of another type')
  return value
}
export const list = (value: unknown): readonly unknown[] => {
  if (!Array.isArray(value)) throw new Unreadable('an argument is of another type')
  return value
}
/** @throws Unreadable for more parts than one call may have */
export const parts = (value: unknown): readonly unknown[] => {
  const all = list(value)
  if (all.length > mostParts) throw new Unreadable(`it has ${all.length} parts, and ${mostParts} are read at most`)
  return all
}
export const first = (path: readonly string[]): string => path[0] ?? unreadablePath()
export const last = (path: readonly string[]): string => path.at(-1) ?? unreadablePath()
const unreadablePath = (): never => {
  throw new Unreadable('its path has no tokens')
}

export interface Method {
  readonly name: string
  readonly args: readonly unknown[]
}

/**
 * Decodes calls by their methods. What is encoded in another way than the usual one is not read: contracts may read it in another way, too.
 */
export function methodsOf(signatures: readonly string[]): (data: string) => Method {
  let methods: ReadonlyMap<string, { readonly name: string; readonly decodeArgs: ArgumentsDecoder }> | undefined
  return (data) => {
    methods ??= new Map(
      signatures.map((signature) => {
        const { selector, name, inputs } = FunctionFragment.from(signature)
        return [selector, { name, decodeArgs: decoderOf(inputs) }]
      }),
    )
    if (data.length > 2 + 2 * maxBytes) throw new Unreadable(`it is above ${maxBytes} bytes`)
    const selector = data.slice(0, 10)
    const method = methods.get(selector)
    if (!method) throw new Unreadable(`the method ${selector} has no reader`)
    return { name: method.name, args: method.decodeArgs(data.slice(10)) ?? unusual() }
  }
}

/** The same of arguments without a method. */
export function argumentsOf(types: readonly string[]): (data: unknown) => readonly unknown[] {
  let decodeArgs: ArgumentsDecoder | undefined
  return (data) => {
    decodeArgs ??= decoderOf(types.map((type) => ParamType.from(type)))
    const digits = text(data)
    return (digits.startsWith('0x') ? decodeArgs(digits.slice(2)) : undefined) ?? unusual()
  }
}

const unusual = (): never => {
  throw new Unreadable('its arguments do not fit its method, or are encoded in an unusual way')
}

/** The one-byte numbers in bytes: commands, actions. */
export const codesIn = (bytes: unknown): readonly number[] =>
  text(bytes)
    .slice(2)
    .match(/../g)
    ?.map((each) => Number.parseInt(each, 16)) ?? []

/** What the parts of one call take, and what they leave with the contract on the way. */
export interface Tally {
  readonly amounts: Map<string, bigint>
  take(token: string, amountRaw: bigint): void
  /** The wallet gets it, or the contract keeps it for a later part. @throws Refusal for anybody else */
  give(token: string, receiver: string): void
  /** The wallet gets what the contract has of the token. @throws Refusal for anybody else */
  payOut(token: string, receiver: string): void
  /** A later part uses what the contract has of the token. */
  use(token: string): void
  /** @throws Refusal where something stays with the contract */
  finish(): Amounts
}

interface TallyOptions {
  readonly call: ContractCall
  /** Stand for the contract itself as a receiver. */
  readonly self: readonly string[]
  /** Stands for the caller as a receiver. */
  readonly caller?: string
}

export function createTally({ call: { wallet }, self, caller }: TallyOptions): Tally {
  const amounts = new Map<string, bigint>()
  const held = new Set<string>()
  const isWallet = (receiver: string) => receiver === wallet || receiver === caller
  return {
    amounts,
    take(token, amountRaw) {
      amounts.set(token, (amounts.get(token) ?? 0n) + amountRaw)
    },
    give(token, receiver) {
      if (isWallet(receiver)) return
      if (!self.includes(receiver)) throw toStranger(receiver, wallet)
      held.add(token)
    },
    payOut(token, receiver) {
      if (!isWallet(receiver)) throw toStranger(receiver, wallet)
      held.delete(token)
    },
    use: (token) => void held.delete(token),
    finish() {
      const [token] = held
      if (token !== undefined)
        throw new Refusal(`the call leaves ${token} with the contract, where anybody may take it, and not with the wallet ${wallet}`)
      return amounts
    },
  }
}

const toStranger = (receiver: string, wallet: string): Refusal =>
  new Refusal(`what the call gives goes to ${receiver}, and the limits of ${wallet} let it go to the wallet alone`)

/** @throws Refusal where it is not the wallet */
export function requireWallet(receiver: string, { wallet }: ContractCall): void {
  if (receiver !== wallet) throw toStranger(receiver, wallet)
}

/**
 * Contracts of Uniswap v3 make each payment of the wrapped coin either with the coin that came with the call, or, where they have too little left of
 * that, with the wrapped coin of the wallet alone. Code of a token or a pool can have them return the coin in between. So the wrapped coin counts in
 * full, unless the coin certainly pays for all of it.
 * @param isCoinKept whether they keep the coin until their last payment, and pay with it for nothing but what is counted
 */
export function countCoin(
  amounts: Map<string, bigint>,
  { valueRaw, wrapped, listed }: ContractCall,
  { tokens, isCoinKept }: { readonly tokens: Iterable<string>; readonly isCoinKept: boolean },
): void {
  if (valueRaw === 0n || wrapped === undefined || !isCoinKept) return
  if ([...tokens].some((token) => token !== wrapped && !listed.has(token))) return
  if (valueRaw >= (amounts.get(wrapped) ?? 0n)) amounts.set(wrapped, 0n)
}
