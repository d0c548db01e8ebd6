// Takes back what a spender may take of a wallet: every way that it has, in one request.
import type { At, Plan } from '../contracts/index.ts'
import { isSameAddress } from '../base/addresses.ts'
import { badFields, SluiceError } from '../base/errors.ts'
import { givesNothing } from '../transactions/budgets.ts'
import type { SubmitResult } from '../transactions/submit-request.ts'
import type { Handler, Handlers, NetworkContext } from './context.ts'
import { dryRunOf, evmOf } from './evm.ts'
import { versionOf } from './spenders.ts'
import { knownOf } from './standing-rights.ts'
import { connectorsOf, touchedTokens } from './touches.ts'
import { readAddress, readWallet, showGas } from './wallets.ts'

const evmRevoke: Handler<'EVMRevoke'> = async (request, context) => {
  const { network, services, signal } = context
  const at = { signal }
  const { address, feeOverrides, nonce: given } = readWallet(request, context)
  const spender = readAddress(network, request.spender, 'spender')
  const right = { owner: address, spender, token: request.token, tokenId: request.tokenId }
  const { steps, tokenAddress, contracts } = await planRevocation(right, context, at)
  const plan: Plan = { steps: steps as unknown as Plan['steps'], needs: [], memo: null }
  const answer = ({ transactions, nonce, txHash, gas }: Pick<SubmitResult, 'transactions' | 'nonce' | 'txHash' | 'gas'>) => ({
    spender,
    tokenAddress,
    ...(request.tokenId !== undefined && { tokenId: request.tokenId }),
    nonce,
    txHash,
    ...showGas(gas, network),
    transactions: transactions.map((each) => ({ ...each })),
  })
  if (request.dryRun) return answer(await dryRunOf(plan, { address, nonce: given, feeOverrides }, context))
  const submitted = await services.transactions.submit(
    {
      ...context,
      address,
      plan,
      scope: { contracts, valueRaw: 0n, stepGas: network.impl.rail.transferGas },
      kind: 'approve',
      touches: () => {
        const connectors = connectorsOf([spender], network, services.registry)
        return { action: 'approve', tokens: touchedTokens([tokenAddress], network), ...(connectors.length > 0 && { connectors }) }
      },
      commitment: givesNothing,
      reduces: true,
      ...versionOf({ addresses: [spender], all: [spender], registered: false, permit2: new Map() }, network, services.registry),
      nonce: given,
      feeOverrides,
      about: null,
      answer,
    },
    signal,
  )
  return answer(submitted)
}

interface Right {
  readonly owner: string
  readonly spender: string
  /** As the caller named it. */
  readonly token: string
  readonly tokenId: string | undefined
}

interface Revocation {
  readonly steps: readonly Plan['steps'][number][]
  readonly tokenAddress: string
  /** That the steps call. */
  readonly contracts: readonly string[]
}

/** @throws SluiceError INCOMPLETE_PARAMS where nothing stands */
async function planRevocation(
  { owner, spender, token: name, tokenId }: Right,
  { network, services }: NetworkContext,
  at: At,
): Promise<Revocation> {
  const evm = evmOf(network)
  const { permit2s, collections } = knownOf(services.registry.venuesOn(network.chain, network.network), [])
  const collection = collections.find((each) => isSameAddress(each, name))
  if (collection !== undefined) {
    if (!evm.revoke) throw new SluiceError('UNSUPPORTED', `${network.chain} takes back allowances of tokens alone.`)
    if (tokenId !== undefined && BigInt(tokenId) >= 2n ** 256n)
      throw badFields([{ field: 'tokenId', problem: 'is larger than the number of any position' }])
    const { steps } = evm.revoke({ collection, spender, ...(tokenId !== undefined && { tokenId: BigInt(tokenId) }) })
    return { steps, tokenAddress: collection, contracts: [collection] }
  }
  if (tokenId !== undefined) {
    const known = collections.length === 0 ? 'it has none' : `they are ${collections.join(', ')}`
    throw badFields([{ field: 'tokenId', problem: `is for collections of positions that a connector has on this network: ${known}` }])
  }
  const token = await network.tokens.resolve(name, 'token', at)
  if (token.native) throw badFields([{ field: 'token', problem: `${token.symbol} is the native coin: nobody has an allowance of it` }])
  const [[[plainRaw] = []], ...byPermit2] = await Promise.all([
    evm.allowances(owner, [spender], [token], at),
    ...permit2s.map(async (permit2) => (await evm.permit2?.allowances(owner, permit2, [spender], [token], at))?.[0]?.[0]),
  ])
  // Also what sleeps: where Permit2 may take nothing of the token now, it may after the next approval.
  const standing = permit2s.filter((_, index) => (byPermit2[index]?.givenRaw ?? byPermit2[index]?.amountRaw ?? 0n) > 0n)
  if (!plainRaw && standing.length === 0)
    throw badFields([
      {
        field: 'spender',
        problem: `may take nothing of ${token.symbol} from ${owner}: there is nothing to take back. Where a limit still counts an allowance that was revoked outside of Sluice, POST /evm/approve with the amount 0 ends that`,
      },
    ])
  const plans = await Promise.all([
    ...(plainRaw ? [evm.approve(owner, token, spender, 0n, at)] : []),
    ...standing.flatMap((permit2) => evm.permit2?.approve({ owner, permit2, token, spender, amountRaw: 0n, expires: undefined }, at) ?? []),
  ])
  return { steps: plans.flatMap(({ plan }) => [...plan.steps]), tokenAddress: token.address, contracts: [token.address, ...standing] }
}

export const revokeHandlers = { EVMRevoke: evmRevoke } satisfies Partial<Handlers>
