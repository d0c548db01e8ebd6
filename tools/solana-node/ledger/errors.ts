import type { FailedTransactionMetadata } from 'litesvm'
import type { Answer } from '../rpc/protocol.ts'

/** The error as a node writes it in JSON. */
export function transactionErrorOf(failed: FailedTransactionMetadata): Answer {
  const error = failed.err()
  if (typeof error === 'number') return nameOf(transactionErrors, error)
  if ('err' in error) return { InstructionError: [error.index, instructionErrorOf(error.err())] }
  if ('index' in error) return { DuplicateInstruction: error.index }
  const name = error.constructor.name.replace('TransactionError', '')
  return { [name]: { account_index: error.accountIndex } }
}

function instructionErrorOf(error: number | { code: number } | { msg: string }): Answer {
  if (typeof error === 'number') return nameOf(instructionErrors, error)
  return 'code' in error ? { Custom: error.code } : 'BorshIoError'
}

function nameOf(names: readonly string[], number: number): string {
  const name = names[number]
  if (!name) throw new Error(`LiteSVM knows an error ${number} that has no name here.`)
  return name
}

/** The error in the words of a node's messages: solana-transaction-error, impl Display. */
export function sentenceOf(error: Answer): string {
  if (typeof error === 'string') return sentences[error] ?? error
  const [index, inner]: unknown[] = Reflect.get(Object(error), 'InstructionError') ?? []
  if (typeof index !== 'number') return JSON.stringify(error)
  const code: unknown = Reflect.get(Object(inner), 'Custom')
  return `Error processing Instruction ${index}: ${typeof code === 'number' ? `custom program error: 0x${code.toString(16)}` : JSON.stringify(inner)}`
}

const sentences: Readonly<Record<string, string>> = {
  AccountLoadedTwice: 'Account loaded twice',
  AccountNotFound: 'Attempt to debit an account but found no record of a prior credit.',
  AddressLookupTableNotFound: "Transaction loads an address table account that doesn't exist",
  AlreadyProcessed: 'This transaction has already been processed',
  BlockhashNotFound: 'Blockhash not found',
  InsufficientFundsForFee: 'Insufficient funds for fee',
  InvalidAddressLookupTableData: 'Transaction loads an address table account with invalid data',
  InvalidAddressLookupTableIndex: 'Transaction address table lookup uses an invalid index',
  InvalidAddressLookupTableOwner: 'Transaction loads an address table account with an invalid owner',
  InvalidAccountForFee: 'This account may not be used to pay transaction fees',
  ProgramAccountNotFound: 'Attempt to load a program that does not exist',
  SignatureFailure: 'Transaction did not pass signature verification',
}

const words = (text: string): readonly string[] => text.trim().split(/\s+/)

/** As solana-instruction-error names them, in the order in which LiteSVM numbers them: litesvm 1.5.0, dist/internal.d.ts. */
export const instructionErrors = words(`
  GenericError InvalidArgument InvalidInstructionData InvalidAccountData AccountDataTooSmall InsufficientFunds
  IncorrectProgramId MissingRequiredSignature AccountAlreadyInitialized UninitializedAccount UnbalancedInstruction
  ModifiedProgramId ExternalAccountLamportSpend ExternalAccountDataModified ReadonlyLamportChange ReadonlyDataModified
  DuplicateAccountIndex ExecutableModified RentEpochModified NotEnoughAccountKeys AccountDataSizeChanged
  AccountNotExecutable AccountBorrowFailed AccountBorrowOutstanding DuplicateAccountOutOfSync InvalidError
  ExecutableDataModified ExecutableLamportChange ExecutableAccountNotRentExempt UnsupportedProgramId CallDepth
  MissingAccount ReentrancyNotAllowed MaxSeedLengthExceeded InvalidSeeds InvalidRealloc ComputationalBudgetExceeded
  PrivilegeEscalation ProgramEnvironmentSetupFailure ProgramFailedToComplete ProgramFailedToCompile Immutable
  IncorrectAuthority AccountNotRentExempt InvalidAccountOwner ArithmeticOverflow UnsupportedSysvar IllegalOwner
  MaxAccountsDataAllocationsExceeded MaxAccountsExceeded MaxInstructionTraceLengthExceeded
  BuiltinProgramsMustConsumeComputeUnits BorshIoError
`)

/** As solana-transaction-error names them, in the same order; those with a number beside them left out. */
export const transactionErrors = words(`
  AccountInUse AccountLoadedTwice AccountNotFound ProgramAccountNotFound InsufficientFundsForFee InvalidAccountForFee
  AlreadyProcessed BlockhashNotFound CallChainTooDeep MissingSignatureForFee InvalidAccountIndex SignatureFailure
  InvalidProgramForExecution SanitizeFailure ClusterMaintenance AccountBorrowOutstanding WouldExceedMaxBlockCostLimit
  UnsupportedVersion InvalidWritableAccount WouldExceedMaxAccountCostLimit WouldExceedAccountDataBlockLimit
  TooManyAccountLocks AddressLookupTableNotFound InvalidAddressLookupTableOwner InvalidAddressLookupTableData
  InvalidAddressLookupTableIndex InvalidRentPayingAccount WouldExceedMaxVoteCostLimit WouldExceedAccountDataTotalLimit
  MaxLoadedAccountsDataSizeExceeded ResanitizationNeeded InvalidLoadedAccountsDataSizeLimit UnbalancedTransaction
  ProgramCacheHitMaxLimit CommitCancelled
`)
