/** What a node's error to a transaction or its simulation means. */
export type Meaning = 'known' | 'nonce-too-low' | 'replacement-underpriced' | 'fee-too-low' | 'insufficient-funds' | 'out-of-gas' | 'reverted'

/** geth and those that follow it: a revert in `eth_call` and `eth_estimateGas` (`internal/ethapi/errors.go`). */
const revertCode = 3

/**
 * JSON-RPC has no codes for these: nearly all nodes say -32000. So the words of each, as its source has them, judged
 * after the codes. Searched in the message in lower case; the first that fits counts.
 */
const wordings: readonly { says: string; means: Meaning; from: string }[] = [
  { says: 'already known', means: 'known', from: 'geth core/txpool/errors.go; erigon, reth, nethermind 1.2x' },
  { says: 'alreadyknown', means: 'known', from: 'nethermind AcceptTxResult.AlreadyKnown' },
  { says: 'known transaction', means: 'known', from: 'besu RpcErrorType.TRANSACTION_ALREADY_KNOWN; geth before 1.9' },
  { says: 'transaction already imported', means: 'known', from: 'anvil PoolError::AlreadyImported; openethereum' },
  { says: 'already exists', means: 'known', from: 'erigon txpool DiscardReason AlreadyKnown ("ALREADY_EXISTS")' },
  { says: 'nonce too low', means: 'nonce-too-low', from: 'geth core/error.go ErrNonceTooLow; anvil, besu, erigon, reth' },
  { says: 'oldnonce', means: 'nonce-too-low', from: 'nethermind AcceptTxResult.OldNonce' },
  { says: 'replacement transaction underpriced', means: 'replacement-underpriced', from: 'geth core/txpool ErrReplaceUnderpriced; anvil, reth' },
  { says: 'could not replace existing', means: 'replacement-underpriced', from: 'erigon txpool DiscardReason NotReplaced' },
  { says: 'replacementnotallowed', means: 'replacement-underpriced', from: 'nethermind AcceptTxResult.ReplacementNotAllowed' },
  { says: 'max fee per gas less than block base fee', means: 'fee-too-low', from: 'geth core/error.go ErrFeeCapTooLow; anvil' },
  { says: 'transaction underpriced', means: 'fee-too-low', from: 'geth core/txpool ErrUnderpriced; besu GAS_PRICE_TOO_LOW' },
  { says: 'gas price below current base fee', means: 'fee-too-low', from: 'besu GAS_PRICE_BELOW_CURRENT_BASE_FEE' },
  { says: 'feetoolow', means: 'fee-too-low', from: 'nethermind AcceptTxResult.FeeTooLow' },
  { says: 'insufficient funds', means: 'insufficient-funds', from: 'geth core/error.go ErrInsufficientFunds; anvil, erigon, reth' },
  { says: 'insufficientfunds', means: 'insufficient-funds', from: 'nethermind AcceptTxResult.InsufficientFunds' },
  { says: 'upfront cost exceeds account balance', means: 'insufficient-funds', from: 'besu TRANSACTION_UPFRONT_COST_EXCEEDS_BALANCE' },
  { says: 'gas required exceeds', means: 'out-of-gas', from: 'geth eth/gasestimator; anvil BlockchainError::OutOfGas variants' },
  { says: 'out of gas', means: 'out-of-gas', from: 'anvil InvalidTransactionError::BasicOutOfGas; geth vm.ErrOutOfGas' },
  { says: 'intrinsic gas too', means: 'out-of-gas', from: 'geth core/error.go ErrIntrinsicGas; besu' },
  { says: 'execution reverted', means: 'reverted', from: 'geth vm.ErrExecutionReverted; besu, erigon, anvil' },
  { says: 'vm execution error', means: 'reverted', from: 'nethermind, openethereum (code -32015)' },
]

/** Undefined where neither code nor words are known. */
export function meaningOf({ code, message, data }: { code: number; message: string; data?: unknown }): Meaning | undefined {
  if (code === revertCode || (typeof data === 'string' && /^0x[0-9a-f]+$/i.test(data))) return 'reverted'
  const said = message.toLowerCase()
  return wordings.find(({ says }) => said.includes(says))?.means
}

/** What a node said, fit for an error or the journal: one line, no control characters, not long. */
export function quoteNode(message: string): string {
  return message.replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, ' ').trim().slice(0, 200)
}
