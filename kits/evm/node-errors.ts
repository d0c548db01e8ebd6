import { AbiCoder } from 'ethers/abi'
import { type RpcAnswer } from '../nodes/dialect.ts'
import { quoteNode, invalidAnswer, resultOf, type ReadRpc } from '../nodes/rpc.ts'
import { isBytes } from './encoding.ts'
import type { CallResult } from './types.ts'
import { isObject } from '../../core/json.ts'

/** What the error of a node means, for a transaction or its simulation. */
export type ErrorMeaning =
  | 'known'
  | 'nonce-too-low'
  | 'nonce-too-high'
  | 'replacement-underpriced'
  | 'fee-too-low'
  | 'insufficient-funds'
  | 'out-of-gas'
  | 'not-now'
  | 'invalid'
  | 'reverted'

/** A revert in `eth_call` and `eth_estimateGas`: geth (`internal/ethapi/errors.go`) and nodes that follow it. */
const revertCode = 3

/** Codes that mean the same for every method: those of `eth_simulateV1` (geth `internal/ethapi/errors.go`, ethereum/execution-apis). */
const codes: ReadonlyMap<number, ErrorMeaning> = new Map<number, ErrorMeaning>([
  [-38010, 'nonce-too-low'],
  [-38011, 'nonce-too-high'],
  [-38013, 'out-of-gas'],
  [-38014, 'insufficient-funds'],
])

interface ErrorPattern {
  /** Tested on the message in lower case. The first pattern that fits counts. */
  says: RegExp
  means: ErrorMeaning
  /** The project and its file. "chainlink" are messages that its tests collected from networks (`evm/client/errors_test.go`). */
  from: string
}

/**
 * JSON-RPC has no codes for these: nearly all nodes give -32000, and besu's own codes (-32001 to -32009) mean other things for other nodes.
 * So the messages of each client are listed. They count only if the code is not known.
 */
