/** What a node's error to a transaction or its simulation means. */
export type Meaning =
  | 'known'
  | 'nonce-too-low'
  | 'replacement-underpriced'
  | 'fee-too-low'
  | 'insufficient-funds'
  | 'out-of-gas'
  | 'reverted'

/** geth and those that follow it: a revert in `eth_call` and `eth_estimateGas` (`internal/ethapi/errors.go`). */
const revertCode = 3

/**
 * JSON-RPC has no codes for these: nearly all nodes say -32000, and besu's own (-32001 to -32009) mean other things
 * elsewhere. So the words of each, judged after the codes. Searched in the message in lower case; the first that fits counts.
 */
const wordings: readonly { says: string; means: Meaning; from: string }[] = [
  {
    says: 'already known',
    means: 'known',
    from: 'geth core/txpool/errors.go; erigon ("ALREADY_EXISTS: already known"); nethermind TxPoolErrorMessages',
  },
  { says: 'known transaction', means: 'known', from: 'besu RpcErrorType.ETH_SEND_TX_ALREADY_KNOWN; geth before 1.9' },
  { says: 'alreadyknown', means: 'known', from: 'nethermind before TxPoolErrorMessages: AcceptTxResult.AlreadyKnown' },
  { says: 'already imported', means: 'known', from: 'anvil; openethereum' },
  {
    says: 'nonce too low',
    means: 'nonce-too-low',
    from: 'geth core/error.go ErrNonceTooLow; erigon ("INTERNAL_ERROR: nonce too low"), besu, nethermind, anvil',
  },
  { says: 'oldnonce', means: 'nonce-too-low', from: 'nethermind before TxPoolErrorMessages: AcceptTxResult.OldNonce' },
  {
    says: 'replacement transaction underpriced',
    means: 'replacement-underpriced',
    from: 'geth core/txpool ErrReplaceUnderpriced; besu ETH_SEND_TX_REPLACEMENT_UNDERPRICED, nethermind, anvil',
  },
  {
    says: 'could not replace existing tx',
    means: 'replacement-underpriced',
    from: 'erigon ("INTERNAL_ERROR: could not replace existing tx")',
  },
  {
    says: 'ownnoncealreadyused',
    means: 'replacement-underpriced',
    from: 'nethermind before TxPoolErrorMessages: AcceptTxResult.OwnNonceAlreadyUsed',
  },
  { says: 'max fee per gas less than block base fee', means: 'fee-too-low', from: 'geth core/error.go ErrFeeCapTooLow; anvil' },
  { says: 'transaction underpriced', means: 'fee-too-low', from: 'geth core/txpool ErrUnderpriced; nethermind' },
  { says: 'gas price below', means: 'fee-too-low', from: 'besu GAS_PRICE_TOO_LOW, GAS_PRICE_BELOW_CURRENT_BASE_FEE' },
  { says: 'insufficient funds', means: 'insufficient-funds', from: 'geth core/error.go ErrInsufficientFunds; nethermind, erigon, anvil' },
  {
    says: 'insufficientfunds',
    means: 'insufficient-funds',
    from: 'nethermind before TxPoolErrorMessages: AcceptTxResult.InsufficientFunds',
  },
  { says: 'upfront cost exceeds account balance', means: 'insufficient-funds', from: 'besu TRANSACTION_UPFRONT_COST_EXCEEDS_BALANCE' },
  { says: 'gas required exceeds', means: 'out-of-gas', from: 'geth eth/gasestimator ("gas required exceeds allowance")' },
  { says: 'out of gas', means: 'out-of-gas', from: 'geth core/vm ErrOutOfGas; anvil' },
  {
    says: 'intrinsic gas',
    means: 'out-of-gas',
    from: 'geth core/error.go ErrIntrinsicGas ("intrinsic gas too low"); besu INTRINSIC_GAS_EXCEEDS_LIMIT',
  },
  { says: 'execution reverted', means: 'reverted', from: 'geth core/vm ErrExecutionReverted; besu, erigon, anvil' },
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
  return message
    .replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .trim()
    .slice(0, 200)
}
