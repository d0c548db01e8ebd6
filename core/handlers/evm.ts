import { responseKey } from '../live-state/token-book.ts'
import { type At, type EvmVerbs, type FeeOverrides, type Permit2Allowance, type Plan, type Token } from '../contracts/index.ts'
import { isUnlimited } from '../contracts/permit2.ts'
import { fromRaw } from '../base/decimal.ts'
import { badFields, SluiceError } from '../base/errors.ts'
import { aboutRemoval } from '../transactions/entry.ts'
import { gasOf, type SubmitResult } from '../transactions/submit-request.ts'
import type { Handler, Handlers, NetworkContext, Services } from './context.ts'
import { readRaw } from './read-fields.ts'
import type { NetworkEntry } from '../plugins/index.ts'
import {
  isBuiltInSpender,
  isListedSpender,
  neverExpires,
  readExpiry,
  refuseOfQuarantined,
  requireExact,
  requireMayApprove,
  spenderOfRemoval,
  versionOf,
  type Spenders,
} from './spenders.ts'
import { heldApproval } from './market-check.ts'
import { readEverySpender } from './swap-spenders.ts'
import { connectorsOf, touchedTokens, touchedVenue } from './touches.ts'
import { unavailableTokens } from './tokens.ts'
import { readAddress, readFees, readWallet, requireKey, showGas } from './wallets.ts'

const evmApprove: Handler<'EVMApprove'> = async (request, context) => {
  const { network, services, signal } = context
  const at = { signal }
  const evm = evmOf(network)
  const address = readAddress(network, request.address)
  requireKey(services.wallets, network, address)
  const named = await readEverySpender(request.spender, context, at)
  const feeOverrides = readFees(request, network)
  const token = await network.tokens.resolve(request.token, 'token', at)
  const amountRaw = readAllowance(request.amount, token)
  // To take something away gives nobody anything, and what earlier versions approved by the name is taken away, too.
  const meant = amountRaw === 0n ? { ...named, addresses: named.all } : named
  const wanted = { owner: address, token, amountRaw, expires: request.expires }
  const removal = await spenderOfRemoval(meant, { owner: address, token: token.address, amountRaw }, network, services.registry, at)
  const spenders =
    removal !== undefined
      ? { ...meant, addresses: [removal], permit2: new Map<string, string>() }
      : named.venues
        ? { ...meant, addresses: await spendersToChange(meant, wanted, evm, at) }
        : meant
  if (amountRaw !== 0n) {
    requireMayApprove(spenders, network, services)
    await refuseOfQuarantined(spenders, network, services.registry, services.quarantine)
  }
  requireExact(spenders, amountRaw, network, services)

  const expires = readExpiry(request.expires, spenders)
  // One submission for all spenders, so that their nonces are claimed together: either all are approved or none.
  const approvals = await Promise.all(
    spenders.addresses.map((spender) => {
      const permit2 = spenders.permit2.get(spender)
      if (permit2 === undefined || !evm.permit2) return evm.approve(address, token, spender, amountRaw, at)
      return evm.permit2.approve({ owner: address, permit2, token, spender, amountRaw, expires }, at)
    }),
  )
  // The token's own allowance for Permit2 is the same for all spenders by it: it is made once.
  const seen = new Set<string>()
  const steps = approvals
    .flatMap(({ plan }, i) => plan.steps.map((step) => ({ step, spender: spenders.addresses[i] ?? '', text: JSON.stringify(step) })))
    .filter(({ text }) => !seen.has(text) && seen.add(text))
  const spenderOfStep = steps.map(({ spender }) => spender)
  const plan: Plan = {
    steps: steps.map(({ step }) => step) as unknown as Plan['steps'],
    needs: approvals.flatMap((each) => each.plan.needs),
    memo: null,
  }
  const pullsFromCaller = isBuiltInSpender(network, services.registry)
  const grantedRaw = approvals.reduce((sum, each, i) => (pullsFromCaller(spenders.addresses[i] ?? '') ? sum : sum + each.amountRaw), 0n)
  const given = { [token.address]: grantedRaw }
  const isUnknownSpender = spenders.addresses.some((each) => !pullsFromCaller(each) && !isListedSpender(each, services))
  const answer = ({ transactions: sent, nonce, txHash, gas }: Pick<SubmitResult, 'transactions' | 'nonce' | 'txHash' | 'gas'>) => {
    const transactions = sent.map((each, i) => ({ spender: spenderOfStep[i] ?? '', ...each }))
    return {
      spender: spenderOfStep.at(-1) ?? '',
      tokenAddress: token.address,
      amount: fromRaw(approvals.at(-1)?.amountRaw ?? 0n, token.decimals),
      nonce,
      txHash,
      transactionCount: sent.length,
      ...showGas(gas, network),
      ...(transactions.length > 1 && { transactions }),
    }
  }
  if (request.dryRun) return answer(await dryRunOf(plan, { address, nonce: request.nonce, feeOverrides }, context))
  const submitted = await services.transactions.submit(
    {
      ...context,
      address,
      plan,
      scope: { contracts: [token.address, ...spenders.permit2.values()], valueRaw: 0n, stepGas: network.impl.rail.transferGas },
      kind: 'approve',
      touches: () => {
        const connectors = named.venues?.flatMap(touchedVenue) ?? connectorsOf(spenders.addresses, network, services.registry)
        return { action: 'approve', tokens: touchedTokens([token.address], network), ...(connectors.length > 0 && { connectors }) }
      },
      commitment: grantedRaw > 0n && isUnknownSpender ? heldApproval(given, context) : { gives: given },
      reduces: removal !== undefined || approvals.every((each) => each.amountRaw === 0n),
      ...versionOf(spenders, network, services.registry),
      nonce: request.nonce,
      feeOverrides,
      about: removal === undefined ? null : aboutRemoval,
      answer,
    },
    signal,
  )
  return answer(submitted)
}