export const errorPatterns: readonly ErrorPattern[] = [
  // First, because a contract may give any text as its reason.
  {
    says: /execution reverted/,
    means: 'reverted',
    from: 'geth core/vm/errors.go ErrExecutionReverted; reth, besu RpcErrorType.REVERT_ERROR, anvil',
  },
  { says: /vm execution error/, means: 'reverted', from: 'nethermind (code -32015)' },

  {
    says: /\balready known\b/,
    means: 'known',
    from: 'geth core/txpool/errors.go; erigon txpoolcfg.go; nethermind TxPoolErrorMessages.cs; reth RpcPoolError',
  },
  // Not anvil's "unknown transaction type".
  {
    says: /\bknown transaction\b/,
    means: 'known',
    from: 'besu RpcErrorType.ETH_SEND_TX_ALREADY_KNOWN; hardhat (edr mem_pool.rs); zkSync (chainlink), with code 3',
  },
  { says: /\balreadyknown\b/, means: 'known', from: 'nethermind AcceptTxResult.cs before TxPoolErrorMessages' },
  {
    says: /\balready ?imported\b/,
    means: 'known',
    from: 'anvil eth/error.rs PoolError; reth transaction-pool; Moonbeam "Pool(AlreadyImported)" (chainlink)',
  },
  { says: /\bexisting txn with same hash\b/, means: 'known', from: 'erigon txpoolcfg.go DuplicateHash' },

  // The nonce of another account, whose authorization the transaction carries.
  { says: /\bauthority nonce too low\b/, means: 'invalid', from: 'geth core/txpool/errors.go ErrAuthorityNonceTooLow' },
  {
    says: /\bnonce too low\b/,
    means: 'nonce-too-low',
    from: 'geth core/error.go; erigon txpoolcfg.go; besu RpcErrorType; nethermind TxPoolErrorMessages.cs; reth; anvil; hardhat; zkSync SubmitTxError',
  },
  { says: /\boldnonce\b/, means: 'nonce-too-low', from: 'nethermind AcceptTxResult.cs before TxPoolErrorMessages' },
  { says: /\bpool\(stale\)/, means: 'nonce-too-low', from: 'Moonbeam (chainlink)' },
  { says: /\btransaction already finalized\b/, means: 'nonce-too-low', from: 'Harmony (chainlink)' },
  {
    says: /\bnonce too high\b/,
    means: 'nonce-too-high',
    from: 'geth core/error.go; besu RpcErrorType; nethermind TxPoolErrorMessages.cs; reth; anvil; zkSync SubmitTxError; Arbitrum (chainlink)',
  },
  { says: /\bnoncegap\b/, means: 'nonce-too-high', from: 'nethermind AcceptTxResult.cs before TxPoolErrorMessages' },
  { says: /\bnonce too far in future\b/, means: 'nonce-too-high', from: 'nethermind TxPoolErrorMessages.cs' },
  {
    says: /\bnonce is too distant from current sender nonce\b/,
    means: 'nonce-too-high',
    from: 'besu RpcErrorType.NONCE_TOO_FAR_IN_FUTURE_FOR_SENDER',
  },
  { says: /\bgapped-nonce tx\b/, means: 'nonce-too-high', from: 'geth core/txpool/legacypool ErrOutOfOrderTxFromDelegated' },

  {
    says: /\breplacement transaction underpriced\b/,
    means: 'replacement-underpriced',
    from: 'geth core/txpool/errors.go; erigon txpoolcfg.go; besu RpcErrorType; nethermind TxPoolErrorMessages.cs; reth; anvil; hardhat',
  },
  {
    says: /\bto replace existing transaction\b/,
    means: 'replacement-underpriced',
    from: 'reth transaction-pool/src/error.rs PoolErrorKind; anvil eth/error.rs PoolError',
  },
  { says: /\bcould not replace existing tx\b/, means: 'replacement-underpriced', from: 'erigon txpoolcfg.go NotReplaced' },
  {
    says: /\bfuture transaction tries to replace pending\b/,
    means: 'replacement-underpriced',
    from: 'geth core/txpool/errors.go ErrFutureReplacePending',
  },

  // After the replacements, which say "underpriced" too.
  {
    says: /\bunderpriced\b/,
    means: 'fee-too-low',
    from: 'geth core/txpool/errors.go ErrUnderpriced; erigon "underpriced"; nethermind; reth',
  },
  {
    says: /\bfee ?too ?low/,
    means: 'fee-too-low',
    from: 'erigon txpoolcfg.go FeeTooLow; nethermind AcceptTxResult.cs before TxPoolErrorMessages (FeeTooLow, FeeTooLowToCompete)',
  },
  {
    says: /\bmax fee per gas less than block base fee\b/,
    means: 'fee-too-low',
    from: 'geth core/error.go ErrFeeCapTooLow; reth; anvil; zkSync SubmitTxError',
  },
  {
    says: /\bgas price below\b/,
    means: 'fee-too-low',
    from: 'besu GAS_PRICE_TOO_LOW, GAS_PRICE_BELOW_CURRENT_BASE_FEE; geth "transaction gas price below minimum" (bor, BSC)',
  },
  {
    says: /\bpriority fee below minimum required\b/,
    means: 'fee-too-low',
    from: 'reth rpc-eth-types RpcInvalidTransactionError.PriorityFeeBelowMinimum',
  },
  { says: /\bgas price too low\b/, means: 'fee-too-low', from: 'Arbitrum, Metis (chainlink)' },
  { says: /\bis too low for the next block\b/, means: 'fee-too-low', from: 'hardhat (edr provider error AutoMineMaxFeePerGasTooLow)' },

  {
    says: /\binsufficient funds\b/,
    means: 'insufficient-funds',
    from: 'geth core/error.go ErrInsufficientFunds; erigon; nethermind; reth; anvil; zkSync SubmitTxError',
  },
  { says: /\binsufficientfunds\b/, means: 'insufficient-funds', from: 'nethermind AcceptTxResult.cs before TxPoolErrorMessages' },
  {
    says: /\bupfront cost exceeds account balance\b/,
    means: 'insufficient-funds',
    from: 'besu RpcErrorType.TRANSACTION_UPFRONT_COST_EXCEEDS_BALANCE',
  },
  { says: /\bdoesn't have enough funds to send tx\b/, means: 'insufficient-funds', from: 'hardhat (edr mem_pool.rs)' },
  { says: /\btransaction would cause overdraft\b/, means: 'insufficient-funds', from: 'geth (chainlink)' },
  { says: /\bnot enough funds for gas\b/, means: 'insufficient-funds', from: 'Arbitrum (chainlink)' },

  { says: /\bgas required exceeds\b/, means: 'out-of-gas', from: 'geth eth/gasestimator "gas required exceeds allowance"; reth; anvil' },
  { says: /\bout of gas\b/, means: 'out-of-gas', from: 'geth core/vm/errors.go ErrOutOfGas; reth; anvil' },
  {
    says: /\bintrinsic ?gas\b/,
    means: 'out-of-gas',
    from: 'geth core/error.go ErrIntrinsicGas; erigon "IntrinsicGas"; besu INTRINSIC_GAS_EXCEEDS_LIMIT; reth; anvil',
  },
  { says: /\binsufficient gas for floor data gas cost\b/, means: 'out-of-gas', from: 'geth core/error.go ErrFloorDataGas' },

  { says: /\btxpool is full\b/, means: 'not-now', from: 'geth core/txpool/legacypool ErrTxPoolOverflow; reth RpcPoolError.TxPoolOverflow' },
  {
    says: /\bsub-pool is full\b/,
    means: 'not-now',
    from: 'erigon txpoolcfg.go PendingPoolOverflow, BaseFeePoolOverflow, QueuedPoolOverflow',
  },
  { says: /\bpending tx pool full\b/, means: 'not-now', from: 'Arbitrum (chainlink) "sequencer pending tx pool full, please try again"' },
  {
    says: /\bin-flight transaction limit reached\b/,
    means: 'not-now',
    from: 'geth core/txpool ErrInflightTxLimitReached; Alchemy on Base',
  },
  { says: /\baccount limit exceeded\b/, means: 'not-now', from: 'geth core/txpool/errors.go ErrAccountLimitExceeded' },
  {
    says: /\b(address|authority) already reserved\b/,
    means: 'not-now',
    from: 'geth core/txpool/errors.go ErrAlreadyReserved, ErrAuthorityReserved; reth',
  },
  { says: /\bnode is syncing\b/, means: 'not-now', from: 'nethermind TxPoolErrorMessages.cs' },
  { says: /\binitial sync is still in progress\b/, means: 'not-now', from: 'besu RpcErrorType.CHAIN_HEAD_WORLD_STATE_NOT_AVAILABLE' },
  { says: /\btransaction pool not enabled\b/, means: 'not-now', from: 'besu RpcErrorType.TX_POOL_DISABLED' },

  {
    says: /\bexceeds block('s)? gas limit\b/,
    means: 'invalid',
    from: 'geth core/txpool/errors.go ErrGasLimit; besu EXCEEDS_BLOCK_GAS_LIMIT; reth; hardhat; zkSync',
  },
  {
    says: /\bgas limit (is )?too high\b/,
    means: 'invalid',
    from: 'geth ErrGasLimitTooHigh (EIP-7825); erigon txpoolcfg.go GasLimitTooHigh; reth',
  },
  { says: /\bgas limit is greater than the block gas limit\b/, means: 'invalid', from: 'anvil eth/error.rs TxGasLimitGreaterThanCap' },
  {
    says: /\bexceeds the configured cap\b/,
    means: 'invalid',
    from: 'geth internal/ethapi checkTxFee "tx fee (…) exceeds the configured cap (…)"; erigon',
  },
  { says: /\btransaction fee cap exceeded\b/, means: 'invalid', from: 'besu RpcErrorType.TX_FEECAP_EXCEEDED' },
  {
    says: /\bhigher than max fee per gas\b/,
    means: 'invalid',
    from: 'geth core/error.go ErrTipAboveFeeCap; reth; anvil; zkSync SubmitTxError',
  },
  { says: /\binvalid sender\b/, means: 'invalid', from: 'geth core/txpool/errors.go; erigon txpoolcfg.go; reth; zkSync' },
  { says: /\bsender (is )?not an eoa\b/, means: 'invalid', from: 'geth core/error.go ErrSenderNoEOA; nethermind; reth; anvil' },
  {
    says: /\b(invalid|wrong) ?chain ?id\b/,
    means: 'invalid',
    from: 'geth core/types ErrInvalidChainId; besu WRONG_CHAIN_ID; reth; anvil "invalid chain id for signer"',
  },
  { says: /\btransaction type (is )?not supported\b/, means: 'invalid', from: 'geth core/types ErrTxTypeNotSupported; reth' },
  { says: /\boversized data\b/, means: 'invalid', from: 'geth core/txpool/errors.go ErrOversizedData; erigon txpoolcfg.go; reth' },
]

interface NodeError {
  code: number
  message: string
  data?: unknown
}

function byMessage(message: string): ErrorMeaning | undefined {
  const lower = message.toLowerCase()
  return errorPatterns.find(({ says }) => says.test(lower))?.means
}

/** Of an error to a call or a simulation. Undefined if neither the code nor the message is known. */
export function errorMeaning({ code, message, data }: NodeError): ErrorMeaning | undefined {
  if (code === revertCode || (typeof data === 'string' && /^0x[0-9a-f]+$/i.test(data))) return 'reverted'
  return codes.get(code) ?? byMessage(message)
}

/** Of an error to signed bytes. The code of a revert says nothing here: zkSync gives it for transactions that it has. */
export function sendErrorMeaning({ code, message }: NodeError): ErrorMeaning | undefined {
  return codes.get(code) ?? byMessage(message)
}

/** Selectors of Solidity's two built-in errors: `Error(string)` and `Panic(uint256)`. */
const errorSelector = '0x08c379a0'
const panicSelector = '0x4e487b71'

/** https://docs.soliditylang.org/en/latest/control-structures.html#panic-via-assert-and-error-via-require */
const panics: ReadonlyMap<bigint, string> = new Map([
  [0x01n, 'an assertion failed'],
  [0x11n, 'arithmetic overflow or underflow'],
  [0x12n, 'division by zero'],
  [0x21n, 'a value outside of an enumeration'],
  [0x22n, 'broken storage of bytes'],
  [0x31n, 'pop of an empty array'],
  [0x32n, 'an index outside of an array'],
  [0x41n, 'too much memory'],
  [0x51n, 'a call of an uninitialized function'],
])

/** The reason in a revert's data, as text. */
export function revertReason(data: unknown): string {
  if (typeof data !== 'string' || data === '0x') return 'reverted without a reason'
  const selector = data.slice(0, 10).toLowerCase()
  const body = `0x${data.slice(10)}`
  try {
    if (selector === errorSelector) return quoteNode(String(AbiCoder.defaultAbiCoder().decode(['string'], body)[0]))
    if (selector === panicSelector) {
      const code = BigInt(AbiCoder.defaultAbiCoder().decode(['uint256'], body)[0])
      return `panic 0x${code.toString(16).padStart(2, '0')}: ${panics.get(code) ?? 'of an unknown kind'}`
    }
  } catch {
    // A contract may revert with other bytes that begin like one of these.
  }
  return `custom error ${selector}`
}

/** JSON-RPC error codes that mean that the call itself failed: geth's with revert data, geth's without, Nethermind's. */
const executionCodes: ReadonlySet<number> = new Set([3, -32000, -32015])

/** The data of a reverted call, `0x` if there is none. Undefined if the error is not a revert. */
export function revertData({ code, data }: { code: number; data?: unknown }): string | undefined {
  // Some nodes wrap it in an object: { data: '0x…' }.
  const inner = isObject(data) ? data['data'] : data
  // Nethermind writes "Reverted 0x…".
  const bytes = typeof inner === 'string' ? inner.replace(/^Reverted /, '') : inner
  if (isBytes(bytes)) return bytes
  return executionCodes.has(code) ? '0x' : undefined
}

/** The result of one `eth_call` of a batch. A revert is a result, too. @throws SluiceError NETWORK for any other error */
export function callResultOf(rpc: ReadRpc, answer: RpcAnswer | undefined): CallResult {
  if (isBytes(answer?.result)) return { ok: true, data: answer.result }
  const reverted = answer?.error && revertData(answer.error)
  if (reverted !== undefined) return { ok: false, data: reverted }
  resultOf(rpc, 'eth_call', answer)
  throw invalidAnswer(rpc, 'answered eth_call with something that is no bytes')
}
