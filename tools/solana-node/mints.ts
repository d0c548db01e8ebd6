import { getCreateAccountInstruction, getTransferSolInstruction } from '@solana-program/system'
import {
  findAssociatedTokenPda,
  getCreateAssociatedTokenIdempotentInstruction,
  getInitializeMint2Instruction,
  getMintToInstruction,
  getSyncNativeInstruction,
  TOKEN_PROGRAM_ADDRESS,
} from '@solana-program/token'
import {
  AccountRole,
  address as toAddress,
  getU16Encoder,
  getU64Encoder,
  getAddressEncoder,
  type Address,
  type Instruction,
  type KeyPairSigner,
} from '@solana/kit'
import type { Ledger } from './ledger/ledger.ts'
import { token2022, tokenSize } from './ledger/tokens.ts'

export interface Mint {
  symbol: string
  address: Address
  decimals: number
  program: Address
}

/** How a mint comes about; its authority is the faucet. */
export interface MintSeed {
  symbol: string
  decimals: number
  /** Token-2022 takes this of every transfer; absent: a mint of the Token program. */
  transferFee?: { basisPoints: number; maximumRaw: bigint }
}

/** A kind of account, a type and a length, and TransferFeeConfig's two authorities, withheld amount and two fees. */
const sizeWithTransferFee = BigInt(tokenSize + 1 + 4 + 32 + 32 + 8 + 18 + 18)

export function createMintInstructions(
  ledger: Pick<Ledger, 'svm'>,
  authority: KeyPairSigner,
  mint: KeyPairSigner,
  seed: MintSeed,
): Instruction[] {
  const programAddress = programOf(seed)
  const space = seed.transferFee ? sizeWithTransferFee : 82n
  const rent = ledger.svm.minimumBalanceForRentExemption(space)
  return [
    getCreateAccountInstruction({ payer: authority, newAccount: mint, lamports: rent, space, programAddress }),
    ...(seed.transferFee ? [initializeTransferFee(mint.address, authority.address, seed.transferFee)] : []),
    getInitializeMint2Instruction(
      { mint: mint.address, decimals: seed.decimals, mintAuthority: authority.address },
      { programAddress: programAddress as typeof TOKEN_PROGRAM_ADDRESS },
    ),
  ]
}

export const programOf = ({ transferFee }: Pick<MintSeed, 'transferFee'>): Address => (transferFee ? token2022 : TOKEN_PROGRAM_ADDRESS)

/** Nobody mints it: the faucet wraps SOL. Source: solana-program/token, native_mint. */
export const wrappedSol: Mint = {
  symbol: 'WSOL',
  address: toAddress('So11111111111111111111111111111111111111112'),
  decimals: 9,
  program: TOKEN_PROGRAM_ADDRESS,
}

/** Creates the owner's associated account where there is none. */
export async function mintToInstructions(
  authority: KeyPairSigner,
  { address, program }: Mint,
  owner: Address,
  amountRaw: bigint,
): Promise<Instruction[]> {
  const [token] = await findAssociatedTokenPda({ owner, mint: address, tokenProgram: program })
  const create = getCreateAssociatedTokenIdempotentInstruction({
    payer: authority,
    ata: token,
    owner,
    mint: address,
    tokenProgram: program,
  })
  if (address === wrappedSol.address)
    return [
      create,
      getTransferSolInstruction({ source: authority, destination: token, amount: amountRaw }),
      getSyncNativeInstruction({ account: token }),
    ]
  return [
    create,
    getMintToInstruction(
      { mint: address, token, mintAuthority: authority, amount: amountRaw },
      { programAddress: program as typeof TOKEN_PROGRAM_ADDRESS },
    ),
  ]
}

/** Source: solana-program/token-2022, program/src/extension/transfer_fee/instruction.rs, InitializeTransferFeeConfig. */
function initializeTransferFee(mint: Address, authority: Address, fee: NonNullable<MintSeed['transferFee']>): Instruction {
  const somebody = Uint8Array.of(1, ...getAddressEncoder().encode(authority))
  const data = Uint8Array.of(
    26,
    0,
    ...somebody,
    ...somebody,
    ...getU16Encoder().encode(fee.basisPoints),
    ...getU64Encoder().encode(fee.maximumRaw),
  )
  return { programAddress: token2022, accounts: [{ address: mint, role: AccountRole.WRITABLE }], data }
}