/** What a submission would be answered with: the nonces that are next now, and no hashes. */
export async function dryRunOf(
  { steps, needs }: Plan,
  { address, nonce, feeOverrides }: { address: string; nonce: number | undefined; feeOverrides: FeeOverrides },
  { network, services, signal }: NetworkContext,
): Promise<Pick<SubmitResult, 'transactions' | 'nonce' | 'txHash' | 'gas'>> {
  const { prepared } = await network.impl.rail.check(steps, needs, address, { feeOverrides }, { signal })
  const first = nonce ?? (await services.transactions.nextNonce({ network, address }, signal))
  const transactions = steps.map((_, index) => ({ nonce: first + index, txHash: '' }))
  return { transactions, nonce: first + steps.length - 1, txHash: '', gas: gasOf(prepared) }
}

/** Of several connectors those spenders whose allowance is another one, as each takes a transaction. One at least: the answer has its hash. */
async function spendersToChange(
  { addresses, permit2 }: Spenders,
  {
    owner,
    token,
    amountRaw,
    expires = neverExpires,
  }: { owner: string; token: Token; amountRaw: bigint | undefined; expires?: number | undefined },
  evm: EvmVerbs,
  at: At,
): Promise<readonly string[]> {
  const [plain, byPermit2] = await readAllowances(evm, owner, { addresses, permit2 }, [token], at)
  const isWanted = (currentRaw: bigint | undefined) =>
    currentRaw !== undefined && (amountRaw === undefined ? isUnlimited(currentRaw) : currentRaw === amountRaw)
  const others = addresses.filter((spender) => {
    if (!permit2.has(spender)) return !isWanted(plain.get(spender)?.[0])
    const [allowance] = byPermit2.get(spender) ?? []
    if (!allowance) return true
    // What the spender was given counts again as soon as the token allows Permit2 more.
    const { amountRaw: takesRaw, givenRaw = takesRaw } = allowance
    return !isWanted(takesRaw) || !isWanted(givenRaw) || (amountRaw !== 0n && allowance.expires !== expires)
  })
  return others.length > 0 ? others : addresses.slice(0, 1)
}

/** In smallest units; undefined for the largest amount; 0 revokes. */
function readAllowance(text: string | undefined, token: Token): bigint | undefined {
  if (token.native) throw badFields([{ field: 'token', problem: `${token.symbol} is the native coin: it needs no allowance` }])
  return text === undefined ? undefined : readRaw(text, token, 'amount')
}

