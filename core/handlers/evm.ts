import { badFields, SluiceError } from '../api/index.ts'
import type { Plan, Token } from '../contracts/index.ts'
import type { Submitted } from '../transactions/submit-request.ts'
import type { Verb } from './context.ts'
import { fromRaw } from '../decimal.ts'
import { may, type Caller } from './caller.ts'
import { readFees } from '../verbs/fees.ts'
import { readRaw } from './tokens.ts'
import { readAddress, requireKey } from './wallets.ts'
import { evmOf, readSpenders, type Spenders } from '../verbs/evm/spenders.ts'

export const evmApprove: Verb<'EVMApprove'> = async (request, context) => {
  const { network, services, caller, signal } = context
  const at = { signal }
  const evm = evmOf(network)
  const address = readAddress(network, request.address)
  requireKey(services.wallets, network, address)
  const spenders = await readSpenders(request.spender, network, services.directory)
  const admin = requireMayApprove(caller, spenders, services.settings.wallet.allowedSpenders)
  const wish = readFees(request, network)
  const token = await network.tokens.resolve(request.token, 'token', at)
  const amountRaw = readAllowance(request.amount, token)

  // One submission for all spenders: their nonces are claimed together, so that it is all of them or none.
  const approvals = await Promise.all(spenders.addresses.map((spender) => evm.approve(address, token, spender, amountRaw, at)))
  const spenderOfStep = approvals.flatMap(({ plan }, i) => plan.steps.map(() => spenders.addresses[i] ?? ''))
  const plan: Plan = {
    steps: approvals.flatMap((each) => each.plan.steps) as unknown as Plan['steps'],
    needs: approvals.flatMap((each) => each.plan.needs),
    memo: null,
  }
  const answer = ({ transactions: made, nonce, txHash }: Submitted) => {
    const transactions = made.map((each, i) => ({ spender: spenderOfStep[i] ?? '', ...each }))
    return {
      spender: spenderOfStep.at(-1) ?? '',
      tokenAddress: token.address,
      amount: fromRaw(approvals.at(-1)?.amountRaw ?? 0n, token.decimals),
      nonce,
      txHash,
      ...(transactions.length > 1 && { transactions }),
    }
  }
  const sent = await services.transactions.submit(
    {
      ...context,
      address,
      plan,
      scope: { contracts: [token.address], valueRaw: 0n },
      kind: 'approve',
      nonce: request.nonce,
      wish,
      admin,
      about: null,
      answer,
    },
    signal,
  )
  return answer(sent)
}

/** Whether the approval needs the caller's admin permission to be signed. */
function requireMayApprove(caller: Caller, { addresses, registered }: Spenders, allowed: readonly string[]): boolean {
  if (registered || addresses.every((each) => allowed.some((one) => one.toLowerCase() === each.toLowerCase()))) return false
  if (may(caller, 'admin')) return true
  throw new SluiceError(
    'FORBIDDEN',
    `${addresses.join(', ')} belongs to no registered connector: approving it needs the permission admin or a place in wallet.allowedSpenders (conf/server.yml).`,
  )
}

/** Smallest units; undefined for the largest amount, 0 revokes. */
function readAllowance(text: string | undefined, token: Token): bigint | undefined {
  if (token.native) throw badFields([{ field: 'token', problem: `${token.symbol} is the native coin: it needs no allowance` }])
  return text === undefined ? undefined : readRaw(text, token, 'amount')
}
