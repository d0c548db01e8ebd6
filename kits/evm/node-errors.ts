import { AbiCoder } from 'ethers/abi'
import { isObject, type Rpc, type RpcAnswer } from '../nodes/dialect.ts'
import { quoteNode, invalidAnswer, resultOf } from '../nodes/rpc.ts'
import { isBytes } from './encoding.ts'
import type { CallResult } from './types.ts'

/** What a node's error to a transaction or its simulation means. */
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

/** geth and those that follow it: a revert in `eth_call` and `eth_estimateGas` (`internal/ethapi/errors.go`). */
const revertCode = 3

/** Codes that mean one thing wherever they are said: those of `eth_simulateV1` (geth `internal/ethapi/errors.go`, ethereum/execution-apis). */
const codes: ReadonlyMap<number, ErrorMeaning> = new Map<number, ErrorMeaning>([
  [-38010, 'nonce-too-low'],
  [-38011, 'nonce-too-high'],
  [-38013, 'out-of-gas'],
  [-38014, 'insufficient-funds'],
])

interface Wording {
  /** Searched in the message in lower case; the first row that fits counts. */
  says: RegExp
  means: ErrorMeaning
  /** Project and file that it stands in. "chainlink" are the messages that its tests collected from networks (`evm/client/errors_test.go`). */
  from: string
}

/**
 * JSON-RPC has no codes for these: nearly all nodes say -32000, and besu's own (-32001 to -32009) mean other things
 * elsewhere. So the words of each, judged after the codes.
 */
export const errorPatterns: readonly Wording[] = [
  // First, for a contract may give any words as its reason.
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
  // Not "unknown transaction type", which anvil says.
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

  // Of another account, whose authorization it carries.
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

function byWords(message: string): ErrorMeaning | undefined {
  const said = message.toLowerCase()
  return errorPatterns.find(({ says }) => says.test(said))?.means
}

/** Of an error to a call or a simulation. Undefined where neither code nor words are known. */
export function errorMeaning({ code, message, data }: NodeError): ErrorMeaning | undefined {
  if (code === revertCode || (typeof data === 'string' && /^0x[0-9a-f]+$/i.test(data))) return 'reverted'
  return codes.get(code) ?? byWords(message)
}

/** Of an error to signed bytes, for which the code of a revert says nothing: zkSync gives it to transactions that it has. */
export function sendErrorMeaning({ code, message }: NodeError): ErrorMeaning | undefined {
  return codes.get(code) ?? byWords(message)
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

/** What a revert's data says, for people. */
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
    // A contract may revert with bytes of its own that begin like one of these.
  }
  return `custom error ${selector}`
}

/** JSON-RPC error codes that say "the call itself failed": geth's with revert data, geth's without any, Nethermind's. */
const executionCodes: ReadonlySet<number> = new Set([3, -32000, -32015])

/** What a reverted call gave back, `0x` where it gave nothing; undefined where the error is of another kind. */
export function revertData({ code, data }: { code: number; data?: unknown }): string | undefined {
  // Some nodes wrap it once more: { data: '0x…' }.
  const inner = isObject(data) ? data['data'] : data
  // Nethermind writes "Reverted 0x…".
  const bytes = typeof inner === 'string' ? inner.replace(/^Reverted /, '') : inner
  if (isBytes(bytes)) return bytes
  return executionCodes.has(code) ? '0x' : undefined
}

/** What one `eth_call` of a batch gave: a revert is a result too. */
export function callResultOf(rpc: Rpc, answer: RpcAnswer | undefined): CallResult {
  if (isBytes(answer?.result)) return { ok: true, data: answer.result }
  const reverted = answer?.error && revertData(answer.error)
  if (reverted !== undefined) return { ok: false, data: reverted }
  resultOf(rpc, 'eth_call', answer)
  throw invalidAnswer(rpc, 'answered eth_call with something that is no bytes')
}
