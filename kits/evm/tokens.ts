import { MaxUint256, AbiCoder } from 'ethers'
import { badFields, SluiceError, type At, type EvmVerbs, type Plan, type Token } from '../../core/contracts/index.ts'
import type { Rpc } from '../nodes/dialect.ts'
import { quantityOf } from './encoding.ts'
import { addressWord, word, ethBalanceCall } from './multicall.ts'
import { callResultOf } from './node-errors.ts'
import type { Call, CallResult, Evm, EvmIntent, EvmReader } from './types.ts'

/** The verbs that only EVM chains have. */
export function createApprovals(rpc: Rpc, reader: EvmReader): EvmVerbs<Evm> {
  async function allowances(
    owner: string,
    spenders: readonly string[],
    tokens: readonly Token[],
    at: At,
  ): Promise<readonly (readonly bigint[])[]> {
    if (spenders.length * tokens.length === 0) return spenders.map(() => [])
    // The native coin needs no allowance: whoever is called is paid by the call.
    const asked = tokens.filter((token) => !token.native)
    const calls = spenders.flatMap((spender) => asked.map((token) => allowanceCall(token.address, owner, spender)))
    const results = calls.length === 0 ? [] : (await reader.read(calls, at)).results
    return spenders.map((_, row) =>
      tokens.map((token) => {
        if (token.native) return maxAmountRaw
        return uintOf(results[row * asked.length + asked.indexOf(token)] ?? noResult) ?? notAToken(token)
      }),
    )
  }

  /**
   * Some tokens (USDT) refuse to change an allowance that is not 0. No list knows them all: the change is tried by a call
   * from the owner, and where it fails with an allowance standing, 0 goes first.
   */
  async function approve(
    owner: string,
    token: Token,
    spender: string,
    amountRaw: bigint | undefined,
    at: At,
  ): Promise<{ plan: Plan<Evm>; amountRaw: bigint }> {
    if (token.native) throw badFields([{ field: 'token', problem: `${token.symbol} is the native coin, which needs no allowance` }])
    const wanted = amountRaw ?? maxAmountRaw
    const change = approveCall(token.address, spender, wanted)
    const [current, tried] = await tryCalls([allowanceCall(token.address, owner, spender), { ...change, from: owner }], at)
    const currentRaw = uintOf(current) ?? notAToken(token)
    const last = intentOf(change)
    const memo = { kind: 'approve', token: token.address, spender, amountRaw: wanted.toString() }
    const plan = (steps: Plan<Evm>['steps']) => ({ plan: { steps, needs: [], memo }, amountRaw: wanted })
    if (approves(tried)) return plan([last])
    if (currentRaw > 0n && wanted > 0n) return plan([intentOf(approveCall(token.address, spender, 0n)), last])
    throw new SluiceError('TRADE_FAILED', `${token.symbol} refuses this approval: check the token, the spender and the amount.`, {
      details: { reason: tried.data },
    })
  }

  /** Calls as the owner, which Multicall3 cannot do, in one round trip. */
  async function tryCalls(calls: readonly [Call, Call & { from: string }], at: At): Promise<readonly [CallResult, CallResult]> {
    const [first, second] = await rpc.batch(
      calls.map((call) => ({ method: 'eth_call', params: [call, 'latest'] })),
      at,
    )
    return [callResultOf(rpc, first), callResultOf(rpc, second)]
  }

  function transfer({ address }: Token, recipient: string, amountRaw: bigint): Plan<Evm> {
    const needs: Plan<Evm>['needs'] = [{ is: 'balance', token: address, amountRaw }]
    return { steps: [intentOf(transferCall(address, recipient, amountRaw))], needs, memo: null }
  }

  return { allowances, approve, transfer }
}

/** Tokens older than the standard's last wording return nothing; some return false in place of reverting. */
function approves({ ok, data }: CallResult): boolean {
  return ok && (data === '0x' || BigInt(data) !== 0n)
}

function intentOf({ to, data }: Call): EvmIntent {
  return { to, data, value: '0' }
}

// https://eips.ethereum.org/EIPS/eip-20
const maxAmountRaw = MaxUint256

export function balanceOfCall(token: string, owner: string): Call {
  return { to: token, data: `0x70a08231${addressWord(owner)}` }
}

export function allowanceCall(token: string, owner: string, spender: string): Call {
  return { to: token, data: `0xdd62ed3e${addressWord(owner)}${addressWord(spender)}` }
}

function approveCall(token: string, spender: string, amountRaw: bigint): Call {
  return { to: token, data: `0x095ea7b3${addressWord(spender)}${word(amountRaw)}` }
}

function transferCall(token: string, recipient: string, amountRaw: bigint): Call {
  return { to: token, data: `0xa9059cbb${addressWord(recipient)}${word(amountRaw)}` }
}

export const symbolCall = (token: string): Call => ({ to: token, data: '0x95d89b41' })
export const decimalsCall = (token: string): Call => ({ to: token, data: '0x313ce567' })

/** The number that a view gave; undefined where the contract has no such view, or there is no contract. */
export function uintOf({ ok, data }: CallResult): bigint | undefined {
  return ok && data.length >= 66 ? quantityOf(data.slice(0, 66)) : undefined
}

/** Native and token balances at one block, in one round trip. */
export async function readBalances(
  reader: EvmReader,
  multicall: string,
  owner: string,
  tokens: readonly Token[],
  at: At,
): Promise<readonly bigint[]> {
  if (tokens.length === 0) return []
  const calls = tokens.map((token) => (token.native ? ethBalanceCall(multicall, owner) : balanceOfCall(token.address, owner)))
  const { results } = await reader.read(calls, at)
  return tokens.map((token, index) => uintOf(results[index] ?? noResult) ?? notAToken(token))
}

export const noResult = { ok: false, data: '0x' } as const

/** A balance of 0 in its place would be a lie. */
function notAToken({ symbol, address }: Token): never {
  throw new SluiceError('TOKEN_NOT_SUPPORTED', `${symbol} at ${address} does not answer as a token on this network: check its address.`)
}

/** 10^77 is the largest power of ten in 256 bits. */
const maxDecimals = 77
const maxSymbolLength = 32

/** A token from what its `symbol()` and `decimals()` gave; undefined where it has no decimals. */
export function readToken(address: string, symbol: CallResult, decimals: CallResult): Token | undefined {
  const places = uintOf(decimals)
  if (places === undefined || places > BigInt(maxDecimals)) return undefined
  return { symbol: readSymbol(symbol) || address, address, decimals: Number(places) }
}

/** Text of whoever deployed the token: nothing invisible, nothing that breaks a line or turns the writing direction. */
export function readSymbol({ ok, data }: CallResult): string {
  if (!ok) return ''
  const text = data.length === 66 ? textOfBytes32(data) : textOfString(data)
  return text
    .normalize('NFKC')
    .replace(/[^\p{L}\p{N}\p{P}\p{S}]/gu, '')
    .slice(0, maxSymbolLength)
}

/** The oldest tokens (MKR) return bytes32. */
function textOfBytes32(data: string): string {
  return Buffer.from(data.slice(2), 'hex').toString('utf8').replace(/\0+$/, '')
}

function textOfString(data: string): string {
  try {
    const [text]: unknown[] = AbiCoder.defaultAbiCoder().decode(['string'], data)
    return typeof text === 'string' ? text : ''
  } catch {
    return ''
  }
}
