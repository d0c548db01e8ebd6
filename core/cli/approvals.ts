// `sluice approvals`: what spenders may take of wallets, and taking it back. Not the approvals of a second person: those are `sluice approve`.
import { createHash } from 'node:crypto'
import { Command } from 'commander'
import { EVMRevokeResponse } from '../api/evm.ts'
import { AllowancesResponse } from '../api/portfolio.ts'
import { isSameAddress } from '../base/addresses.ts'
import { pause } from '../base/async.ts'
import { add, normalize, parseDecimal } from '../base/decimal.ts'
import { command } from '../base/layout.ts'
import type { Settings } from '../config/settings.ts'
import { ask, hasTerminal } from '../base/terminal.ts'
import { complain, examples, isYes, printResult, say, shortAddress, table } from './output.ts'
import { journalClient, readResponse, type JournalClient, type ServerClient } from './server-client.ts'
import { addServerOptions, serverOf, type ServerOptions } from './server-options.ts'
import { reasonOf } from '../base/errors.ts'

interface Access extends ServerOptions {
  readonly chain?: string
  readonly network?: string
  readonly address?: string
  readonly json?: true
}

interface RevokeOptions extends Access {
  readonly all?: true
  readonly spender?: string
  readonly dryRun?: true
  readonly yes?: true
}

const maxWidth = 100
const help = `\nThese are allowances on the chain. Requests that wait for a second person are another thing: "${command} approve".`

export function approvalsCommand(settingsOf: () => Settings): Command {
  const approvals = new Command('approvals')
    .description(
      'the allowances that spenders have of wallets on the chain: list, revoke. Not what waits for a second person: that is approve',
    )
    .addHelpText('after', help)
  const subcommand = (name: string, description: string) =>
    addServerOptions(
      approvals
        .command(name)
        .description(description)
        .option('--chain <chain>', 'only on this chain')
        .option('--network <network>', 'only on networks of this name')
        .option('--address <address>', 'only of this wallet')
        .option('--json', 'as JSON'),
    )
  subcommand('list', 'list what spenders may take now, and what each could cost')
    .addHelpText('after', `${examples('approvals list', 'approvals list --network mainnet --json')}\n${help}`)
    .action((options: Access) => printResult(() => list(options, settingsOf())))
  subcommand('revoke', 'take allowances back: shows first what is sent and what it costs, and asks')
    .argument('[ids...]', 'those of the list with these ids')
    .option('--all', 'all of the list')
    .option('--spender <spender>', 'those of this spender: an address, or the name of a connector')
    .option('--dry-run', 'only show what would be sent and what it costs')
    .option('--yes', 'send it without a question')
    .addHelpText(
      'after',
      `${examples('approvals revoke 3f9a1c0e', 'approvals revoke --spender uniswap --network mainnet', 'approvals revoke --all --yes')}\n${help}`,
    )
    .action((ids: readonly string[], options: RevokeOptions) => printResult(() => revoke(ids, options, settingsOf())))
  return approvals
}

type Allowance = AllowancesResponse['allowances'][number] & { readonly id: string }

/** The same in every list, also where others come and go: a number of a row would soon be another's. */
function idOf({ chain, network, address, spender, token, tokenId = '' }: AllowancesResponse['allowances'][number]): string {
  return createHash('sha256').update([chain, network, address, spender, token, tokenId].join(' ').toLowerCase()).digest('hex').slice(0, 8)
}

async function readAllowances(server: ServerClient, { chain, network, address }: Access): Promise<Allowance[]> {
  const query = {
    ...(chain !== undefined && { chain }),
    ...(network !== undefined && { network }),
    ...(address !== undefined && { address }),
  }
  const { allowances, unavailable = [] } = readResponse(AllowancesResponse, await server.get('/allowances', query))
  const places = new Map<string, string[]>()
  for (const { chain: on, network: name, address: of, reason } of unavailable)
    places.set(reason, [...(places.get(reason) ?? []), of === undefined ? `${on}/${name}` : `${of} on ${on}/${name}`])
  for (const [reason, all] of places) complain(`warning: what is allowed is missing of ${all.join(', ')}: ${reason}`)
  return allowances.map((each) => ({ ...each, id: idOf(each) }))
}

async function list(options: Access, settings: Settings): Promise<string> {
  const allowances = await readAllowances(serverOf(settings, options), options)
  if (options.json) return JSON.stringify({ allowances }, undefined, 2)
  if (allowances.length === 0) return 'No spender that is known may take anything.'
  return `${tableOf(allowances)}\nTo take some back: ${command} approvals revoke <id>`
}

