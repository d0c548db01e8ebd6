import { address, createNoopSigner } from '@solana/kit'
import { getCreateAssociatedTokenIdempotentInstruction } from '@solana-program/token'
import type { AltchainVerbs, At, Token } from '../../contracts/index.ts'
import { nodeLied, resultOf } from '../nodes/ask.ts'
import type { Rpc } from '../nodes/types.ts'
import { fromKit } from './instruction.ts'
import { associatedSize, rentOf } from './reading/account-size.ts'
import { accountsCalls, readAccounts } from '../../../kits/solana/accounts.ts'
import type { createAssociated } from './reading/associated.ts'
import { holdingAccounts, noMint } from './reading/balances.ts'
import { heldIn, readMint, tokenOptions, tokenPrograms } from '../../../kits/solana/tokens.ts'
import { integerOf } from './rpc/json.ts'
import type { Solana, SolanaInstruction } from '../../../kits/solana/types.ts'

/** The wallet's associated account, under the program of the mint: made where there is none. One round trip. */
export function createTokenAccounts(rpc: Rpc, associated: ReturnType<typeof createAssociated>): AltchainVerbs<Solana>['createToken'] {
  return async function createToken(owner: string, token: Token, at: At) {
    const addresses = await holdingAccounts(associated, owner, token.address)
    const calls = [{ method: 'getMinimumBalanceForRentExemption', params: [0] }, ...accountsCalls(addresses, tokenOptions)]
    const [empty, ...answers] = await rpc.batch(calls, at)
    const emptyRaw = integerOf(resultOf(rpc, 'getMinimumBalanceForRentExemption', empty))
    if (emptyRaw === undefined) throw nodeLied(rpc, 'does not say what rent is')
    const [mintAccount, ...accounts] = readAccounts(rpc, answers).accounts
    const mint = readMint(mintAccount) ?? noMint(token)
    const which = tokenPrograms.indexOf(mint.program)
    const [, ...places] = addresses
    const account = places[which] ?? noMint(token)
    const there = accounts[which]
    if (heldIn(there, { mint: token.address, owner }) !== undefined) return { exists: account }

    const rentRaw = rentOf(associatedSize(mint), emptyRaw)
    // Anybody may have sent lamports there.
    const missingRaw = rentRaw - (there?.lamportsRaw ?? 0n)
    const step = {
      payer: owner,
      instructions: [creation(owner, account, token.address, mint.program)],
      value: '0',
      rent: String(missingRaw > 0n ? missingRaw : 0n),
    }
    return { plan: { steps: [step], needs: [], memo: null }, account }
  }
}

/** Idempotent: where another was quicker the account is there all the same. */
function creation(owner: string, account: string, mint: string, program: string): SolanaInstruction {
  return fromKit(
    getCreateAssociatedTokenIdempotentInstruction({
      payer: createNoopSigner(address(owner)),
      ata: address(account),
      owner: address(owner),
      mint: address(mint),
      tokenProgram: address(program),
    }),
  )
}
