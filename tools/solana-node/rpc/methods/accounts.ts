import type { Mint, Token } from '@solana-program/token'
import type { Address, EncodedAccount } from '@solana/kit'
import type { LiteSVM } from 'litesvm'
import { mintOf, tokenOf, tokenPrograms, uiAmount } from '../../ledger/tokens.ts'
import { encodeMaybe, encodingOf, encodeAccount } from '../encode-account.ts'
import { addressOf, configOf, listOf, slotOf, invalidParams } from '../protocol.ts'
import { blockFor, inContext, type Methods } from '../view.ts'

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
      view.ledger.asOf(block, (svm) => encodeMaybe(svm, svm.getAccount(of), encoding)),
    )
  },
  getMultipleAccounts(view, [addresses, config]) {
    const given = configOf(config)
    // Nodes default to base64 here, and not with a single account.
    const [block, encoding] = [blockFor(view, given), encodingOf({ encoding: 'base64', ...given })]
    const all = listOf(addresses, 100).map(addressOf)
    return inContext(
      block,
      view.ledger.asOf(block, (svm) => all.map((each) => encodeMaybe(svm, svm.getAccount(each), encoding))),
    )
  },
  getMinimumBalanceForRentExemption: ({ ledger }, [size]) => ledger.svm.minimumBalanceForRentExemption(slotOf(size)),
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