function tableOf(allowances: readonly Allowance[]): string {
  const rows = allowances.map((each) => ({
    cells: [each.id, `${each.chain}/${each.network}`, shortAddress(each.address), spenderOf(each), ...amountsOf(each)],
    below: [
      ...(each.connectors.length === 0 && !isPermit2(each) ? [`${each.spender} belongs to no connector of this server`] : []),
      ...dormantOf(each),
    ],
  }))
  return table([{ cells: ['id', 'network', 'wallet', 'spender', 'token', 'may take', 'at risk', 'value'] }, ...rows], maxWidth)
}

const isPermit2 = ({ spender, permit2 = '' }: Allowance): boolean => isSameAddress(spender, permit2)
const spenderOf = (each: Allowance): string =>
  `${isPermit2(each) ? 'Permit2' : each.connectors.join(',') || 'unknown'} ${shortAddress(each.spender)}`

/** What cannot be taken now, and what it takes for that. */
function dormantOf(each: Allowance): string[] {
  const { dormant, symbol, token } = each
  if (dormant === undefined) return []
  const amount = `${isEndless(dormant) ? 'any amount' : short(dormant)} of ${symbol ?? token}`
  return [
    isPermit2(each)
      ? `dormant: may pass on ${amount}, to spenders that the wallet approves within Permit2`
      : `dormant: could take ${amount} besides, once the wallet approves it for Permit2 again`,
  ]
}

/** Longer ones are without a limit in effect. */
const maxDigits = 30
const isEndless = (amount: string): boolean => amount.replace(/\..*/, '').length > maxDigits

function amountsOf({ token, symbol, amount, unlimited, tokenId, atRisk, value, reference = '' }: Allowance): string[] {
  const most = unlimited
    ? 'any amount'
    : amount === undefined
      ? tokenId === undefined
        ? 'all positions'
        : `number ${tokenId}`
      : short(amount)
  return [
    symbol ?? shortAddress(token),
    most,
    atRisk === undefined ? '?' : short(atRisk),
    value === undefined ? 'no price' : `${short(value)} ${reference}`,
  ]
}

/** With at most four decimals, rounded up: it is what could be lost. */
function short(amount: string): string {
  const { digits, scale } = parseDecimal(amount)
  if (scale <= 4) return normalize(amount)
  const unit = 10n ** BigInt(scale - 4)
  const rounded = (digits + unit - 1n) / unit
  return normalize(`${rounded / 10_000n}.${(rounded % 10_000n).toString().padStart(4, '0')}`)
}

async function revoke(ids: readonly string[], options: RevokeOptions, settings: Settings): Promise<string> {
  const server = serverOf(settings, options)
  const chosen = choose(await readAllowances(server, options), ids, options)
  const planned = []
  for (const each of chosen) planned.push({ each, plan: await dryRun(server, each) })
  const possible = planned.flatMap(({ each, plan }) => ('gasCost' in plan ? [{ each, plan }] : []))
  if (options.dryRun && options.json)
    return JSON.stringify({ revocations: planned.map(({ each, plan }) => ({ ...each, ...plan })) }, undefined, 2)
  if (!options.json) say(planTable(planned))
  if (options.dryRun) return 'Nothing was sent.'
  if (possible.length === 0) throw new Error('Nothing was sent: none of them can be taken back now.')
  if (!options.yes) {
    if (!hasTerminal()) throw new Error('There is no terminal for the question, and nothing was sent; give --yes to take them back.')
    const count = possible.reduce((sum, { plan }) => sum + plan.transactions.length, 0)
    if (!isYes(await ask(`Send ${count === 1 ? 'this transaction' : `these ${count} transactions`}? Type yes: `)))
      return 'Nothing was sent.'
  }
  const outcomes = await sendAll(
    possible.map(({ each }) => each),
    journalClient(server),
  )
  const refused = planned.flatMap(({ each, plan }) => ('reason' in plan ? [{ id: each.id, state: 'not sent', reason: plan.reason }] : []))
  const all: Outcome[] = [...outcomes, ...refused]
  if (all.some(({ state }) => state !== 'gone')) process.exitCode = 1
  if (options.json) return JSON.stringify({ revocations: all }, undefined, 2)
  const rows = all.map(({ id, state, txHash = '', reason }) => ({
    cells: [id, state, txHash],
    ...(reason !== undefined && { below: [reason] }),
  }))
  return table([{ cells: ['id', 'outcome', 'transaction'] }, ...rows], maxWidth)
}