const evmAllowances: Handler<'EVMAllowances'> = async (request, context) => {
  const { network, services, signal } = context
  const at = { signal }
  const evm = evmOf(network)
  const owner = readAddress(network, request.address)
  const { addresses, all, permit2 } = await readEverySpender(request.spender, context, at)
  const asked = await network.tokens.resolveEach(request.tokenSymbols, 'tokenSymbols', at)
  const tokens = asked.found.map(({ token }) => token)
  const [plain, byPermit2] = await readAllowances(evm, owner, { addresses: all, permit2 }, tokens, at)
  const rawsOf = (spender: string) => byPermit2.get(spender)?.map((each) => each?.amountRaw) ?? plain.get(spender) ?? []
  const raws = addresses.map(rawsOf)

  const answers = (tokenIndex: number) => raws.every((row) => row[tokenIndex] !== undefined)
  const byToken = <T>(of: (tokenIndex: number, token: Token) => T): Record<string, T> =>
    Object.fromEntries(asked.found.flatMap(({ name, token }, i) => (answers(i) ? [[responseKey(name, token), of(i, token)] as const] : [])))
  const show = (of: (tokenIndex: number) => bigint) => byToken((i, token) => fromRaw(of(i), token.decimals))
  const lowest = show((i) => raws.map((row) => row[i] ?? 0n).reduce((a, b) => (a < b ? a : b)))
  const each = Object.fromEntries(all.map((address) => [address, show((i) => rawsOf(address)[i] ?? 0n)]))
  const expiries = Object.fromEntries([...byPermit2].map(([spender, allowances]) => [spender, byToken((i) => allowances[i]?.expires ?? 0)]))
  const permits = byPermit2.size > 0 ? await showPermits(owner, byPermit2, tokens, network, services.transactions) : []
  return {
    spender: addresses[0] ?? '',
    approvals: lowest,
    ...unavailableTokens(asked, (i) => answers(i) || undefined),
    ...(all.length > 1 && { spenders: each }),
    ...(byPermit2.size > 0 && { expiries }),
    ...(permits.length > 0 && { permits }),
  }
}

/** What the wallet signed for these spenders and tokens, and what is neither used nor expired. */
async function showPermits(
  owner: string,
  spenders: ReadonlyMap<string, unknown>,
  tokens: readonly Token[],
  { chain, network }: NetworkEntry,
  transactions: Services['transactions'],
) {
  const { permits } = await transactions.rightsUnderWay({ chain, network, address: owner })
  return permits
    .filter(({ permit }) => spenders.has(permit.spender) && tokens.some(({ address }) => address === permit.token))
    .map(({ permit: { spender, token, amountRaw, decimals, expires }, txHash }) => {
      const amount = fromRaw(BigInt(amountRaw), decimals)
      return { spender, token, amount, expires, ...(txHash !== undefined && { txHash }) }
    })
}

/** By spender: those that take tokens themselves, and those that take them by Permit2. In the order of the tokens. */
export async function readAllowances(
  evm: EvmVerbs,
  owner: string,
  { addresses, permit2 }: Pick<Spenders, 'addresses' | 'permit2'>,
  tokens: readonly Token[],
  at: At,
): Promise<
  readonly [ReadonlyMap<string, readonly (bigint | undefined)[]>, ReadonlyMap<string, readonly (Permit2Allowance | undefined)[]>]
> {
  const plain = addresses.filter((spender) => !permit2.has(spender))
  const contracts = [...new Set(permit2.values())]
  const spendersOf = (contract: string) => addresses.filter((spender) => permit2.get(spender) === contract)
  const [rows, ...others] = await Promise.all([
    evm.allowances(owner, plain, tokens, at),
    ...contracts.map(async (contract) => (await evm.permit2?.allowances(owner, contract, spendersOf(contract), tokens, at)) ?? []),
  ])
  return [
    new Map(plain.map((spender, row) => [spender, rows[row] ?? []])),
    new Map(
      contracts.flatMap((contract, index) => spendersOf(contract).map((spender, row) => [spender, others[index]?.[row] ?? []] as const)),
    ),
  ]
}

/** @throws SluiceError UNSUPPORTED on a chain of another family */
export function evmOf({ impl, chain }: NetworkEntry): EvmVerbs {
  if (impl.evm) return impl.evm
  throw new SluiceError('UNSUPPORTED', `${chain} is not an EVM chain: the endpoints under /evm are for EVM chains only.`)
}

const evmNonce: Handler<'EVMNonce'> = async (request, context) => {
  const { network, services, signal } = context
  evmOf(network)
  const address = readAddress(network, request.address)
  requireKey(services.wallets, network, address)
  return { nonce: await services.transactions.nextNonce({ network, address }, signal) }
}

/** Replaces a wallet's pending transaction: the one with `nonce`, or the one with the lowest. */
const replacePending =
  (how: 'cancel' | 'speedUp'): Handler<'EVMCancel'> & Handler<'EVMSpeedUp'> =>
  async (request, context) => {
    const { network, services, signal } = context
    evmOf(network)
    const { txHash, nonce } = await services.transactions[how]({ ...context, ...readWallet(request, context) }, signal)
    return { txHash, nonce }
  }

export const evmHandlers = {
  EVMApprove: evmApprove,
  EVMAllowances: evmAllowances,
  EVMNonce: evmNonce,
  /** Replaces a pending transaction with one that does nothing. */
  EVMCancel: replacePending('cancel'),
  /** Raises the fees of a pending transaction. */
  EVMSpeedUp: replacePending('speedUp'),
} satisfies Partial<Handlers>
