import { badFields, SluiceError } from '../api/index.ts'
import type { Plan, Token, EvmVerbs } from '../contracts/index.ts'
import { fromRaw } from '../decimal.ts'
import type { SubmitResult } from '../transactions/submit-request.ts'
import { hasPermission, type Caller } from './caller.ts'
import type { Handler } from './context.ts'
import type { Registry, NetworkEntry } from './registry.ts'
import { readRaw, answerKey, didYouMean } from './tokens.ts'
import { readFees, readAddress, requireKey, readWallet } from './wallets.ts'

export const evmApprove: Handler<'EVMApprove'> = async (request, context) => {
  const { network, services, caller, signal } = context
  const at = { signal }
  const evm = evmOf(network)
  const address = readAddress(network, request.address)
  requireKey(services.wallets, network, address)
  const spenders = await readSpenders(request.spender, network, services.registry)
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
  const answer = ({ transactions: made, nonce, txHash }: SubmitResult) => {
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
      feeOverrides: wish,
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
  if (hasPermission(caller, 'admin')) return true
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

export const evmAllowances: Handler<'EVMAllowances'> = async (request, { network, services: { registry: directory }, signal }) => {
  const at = { signal }
  const evm = evmOf(network)
  const owner = readAddress(network, request.address)
  const { addresses } = await readSpenders(request.spender, network, directory)
  const tokens = await network.tokens.resolveAll(request.tokenSymbols, 'tokenSymbols', at)
  const raws = await evm.allowances(owner, addresses, tokens, at)

  const show = (of: (tokenIndex: number) => bigint) =>
    Object.fromEntries(tokens.map((token, i) => [answerKey(request.tokenSymbols[i], token), fromRaw(of(i), token.decimals)]))
  const least = show((i) => raws.map((row) => row[i] ?? 0n).reduce((a, b) => (a < b ? a : b)))
  const each = Object.fromEntries(addresses.map((address, row) => [address, show((i) => raws[row]?.[i] ?? 0n)]))
  return { spender: addresses[0] ?? '', approvals: least, ...(addresses.length > 1 && { spenders: each }) }
}

interface Spenders {
  addresses: readonly string[]
  /** Named by a registered connector, so that everybody may approve it. */
  registered: boolean
}

/** What `spender` stands for: a connector's name (all of its spenders), `name/version`, or an address. */
async function readSpenders(text: string, { impl, chain, network }: NetworkEntry, directory: Registry): Promise<Spenders> {
  const [name = '', ...rest] = text.split('/')
  const version = rest.length === 0 ? undefined : rest.join('/')
  if (directory.hasConnector(name)) {
    // For the request itself only the network was woken.
    await directory.wake(chain, network, name)
    const spenders = directory.venue(name, chain, network).impl.spenders ?? {}
    const addresses = version === undefined ? Object.values(spenders) : Object.hasOwn(spenders, version) ? [spenders[version] ?? ''] : []
    if (addresses.length > 0) return { addresses: [...new Set(addresses)], registered: true }
    const known =
      Object.keys(spenders)
        .map((each) => `${name}/${each}`)
        .join(', ') || 'none'
    throw badFields([{ field: 'spender', problem: `"${text}" names no contract of ${name} (${known})` }])
  }
  const address = impl.address(text)
  if (address !== undefined) {
    const own = directory.venuesOn(chain, network).flatMap((venue) => Object.values(venue.impl.spenders ?? {}))
    return { addresses: [address], registered: own.includes(address) }
  }
  const connectors = directory.connectors.map((each) => each.name)
  throw badFields([
    { field: 'spender', problem: `"${text}" is neither a registered connector${didYouMean(name, connectors)} nor an address` },
  ])
}

/** @throws SluiceError UNSUPPORTED on a chain of another family */
export function evmOf({ impl, chain }: NetworkEntry): EvmVerbs {
  if (impl.evm) return impl.evm
  throw new SluiceError('UNSUPPORTED', `${chain} is no EVM chain: it has no allowances and no nonces of that kind.`)
}

export const evmNonce: Handler<'EVMNonce'> = async (request, context) => {
  const { network, services, signal } = context
  evmOf(network)
  const address = readAddress(network, request.address)
  requireKey(services.wallets, network, address)
  return { nonce: await services.transactions.nextNonce({ network, address }, signal) }
}

/** What is done to a wallet's pending transaction: that on `nonce`, or the lowest. */
const onPending =
  (what: 'cancel' | 'speedUp'): Handler<'EVMCancel'> & Handler<'EVMSpeedUp'> =>
  async (request, context) => {
    const { network, services, signal } = context
    evmOf(network)
    const origin = { ...context, ...readWallet(request, context) }
    const { txHash, nonce } = await services.transactions[what](origin, signal)
    return { txHash, nonce }
  }

/** Has a pending transaction do nothing. */
export const evmCancel = onPending('cancel')

/** Raises the fees of a pending transaction. */
export const evmSpeedUp = onPending('speedUp')
