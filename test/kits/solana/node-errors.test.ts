import { expect } from 'chai'
import { nodeErrorRows } from '../../fixtures/node-errors.ts'
import { solanaDialect } from '../../../kits/solana/rpc.ts'

// What nodes answer: agave `rpc-client-api/src/custom_error.rs` unless said otherwise. What is in no row is trouble.
const table: readonly (readonly [code: number, message: string, method: string, is: string, kind?: string])[] = [
  [-32002, 'Transaction simulation failed: Error processing Instruction 2: custom program error: 0x1', 'sendTransaction', 'verdict'],
  [-32003, 'Transaction signature verification failure', 'sendTransaction', 'verdict'],
  [-32013, 'Transaction signature length mismatch', 'sendTransaction', 'verdict'],
  [-32011, 'Transaction history is not available from this node', 'getTransaction', 'verdict'],
  [-32015, 'Transaction version (0) is not supported by the requesting client', 'getTransaction', 'verdict'],
  [-32007, 'Slot 1 was skipped, or missing due to ledger jump to recent snapshot', 'getBlock', 'verdict'],
  [-32009, 'Slot 1 was skipped, or missing in long-term storage', 'getBlock', 'verdict'],
  [-32002, 'Transaction simulation failed: Blockhash not found', 'sendTransaction', 'trouble', 'unreachable'],
  [-32005, 'Node is behind by 153 slots', 'getSlot', 'trouble', 'unreachable'],
  [-32016, 'Minimum context slot has not been reached', 'getMultipleAccounts', 'trouble', 'unreachable'],
  [-32004, 'Block not available for slot 1', 'getBlock', 'trouble', 'unreachable'],
  [-32014, 'Block status not yet available for slot 1', 'getBlock', 'trouble', 'unreachable'],
  [-32603, 'Internal error', 'simulateTransaction', 'trouble', 'unreachable'],
  [-32000, 'Transaction was not confirmed', 'sendTransaction', 'trouble', 'unreachable'],
  // The public endpoints: https://solana.com/docs/references/clusters
  [429, 'Too many requests for a specific RPC call', 'getMultipleAccounts', 'trouble', 'rate-limited'],
  [-32429, 'rate limit exceeded', 'getSlot', 'trouble', 'rate-limited'],
  [403, 'Access forbidden, contact your app developer or support@rpcpool.com.', 'getSlot', 'trouble', 'unreachable'],
  [-32602, 'max usage reached: request limit of your plan', 'getSlot', 'trouble', 'rate-limited'],
  [Number.NaN, 'upstream connect error', 'getSlot', 'trouble', 'unreachable'],
  // https://github.com/solana-labs/solana-program-library/issues/2547, https://github.com/project-serum/serum-dex/issues/195
  [
    -32010,
    'Tokenkeg… excluded from account secondary indexes; this RPC method unavailable for key',
    'getProgramAccounts',
    'trouble',
    'unreachable',
  ],
  [410, 'The RPC call or parameters have been disabled.', 'getProgramAccounts', 'trouble', 'unreachable'],
  [403, 'Your IP or provider is blocked from this endpoint', 'getSlot', 'trouble', 'unreachable'],
  // https://github.com/bmresearch/Solnet/issues/310
  [-32000, 'Gateway timeout', 'getSlot', 'trouble', 'unreachable'],
  [-32005, 'Node is unhealthy', 'getSlot', 'trouble', 'unreachable'],
  // https://github.com/project-serum/serum-dex-ui/issues/90
  [-32602, 'Too many inputs provided; max 100', 'getMultipleAccounts', 'too-large'],
  [-32600, 'getMultipleAccounts is limited to 10 accounts on the free plan', 'getMultipleAccounts', 'too-large'],
  // Limits of providers, by codes that agave has for something else.
  [
    -32007,
    '15/second request limit reached - reduce calls per second or upgrade your account',
    'getMultipleAccounts',
    'trouble',
    'rate-limited',
  ],
  [-32007, '50/second request limit reached', 'getBlock', 'trouble', 'rate-limited'],
  [-32003, 'daily request limit reached - upgrade your account', 'simulateTransaction', 'trouble', 'rate-limited'],
  [-32003, 'daily request limit reached - upgrade your account', 'sendTransaction', 'trouble', 'rate-limited'],
  [-32011, 'You have exceeded the rate limit of your plan', 'getSignatureStatuses', 'trouble', 'rate-limited'],
  [-32015, 'compute units per second capacity exceeded', 'getTransaction', 'trouble', 'rate-limited'],
  [-32002, 'Too many requests: retry in 10 s', 'sendTransaction', 'trouble', 'rate-limited'],
  [-32601, 'Your plan is over its request limit', 'simulateTransaction', 'trouble', 'rate-limited'],
  // The code of one method in the answer to another, and words that nobody knows.
  [-32007, 'come back tomorrow', 'getMultipleAccounts', 'trouble', 'unreachable'],
  [-32011, 'no backend is currently healthy to serve traffic', 'getTransaction', 'trouble', 'unreachable'],
  [-32003, 'go away', 'sendTransaction', 'trouble', 'unreachable'],
  // By their words, whatever the code.
  [-32000, 'Transaction history is not available from this node', 'getTransaction', 'verdict'],
  [-32000, 'Transaction signature verification failure', 'sendTransaction', 'verdict'],
  [-32600, 'Method not supported: simulateTransaction', 'simulateTransaction', 'unsupported'],
  [-32601, 'Method not found', 'getRecentPrioritizationFees', 'unsupported'],
  [-32602, 'Invalid param: WrongSize', 'getAccountInfo', 'unsupported'],
]

/** Of gateways of any chain, by the code that agave has for being unhealthy. */
const limits = nodeErrorRows.filter(({ code, isLimit }) => code === -32005 && isLimit)

describe('errors of nodes of Solana', () => {
  const { judge } = solanaDialect(undefined)
  for (const [code, message, method, is, kind] of table)
    it(`${code} "${message}" is ${kind ?? is}`, () => {
      const fault = judge({ code, message }, method)
      expect(fault).to.include({ is, ...(kind !== undefined && { kind }) })
    })

  it('that answer a question for health say that the node has stalled, and nothing of the kind by the same code for a limit', () => {
    const unfit = { is: 'trouble', kind: 'unreachable', ofNode: true, unfit: true }
    expect(judge({ code: -32005, message: 'Node is behind by 153 slots' }, 'getHealth')).to.deep.equal(unfit)
    expect(judge({ code: -32005, message: 'Node is unhealthy', data: { numSlotsBehind: null } }, 'getHealth')).to.deep.equal(unfit)
    for (const { message, data } of limits) {
      const fault = judge({ code: -32005, message, data }, 'getHealth')
      expect(fault, message).to.include({ is: 'trouble', ofNode: true }).and.to.not.have.property('unfit')
    }
  })

  it('ask for smaller batches where one is too large', () => {
    expect(judge({ code: -32600, message: 'Batch size too large: at most 10 requests' }, undefined)).to.deep.equal({
      is: 'too-large',
      of: 'batch',
    })
  })
})
