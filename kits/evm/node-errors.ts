// What the error of a node means. The first question is whether it is the word of the chain at all: a provider's limit, or state that a node has lost,
// says nothing of a transaction.
import type { Fault, NodeError, RpcAnswer } from '../nodes/dialect.ts'
import { beginningOf, lacksMethod, sizeFaultOf, speaksOfLimit, textOf, troubleOf } from '../nodes/faults.ts'
import { invalidAnswer, resultOf, type ReadRpc } from '../nodes/rpc.ts'
import { isBytes } from './encoding.ts'
import { revertData, saysReverted } from './reverts.ts'
import type { CallResult } from './types.ts'

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
  {
    says: /\bsigner had insufficient balance\b/,
    means: 'insufficient-funds',
    from: 'Monad monad-eth-txpool-types/src/lib.rs EthTxPoolDropReason::InsufficientBalance (category-labs/monad-bft)',
  },
  // The value of a transaction would leave less than the reserve balance of the chain.
  {
    says: /\breserve balance violation\b/,
    means: 'insufficient-funds',
    from: 'Monad monad-rpc/src/handlers/eth/mod.rs EthCallError::ReserveBalanceViolation, code -32603 (category-labs/monad-bft)',
  },
  { says: /\btransaction would cause overdraft\b/, means: 'insufficient-funds', from: 'geth (chainlink)' },
  { says: /\bnot enough funds for gas\b/, means: 'insufficient-funds', from: 'Arbitrum (chainlink)' },

  { says: /\bgas required exceeds\b/, means: 'out-of-gas', from: 'geth eth/gasestimator "gas required exceeds allowance"; reth; anvil' },
  { says: /\bout of gas\b/, means: 'out-of-gas', from: 'geth core/vm/errors.go ErrOutOfGas; reth; anvil' },
  {
    says: /\bevm error \w*(outofgas|oog)\b/,
    means: 'out-of-gas',
    from: 'anvil eth/error.rs BlockchainError::EvmError with InstructionResult of revm (OutOfGas, MemoryOOG, MemoryLimitOOG, PrecompileOOG, InvalidOperandOOG)',
  },
  {
    says: /\bintrinsic ?gas\b/,
    means: 'out-of-gas',
    from: 'geth core/error.go ErrIntrinsicGas; erigon "IntrinsicGas"; besu INTRINSIC_GAS_EXCEEDS_LIMIT; reth; anvil',
  },
  { says: /\binsufficient gas for floor data gas cost\b/, means: 'out-of-gas', from: 'geth core/error.go ErrFloorDataGas' },

  { says: /\btxpool is full\b/, means: 'not-now', from: 'geth core/txpool/legacypool ErrTxPoolOverflow; reth RpcPoolError.TxPoolOverflow' },
  {
    says: /\btransaction pool is (full|not ready)\b/,
    means: 'not-now',
    from: 'Monad monad-eth-txpool-types/src/lib.rs EthTxPoolDropReason::PoolFull, PoolNotReady (category-labs/monad-bft)',
  },
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

function byMessage(message: string): ErrorMeaning | undefined {
  const lower = message.toLowerCase()
  return errorPatterns.find(({ says }) => says.test(lower))?.means
}

/** What the chain says by an error to a call or a simulation. Undefined if the error is not the chain's word. */
export type CallVerdict = 'reverted' | 'out-of-gas' | 'insufficient-funds'

/** Of a plan, not of a wallet. */
const ofAccount = /\b(credits?|plan|billing|subscription|top[ -]?up|upgrade|deposit|api[ -]?key)\b/

export function callVerdict(error: NodeError): CallVerdict | undefined {
  const { code, message } = error
  if (saysReverted(error)) return 'reverted'
  const meaning = byMessage(message)
  if ((meaning === 'out-of-gas' || meaning === 'insufficient-funds') && !ofAccount.test(message.toLowerCase())) return meaning
  // Only now, since the same codes are given with other texts.
  if (speaksOfLimit(message)) return undefined
  if (code === revertCode) return 'reverted'
  const byCode = codes.get(code)
  return byCode === 'out-of-gas' || byCode === 'insufficient-funds' ? byCode : undefined
}

/** What providers say of an account there, too. */
const alsoOfAccount: ReadonlySet<ErrorMeaning> = new Set(['insufficient-funds', 'out-of-gas', 'not-now', 'invalid'])

/** Of an error to signed bytes. The code of a revert says nothing here: zkSync gives it for transactions that it has. */
export function sendErrorMeaning({ code, message }: NodeError): ErrorMeaning | undefined {
  const meaning = byMessage(message) ?? codes.get(code)
  return meaning !== undefined && alsoOfAccount.has(meaning) && ofAccount.test(message.toLowerCase()) ? undefined : meaning
}

/** JSON-RPC 2.0. */
const methodNotFound = -32601
const invalidParams = -32602

