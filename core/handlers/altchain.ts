import type { AltchainVerbs } from '../contracts/index.ts'
import { badFields, SluiceError } from '../base/errors.ts'
import { givesNothing } from '../transactions/budgets.ts'
import type { SubmitResult } from '../transactions/submit-request.ts'
import type { Handler } from './context.ts'
import type { NetworkEntry } from '../plugins/index.ts'
import { touchedTokens } from './touches.ts'
import { readAddress, requireKey } from './wallets.ts'

/** Creates the wallet's account for a token if there is none. */
export const altchainCreateToken: Handler<'AltchainCreateToken'> = async (request, context) => {
  const { network, services, signal } = context
  const at = { signal }
  const altchain = altchainOf(network)
  const address = readAddress(network, request.address)
  requireKey(services.wallets, network, address)
  const token = await network.tokens.resolve(request.tokenSymbol, 'tokenSymbol', at)
  if (token.native)
    throw badFields([{ field: 'tokenSymbol', problem: `${token.symbol} is the native coin: it needs no account of its own` }])
  const creation = await altchain.createToken(address, token, at)
  if ('exists' in creation) return { txHash: null, tokenAccount: creation.exists }
  const { plan, account } = creation
  const answer = ({ txHash }: SubmitResult) => ({ txHash, tokenAccount: account })
  const scope = { contracts: plan.steps.flatMap((step) => network.impl.rail.outline(step).contracts), valueRaw: 0n }
  const wallet = { address, nonce: request.nonce, feeOverrides: {} }
  return answer(
    await services.transactions.submit(
      {
        ...context,
        ...wallet,
        plan,
        scope,
        commitment: givesNothing,
        kind: 'token-account',
        touches: () => ({ action: 'account', tokens: touchedTokens([token.address], network) }),
        about: null,
        answer,
      },
      signal,
    ),
  )
}

/** @throws SluiceError UNSUPPORTED on a chain of another family */
function altchainOf({ impl, chain }: NetworkEntry): AltchainVerbs {
  if (impl.altchain) return impl.altchain
  throw new SluiceError('UNSUPPORTED', `${chain} needs no token accounts: a wallet there holds any token.`)
}
