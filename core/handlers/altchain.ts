import { badFields, SluiceError } from '../api/index.ts'
import type { AltchainVerbs } from '../contracts/index.ts'
import type { SubmitResult } from '../transactions/submit-request.ts'
import type { Handler } from './context.ts'
import type { NetworkEntry } from './registry.ts'
import { readAddress, requireKey } from './wallets.ts'

/** Creates the wallet's account for a token, where there is none. */
export const altchainCreateToken: Handler<'AltchainCreateToken'> = async (request, context) => {
  const { network, services, signal } = context
  const at = { signal }
  const altchain = altchainOf(network)
  const address = readAddress(network, request.address)
  requireKey(services.wallets, network, address)
  const token = await network.tokens.resolve(request.tokenSymbol, 'tokenSymbol', at)
  if (token.native)
    throw badFields([{ field: 'tokenSymbol', problem: `${token.symbol} is the native coin: it needs no account of its own` }])
  const made = await altchain.createToken(address, token, at)
  if ('exists' in made) return { txHash: null, tokenAccount: made.exists }
  const { plan, account } = made
  const answer = ({ txHash }: SubmitResult) => ({ txHash, tokenAccount: account })
  const { nonce } = request
  const scope = { contracts: plan.steps.flatMap((step) => network.impl.rail.outline(step).contracts), valueRaw: 0n }
  const order = { ...context, address, plan, scope, kind: 'token-account' as const, nonce, feeOverrides: {}, about: null, answer }
  return answer(await services.transactions.submit(order, signal))
}

/** @throws SluiceError UNSUPPORTED on a chain of another family */
function altchainOf({ impl, chain }: NetworkEntry): AltchainVerbs {
  if (impl.altchain) return impl.altchain
  throw new SluiceError('UNSUPPORTED', `${chain} needs no accounts for tokens: a wallet there holds any token by itself.`)
}