/** @throws Error unless it is clear which of them are meant */
function choose(all: readonly Allowance[], ids: readonly string[], { all: isAll, spender }: RevokeOptions): readonly Allowance[] {
  if ([ids.length > 0, isAll === true, spender !== undefined].filter(Boolean).length !== 1)
    throw new Error(`Name ids of "${command} approvals list", or --spender, or --all: one of the three.`)
  const unknown = ids.find((id) => !all.some((each) => each.id === id.toLowerCase()))
  if (unknown !== undefined) throw new Error(`No allowance has the id "${unknown}": "${command} approvals list" shows those that stand.`)
  const chosen = all.filter(
    (each) => isAll || ids.some((id) => id.toLowerCase() === each.id) || (spender !== undefined && isOf(each, spender)),
  )
  if (chosen.length === 0)
    throw new Error(spender === undefined ? 'No spender that is known may take anything.' : `${spender} may take nothing.`)
  return chosen
}

const isOf = ({ spender, connectors }: Allowance, named: string): boolean => isSameAddress(spender, named) || connectors.includes(named)

type Plan = Pick<EVMRevokeResponse, 'gasCost' | 'gasPriceToken' | 'transactions'> | { readonly reason: string }

const fieldsOf = ({ chain, network, address, spender, token, tokenId }: Allowance) => ({
  chain,
  network,
  address,
  spender,
  token,
  ...(tokenId !== undefined && { tokenId }),
})

async function dryRun(server: ServerClient, allowance: Allowance): Promise<Plan> {
  try {
    const answer = await server.post('/evm/revoke', { ...fieldsOf(allowance), dryRun: true })
    const { gasCost, gasPriceToken, transactions } = readResponse(EVMRevokeResponse, answer)
    return { gasCost, gasPriceToken, transactions }
  } catch (error) {
    return { reason: reasonOf(error) }
  }
}

function planTable(planned: readonly { readonly each: Allowance; readonly plan: Plan }[]): string {
  const rows = planned.map(({ each, plan }) => ({
    cells: [
      each.id,
      `${each.chain}/${each.network}`,
      shortAddress(each.address),
      spenderOf(each),
      ...amountsOf(each).slice(0, 2),
      'gasCost' in plan ? `${normalize(plan.gasCost)} ${plan.gasPriceToken}` : 'cannot',
    ],
    ...('reason' in plan && { below: [plan.reason] }),
  }))
  const gas = new Map<string, string>()
  for (const { each, plan } of planned)
    if ('gasCost' in plan) {
      const key = `${plan.gasPriceToken} on ${each.chain}/${each.network}`
      gas.set(key, add(gas.get(key) ?? '0', plan.gasCost))
    }
  const totals = [...gas].map(([key, cost]) => `${normalize(cost)} ${key}`)
  const heading = { cells: ['id', 'network', 'wallet', 'spender', 'token', 'may take', 'gas at most'] }
  return `${table([heading, ...rows], maxWidth)}${totals.length === 0 ? '' : `\nGas together: ${totals.join(', ')} at most.`}`
}

interface Outcome {
  readonly id: string
  readonly state: string
  readonly txHash?: string
  readonly reason?: string
}

/** For all of them together: after that the server goes on, and this command does not wait. */
const minedWithinMs = 60_000

/** One after the other: what is refused keeps none of the others back. */
async function sendAll(allowances: readonly Allowance[], journal: JournalClient): Promise<readonly Outcome[]> {
  const sent: Outcome[] = []
  for (const each of allowances) {
    try {
      const { txHash } = await journal.act('/evm/revoke', fieldsOf(each))
      sent.push({ id: each.id, state: 'sent', txHash })
    } catch (error) {
      sent.push({ id: each.id, state: 'not sent', reason: reasonOf(error) })
    }
  }
  const endsAt = performance.now() + minedWithinMs
  return Promise.all(
    sent.map(async (outcome) =>
      outcome.txHash === undefined ? outcome : settled({ ...outcome, txHash: outcome.txHash }, journal, endsAt),
    ),
  )
}

async function settled(outcome: Outcome & { readonly txHash: string }, journal: JournalClient, endsAt: number): Promise<Outcome> {
  const waits = { ...outcome, reason: `It is not mined yet: "${command} tx show ${outcome.txHash}" shows what becomes of it.` }
  try {
    while (performance.now() < endsAt) {
      const [found] = (await journal.list({ txHash: outcome.txHash }, 1)).transactions
      const state = found?.txState
      if (state === 'MINED' || state === 'CONFIRMED') return { ...outcome, state: 'gone' }
      if (state !== undefined && !['QUEUED', 'SIGNED', 'BROADCAST'].includes(state))
        return { ...outcome, state: 'failed', reason: `${state}${found?.reason === undefined ? '' : `: ${found.reason}`}` }
      await pause(300)
    }
    return waits
  } catch (error) {
    return { ...waits, reason: `${waits.reason} ${reasonOf(error)}` }
  }
}
