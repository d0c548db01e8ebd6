import type { Mint, Token } from '@solana-program/token'
import { address, getBase58Encoder, lamports, type Address, type EncodedAccount, type MaybeEncodedAccount } from '@solana/kit'
import type { LiteSVM } from 'litesvm'
import { mintOf, tokenOf, tokenPrograms, uiAmount } from '../../ledger/tokens.ts'
import { encodeMaybe, encodingOf, encodeAccount } from '../encode-account.ts'
import { addressOf, configOf, listOf, slotOf, textOf, invalidParams } from '../protocol.ts'
import type { Block } from '../../ledger/block.ts'
import { blockFor, inContext, type Methods, type View } from '../view.ts'

export const accountMethods: Methods = {
  getBalance(view, [address, config]) {
    const block = blockFor(view, configOf(config))
    const of = addressOf(address)
    return inContext(
      block,
      view.ledger.asOf(block, (svm) => svm.getBalance(of) ?? 0n),
    )
  },
  getAccountInfo(view, [address, config]) {
    const given = configOf(config)
    const [block, of, encoding] = [blockFor(view, given), addressOf(address), encodingOf(given)]
    return inContext(
      block,
      view.ledger.asOf(block, (svm) => encodeMaybe(svm, accountAt(view, block, svm, of), encoding)),
    )
  },
  getMultipleAccounts(view, [addresses, config]) {
    const given = configOf(config)
    // Nodes default to base64 here, and not with a single account.
    const [block, encoding] = [blockFor(view, given), encodingOf({ encoding: 'base64', ...given })]
    const all = listOf(addresses, 100).map(addressOf)
    return inContext(
      block,
      view.ledger.asOf(block, (svm) => all.map((each) => encodeMaybe(svm, accountAt(view, block, svm, each), encoding))),
    )
  },
  getProgramAccounts(view, [program, config]) {
    const given = configOf(config)
    const [block, encoding, of] = [blockFor(view, given), encodingOf(given), addressOf(program)]
    return view.ledger.asOf(block, (svm) =>
      svm
        .getProgramAccounts(of)
        .filter((each) => listOf(given['filters'] ?? [], 4).every((filter) => fits(each, filter)))
        .map((each) => ({ pubkey: each.address, account: encodeAccount(svm, each, encoding) })),
    )
  },
  getMinimumBalanceForRentExemption: ({ ledger }, [size]) => ledger.svm.minimumBalanceForRentExemption(slotOf(size)),
}

/** The list of the last slots is made of the blocks: those in the runtime would be copied with each of them. */
const accountAt = (view: View, block: Block, svm: LiteSVM, of: Address): MaybeEncodedAccount =>
  of === slotHashes ? slotHashesAccount(view, block) : svm.getAccount(of)

const slotHashes = address('SysvarS1otHashes111111111111111111111111111')
const [mostSlots, slotHashesSize] = [512, 20_488]

/** https://docs.anza.xyz/runtime/sysvars#slothashes: the slots before this one, newest first. */
function slotHashesAccount(view: View, { slot }: Block): MaybeEncodedAccount {
  const before = view
    .known()
    .filter((each) => each.slot < slot)
    .slice(-mostSlots)
    .toReversed()
  const data = Buffer.alloc(slotHashesSize)
  data.writeBigUInt64LE(BigInt(before.length))
  for (const [index, each] of before.entries()) {
    data.writeBigUInt64LE(each.slot, 8 + index * 40)
    data.set(getBase58Encoder().encode(each.blockhash), 16 + index * 40)
  }
  const programAddress = address('Sysvar1111111111111111111111111111111111111')
  return { exists: true, address: slotHashes, data, executable: false, lamports: lamports(1n), programAddress, space: BigInt(data.length) }
}

export const tokenMethods: Methods = {
  getTokenAccountsByOwner(view, [owner, filter, config]) {
    const given = configOf(config)
    const [block, encoding, of] = [blockFor(view, given), encodingOf(given), addressOf(owner)]
    return view.ledger.asOf(block, (svm) => {
      const accounts = tokensOf(svm, of, wantedTokens(svm, filter))
      const value = accounts.map((each) => ({ pubkey: each.address, account: encodeAccount(svm, each, encoding) }))
      return inContext(block, value)
    })
  },
  getTokenAccountBalance(view, [address, config]) {
    const [block, of] = [blockFor(view, configOf(config)), addressOf(address)]
    return view.ledger.asOf(block, (svm) => {
      const account = svm.getAccount(of)
      if (!account.exists) throw invalidParams('Invalid param: could not find account')
      const token = tokenOf(account)
      if (!token) throw invalidParams('Invalid param: not a Token account')
      return inContext(block, uiAmount(token.amount, mintAt(svm, token.mint).decimals))
    })
  },
  getTokenSupply(view, [mint, config]) {
    const [block, of] = [blockFor(view, configOf(config)), addressOf(mint)]
    return view.ledger.asOf(block, (svm) => {
      const { supply, decimals } = mintAt(svm, of)
      return inContext(block, uiAmount(supply, decimals))
    })
  },
}

/** @param filter `dataSize`, or `memcmp` with bytes in base58: https://solana.com/docs/rpc/http/getprogramaccounts */
function fits({ data }: EncodedAccount, filter: unknown): boolean {
  const { dataSize, memcmp } = configOf(filter)
  if (dataSize !== undefined) return BigInt(data.length) === slotOf(dataSize)
  const { offset, bytes } = configOf(memcmp)
  const wanted = getBase58Encoder().encode(textOf(bytes))
  const from = Number(slotOf(offset))
  return Buffer.from(data.subarray(from, from + wanted.length)).equals(Buffer.from(wanted))
}

interface TokenFilter {
  programs: readonly Address[]
  mint?: Address
}

/** What is asked for: all of a mint, or all of a program. */
function wantedTokens(svm: LiteSVM, filter: unknown): TokenFilter {
  const { mint, programId } = configOf(filter)
  if (mint !== undefined) {
    const address = addressOf(mint)
    const account = svm.getAccount(address)
    mintAt(svm, address)
    return { programs: account.exists ? [account.programAddress] : [], mint: address }
  }
  const program = addressOf(programId)
  if (tokenPrograms.includes(program)) return { programs: [program] }
  throw invalidParams('Invalid param: unrecognized Token program id')
}

function tokensOf(svm: LiteSVM, owner: Address, { programs, mint }: TokenFilter): readonly EncodedAccount[] {
  const isWanted = (token: Token | undefined) => token?.owner === owner && (mint === undefined || token.mint === mint)
  return programs.flatMap((each) => svm.getProgramAccounts(each)).filter((each) => isWanted(tokenOf({ ...each, exists: true })))
}

function mintAt(svm: LiteSVM, address: Address): Mint {
  const account = svm.getAccount(address)
  const mint = mintOf(account)
  if (mint) return mint
  throw invalidParams(account.exists ? 'Invalid param: not a Token mint' : 'Invalid param: could not find mint')
}
