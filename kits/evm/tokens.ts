import { badFields, SluiceError } from '../../core/contracts/index.ts'
import type { At, EvmVerbs, Plan, Token } from '../../core/contracts/index.ts'
import type { Rpc } from '../../core/kits/nodes/types.ts'
import { noResult, notAToken } from '../../core/kits/evm/reading/balances.ts'
import { callResultOf } from '../../core/kits/evm/reading/call-result.ts'
import { allowanceCall, approveCall, maxAmountRaw, transferCall, uintOf } from '../../core/kits/evm/reading/erc20.ts'
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
