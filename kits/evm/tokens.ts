import { MaxUint256, AbiCoder } from 'ethers'
import { badFields, SluiceError, type At, type EvmVerbs, type Plan, type Token } from '../../core/contracts/index.ts'
import type { Rpc } from '../nodes/rpc.ts'
import { addressWord, quantityOf, word } from './encoding.ts'
import { ethBalanceCall } from './multicall.ts'
import { callResultOf } from './node-errors.ts'
import { revertReason } from './reverts.ts'
import type { Call, CallResult, Evm, EvmIntent, EvmReader } from './types.ts'

/** Allowances, approvals and transfers, which only EVM chains have. */
export function createApprovals(
  rpc: Rpc,
  reader: EvmReader,
): Omit<EvmVerbs<Evm>, 'simulate' | 'standing' | 'moved' | 'permit2' | 'wrapped' | 'gasPrices'> {
  async function allowances(
    owner: string,
    spenders: readonly string[],
    tokens: readonly Token[],
    at: At,
  ): Promise<readonly (readonly (bigint | undefined)[])[]> {
    if (spenders.length * tokens.length === 0) return spenders.map(() => [])
    // The native coin needs no allowance: a call pays with its value.
    const erc20 = tokens.filter((token) => !token.native)
    const calls = spenders.flatMap((spender) => erc20.map((token) => allowanceCall(token.address, owner, spender)))
    const results = calls.length === 0 ? [] : (await reader.read(calls, at)).results
    return spenders.map((_, row) =>
      tokens.map((token) => {
        if (token.native) return maxAmountRaw
        return uintOf(results[row * erc20.length + erc20.indexOf(token)] ?? noResult)
      }),
    )
  }

  /**
   * Some tokens (USDT) refuse to change an allowance that is not 0. There is no list of them all, so the change is tried by a call from the
   * owner. If it fails while there is an allowance, 0 is approved first.
   */
  async function approve(
    owner: string,
    token: Token,
    spender: string,
    amountRaw: bigint | undefined,
    at: At,
  ): Promise<{ plan: Plan<Evm>; amountRaw: bigint }> {
    if (token.native) throw badFields([{ field: 'token', problem: `${token.symbol} is the native coin, which needs no allowance` }])
    const newRaw = amountRaw ?? maxAmountRaw
    const change = approveCall(token.address, spender, newRaw)
    const [current, tried] = await tryCalls([allowanceCall(token.address, owner, spender), { ...change, from: owner }], at)
    const currentRaw = uintOf(current) ?? notAToken(token)
    const approval = intentOf(change)
    const memo = { kind: 'approve', token: token.address, spender, amountRaw: newRaw.toString() }
    const plan = (steps: Plan<Evm>['steps']) => ({ plan: { steps, needs: [], memo }, amountRaw: newRaw })
    if (approves(tried)) return plan([approval])
    if (currentRaw > 0n && newRaw > 0n) return plan([intentOf(approveCall(token.address, spender, 0n)), approval])
    throw new SluiceError('TRADE_FAILED', `${token.symbol} refuses this approval: check the token, the spender and the amount.`, {
      details: { reason: revertReason(tried.data) },
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

  function transfer({ address, native }: Token, recipient: string, amountRaw: bigint): Plan<Evm> {
    if (native) return { steps: [{ to: recipient, data: '0x', value: amountRaw.toString() }], needs: [], memo: null }
    const needs: Plan<Evm>['needs'] = [{ is: 'balance', token: address, amountRaw }]
    return { steps: [intentOf(transferCall(address, recipient, amountRaw))], needs, memo: null }
  }

  return { allowances, approve, transfer }
}

/** The wrapped coin, one for one. Functions of WETH9: https://etherscan.io/address/0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2#code */
export const createWrapping = (token: Token): NonNullable<EvmVerbs<Evm>['wrapped']> => ({
  token,
  wrap: (amountRaw) => ({ steps: [{ to: token.address, data: '0xd0e30db0', value: amountRaw.toString() }], needs: [], memo: null }),
  unwrap: (amountRaw) => ({
    steps: [{ to: token.address, data: `0x2e1a7d4d${word(amountRaw)}`, value: '0' }],
    needs: [{ is: 'balance', token: token.address, amountRaw }],
    memo: null,
  }),
})

/** Tokens older than the final text of the standard return nothing. Some return false instead of reverting. */
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

/** The number that a view returned. Undefined if there is no contract, or if it has no such view. */
export function uintOf({ ok, data }: CallResult): bigint | undefined {
  return ok && data.length >= 66 ? quantityOf(data.slice(0, 66)) : undefined
}

/** Native and token balances at one block, in one round trip. A contract that is not a token has none, not a balance of 0. */
export async function readBalances(
  reader: EvmReader,
  multicall: string,
  owner: string,
  tokens: readonly Token[],
  at: At,
): Promise<readonly (bigint | undefined)[]> {
  if (tokens.length === 0) return []
  const calls = tokens.map((token) => (token.native ? ethBalanceCall(multicall, owner) : balanceOfCall(token.address, owner)))
  const { results } = await reader.read(calls, at)
  return tokens.map((_, index) => uintOf(results[index] ?? noResult))
}

export const noResult = { ok: false, data: '0x' } as const

function notAToken({ symbol, address }: Token): never {
  throw new SluiceError('TOKEN_NOT_SUPPORTED', `${symbol} at ${address} does not answer as a token on this network: check its address.`)
}

/** 10^77 is the largest power of ten in 256 bits. */
const maxDecimals = 77
const maxSymbolLength = 32

/** A token from the results of its `symbol()` and `decimals()`. Undefined if it has no decimals. */
export function readToken(address: string, symbol: CallResult, decimals: CallResult): Token | undefined {
  const count = uintOf(decimals)
  if (count === undefined || count > BigInt(maxDecimals)) return undefined
  return { symbol: readSymbol(symbol) || address, address, decimals: Number(count) }
}

/** The symbol is text of whoever deployed the token: invisible characters, line breaks and changes of writing direction are removed. */
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