/** geth `rpc/json.go`; some nodes say it with the code of any error. */
const wrongParams = /\btoo many arguments\b|\binvalid argument \d\b|\bcannot unmarshal\b|\bmissing value for required argument\b/
/** Of nodes that give no logs of all contracts: PublicNode. */
const wantsAddress =
  /\b(specify|provide|include|requires?|must (have|contain)) (an? )?(contract )?address\b|\baddress(es)? (is|are) (required|mandatory)\b/

/** Every node serves these. One that says that it does not is no node of use. */
const methodsOfEveryNode: ReadonlySet<string> = new Set([
  'eth_blockNumber',
  'eth_call',
  'eth_estimateGas',
  'eth_getBalance',
  'eth_getBlockByNumber',
  'eth_getCode',
  'eth_getTransactionByHash',
  'eth_getTransactionCount',
  'eth_getTransactionReceipt',
])

/**
 * Codes that mean "too many requests": HTTP's 429, EIP-1474's "limit exceeded", and those of Optimism's
 * proxyd (`proxyd/backend.go`: over capacity, over rate limit, sender over rate limit), which fronts many public nodes.
 */
const limitCodes: ReadonlySet<number> = new Set([429, -32005, -32012, -32016, -32017])
/** proxyd: "no backend is currently healthy to serve traffic". */
const noBackend = -32011

/** EIP-1474's "limit exceeded" is given for too many logs, too. */
const limitExceeded = -32005
/** The public nodes of BSC answer each question for logs with it, and all other questions: bnb-chain/bsc issue 1215 */
const refusesAllLogs = /^limit exceeded\.?$/

/** How a call of the method can be made smaller. */
const sizeKindOf = (method: string | undefined) => (method === undefined ? 'batch' : method === 'eth_getLogs' ? 'range' : 'text')

/**
 * What an error is about: by its text and data first, because nodes give the same codes for all kinds. What is the chain's word has to be recognised;
 * everything that is not is the node's own trouble.
 */
export function judge(error: NodeError, method: string | undefined): Fault {
  const { code } = error
  const said = textOf(error)
  if (method === 'eth_sendRawTransaction' ? sendErrorMeaning(error) !== undefined : callVerdict(error) !== undefined)
    return { is: 'verdict' }
  const size = sizeFaultOf(error, sizeKindOf(method))
  if (size) return size
  const text = said.toLowerCase()
  if (code === limitExceeded && method === 'eth_getLogs' && !speaksOfLimit(said)) return { is: 'too-large', of: 'call' }
  if (method === 'eth_getLogs' && refusesAllLogs.test(text)) return { is: 'trouble', kind: 'rate-limited' }
  if (lacksMethod(text) || (code === methodNotFound && !speaksOfLimit(said))) {
    if (method === undefined || !methodsOfEveryNode.has(method)) return { is: 'unsupported', lacks: 'method' }
    return { is: 'trouble', kind: 'unreachable' }
  }
  if ((code === invalidParams && !speaksOfLimit(said)) || wrongParams.test(text) || (method === 'eth_getLogs' && wantsAddress.test(text)))
    return { is: 'unsupported' }
  return code === noBackend ? { is: 'trouble', kind: 'unreachable', ofNode: true } : troubleOf(error, limitCodes)
}

/** A node keeps the state of recent blocks only: geth ("missing trie node", "historical state … is not available"), besu, erigon, nethermind, reth, anvil ("BlockOutOfRangeError"). */
const lostState =
  /\bmissing trie node\b|\bstate\b.*\b(not available|unavailable|not found|pruned|missing)\b|\b(pruned|prune)\b|\barchiv\w*\b|\bold data not available\b|\bdistance to target block exceeds\b|\b(header|block|state) not found\b|\bunknown block\b|\bproof window\b|\bblock ?out ?of ?range/

/** Whether the node does not have the state of the block any more, or never had it. */
export const saysLostState = ({ message }: NodeError): boolean => lostState.test(beginningOf(message).toLowerCase())

/** https://eips.ethereum.org/EIPS/eip-4444 in geth */
const prunedHistory = 4444

/** Whether the node has lost what it was asked of a past block. What speaks of a limit is the node's trouble. */
export function saysLostHistory(answer: RpcAnswer | undefined): boolean {
  const error = answer?.error
  if (!error || callVerdict(error) || speaksOfLimit(error.message)) return false
  return error.code === prunedHistory || saysLostState(error)
}

/** The result of one `eth_call` of a batch. A revert is a result, too. @throws SluiceError NETWORK or RATE_LIMIT for any other error */
export function callResultOf(rpc: ReadRpc, answer: RpcAnswer | undefined): CallResult {
  if (isBytes(answer?.result)) return { ok: true, data: answer.result }
  if (answer?.error && callVerdict(answer.error)) return { ok: false, data: revertData(answer.error) }
  resultOf(rpc, 'eth_call', answer)
  throw invalidAnswer(rpc, 'answered eth_call with something that is no bytes')
}
