import { COMPUTE_BUDGET_PROGRAM_ADDRESS } from '@solana-program/compute-budget'
import { SYSTEM_PROGRAM_ADDRESS } from '@solana-program/system'
import { ASSOCIATED_TOKEN_PROGRAM_ADDRESS, TOKEN_PROGRAM_ADDRESS } from '@solana-program/token'

export const systemProgram: string = SYSTEM_PROGRAM_ADDRESS
export const computeBudgetProgram: string = COMPUTE_BUDGET_PROGRAM_ADDRESS
export const associatedTokenProgram: string = ASSOCIATED_TOKEN_PROGRAM_ADDRESS
/** MEMO_PROGRAM_ADDRESS of @solana-program/memo. */
export const memoProgram = 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr'
/** The second is TOKEN_2022_PROGRAM_ADDRESS of @solana-program/token-2022. */
export const tokenPrograms: readonly string[] = [TOKEN_PROGRAM_ADDRESS, 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb']

/**
 * Programs that hold tokens, stakes or code of a wallet and obey its signature alone: a connector that declares one of them
 * opens nothing. The addresses are those of the crate solana-sdk-ids.
 */
export const neverDeclared: ReadonlyMap<string, string> = new Map([
  ...tokenPrograms.map((each) => [each, 'Token'] as const),
  ['Stake11111111111111111111111111111111111111', 'Stake'],
  ['Vote111111111111111111111111111111111111111', 'Vote'],
  ['Config1111111111111111111111111111111111111', 'Config'],
  ['AddressLookupTab1e1111111111111111111111111', 'Address Lookup Table'],
  ['NativeLoader1111111111111111111111111111111', 'Native Loader'],
  ['BPFLoader1111111111111111111111111111111111', 'BPF Loader'],
  ['BPFLoader2111111111111111111111111111111111', 'BPF Loader'],
  ['BPFLoaderUpgradeab1e11111111111111111111111', 'BPF Loader'],
  ['LoaderV411111111111111111111111111111111111', 'Loader v4'],
])
