// `sluice approve`: what waits for a second person, what a request would do, and the decision.
import { Command } from 'commander'
import type { Static } from 'typebox'
import {
  ApprovalsApproveResponse,
  ApprovalsPreviewResponse,
  ApprovalsResponse,
  type RequestEffect,
  type ShownApproval,
} from '../api/approvals.ts'
import { command } from '../base/layout.ts'
import type { Settings } from '../config/settings.ts'
import { ask, hasTerminal } from '../base/terminal.ts'
import { examples, isYes, printResult, say, table } from './output.ts'
import { readResponse, type ServerClient } from './server-client.ts'
import { addServerOptions, serverOf, type ServerOptions } from './server-options.ts'

interface ApproveOptions extends ServerOptions {
  readonly deny?: true
  readonly withdraw?: true
  readonly yes?: true
  readonly all?: true
  readonly json?: true
}

export const approveCommand = (settingsOf: () => Settings): Command =>
  addServerOptions(
    new Command('approve')
      .description(
        'approve or deny a request of another client that waits for a second person, or withdraw your own; without an id, list them. Allowances of spenders on the chain are approvals',
      )
      .argument('[id]', 'its number')
      .option('--deny', 'deny it')
      .option('--withdraw', 'withdraw it: a request of the client whose certificate is used')
      .option('--yes', 'approve it without a question')
      .option('--all', 'list those that do not wait any more, too')
      .option('--json', 'as JSON'),
  )
    .addHelpText(
      'after',
      examples('approve', 'approve 17 --as boss', 'approve 17 --deny --as boss', 'approve 17 --withdraw --as market-maker'),
    )
    .action((id: string | undefined, options: ApproveOptions) => printResult(() => decide(id, options, settingsOf())))

/** A request is carried out before the answer comes. */
const timeoutMs = 60_000
const maxWidth = 100

async function decide(id: string | undefined, options: ApproveOptions, settings: Settings): Promise<string> {
  const { json, deny, withdraw, yes, all } = options
  const server = serverOf(settings, options, { timeoutMs })
  if (id === undefined) {
    const answer = readResponse(ApprovalsResponse, await server.get('/approvals', all ? {} : { state: 'waiting' }))
    return json ? JSON.stringify(answer, undefined, 2) : listFor(server.as, answer, all === true)
  }
  if (deny || withdraw) {
    const [path, state] = withdraw ? ['/approvals/withdraw', 'withdrawn'] : ['/approvals/deny', 'denied']
    const ended = readResponse(ApprovalsApproveResponse, await server.post(path, { id: Number(id) }))
    return json ? JSON.stringify(ended, undefined, 2) : `The request ${id} of ${ended.client} is ${state}. Nothing was signed for it.`
  }
  if (yes) return approve(id, server, json)
  const preview = readResponse(ApprovalsPreviewResponse, await server.get('/approvals/preview', { id }))
  if (json) return JSON.stringify(preview, undefined, 2)
  const shown = previewOf(preview)
  if (preview.approval.state !== 'waiting' || preview.error) return shown
  const how = `To approve it: ${command} approve ${id} --yes. To deny it: ${command} approve ${id} --deny.`
  if (!hasTerminal()) return `${shown}\n\n${how}`
  say(shown)
  return isYes(await ask('Approve it? Type yes: ')) ? approve(id, server, json) : `Nothing was decided. ${how}`
}

async function approve(id: string, server: ServerClient, json: true | undefined): Promise<string> {
  const done = readResponse(ApprovalsApproveResponse, await server.post('/approvals/approve', { id: Number(id) }))
  if (json) return JSON.stringify(done, undefined, 2)
  const { client, requestId, answer = {} } = done
  const hash = typeof answer['txHash'] === 'string' ? ` ${answer['txHash']}` : ''
  return `The request ${id} of ${client} is approved, and signed:${hash}\nTo follow it: ${command} tx show ${requestId}`
}

function listFor(as: string, { approvals, mayDecide }: Static<typeof ApprovalsResponse>, isAll: boolean): string {
  if (mayDecide) return listOf(approvals, isAll)
  const lacks = `The certificate "${as}" lacks the permission approve, so requests of other clients are not shown, or not its to decide. To use another one: --as <name>. An operator gives the permission in conf/clients.yml.`
  return `${lacks}\n${approvals.length === 0 ? 'No request waits that it may see.' : listOf(approvals, isAll)}`
}

function listOf(approvals: readonly ShownApproval[], isAll: boolean): string {
  if (approvals.length === 0)
    return isAll ? 'No request of a client waits, or waited, for an approval.' : 'No request waits for an approval.'
  const rows = approvals.map(({ id, state, revoked, client, path, address, effect, expiresAt }) => ({
    cells: [
      String(id),
      revoked ? 'revoked' : state,
      client,
      path,
      `${address.slice(0, 8)}…`,
      effect.valueGiven ?? 'no price',
      timeOf(expiresAt),
    ],
  }))
  return table([{ cells: ['id', 'state', 'client', 'request', 'wallet', 'value', 'expires'] }, ...rows], maxWidth)
}

const timeOf = (ms: number): string => new Date(ms).toISOString().slice(0, 19).replace('T', ' ')

function previewOf({ approval, effect, error }: Static<typeof ApprovalsPreviewResponse>): string {
  const { id, state, client, path, address, request, expiresAt, decidedBy, refusal } = approval
  const { chain, network, address: _address, ...fields } = request
  const rows = [
    ['request', `${id}, ${state}${decidedBy === undefined ? '' : ` by ${decidedBy}`}, expires ${timeOf(expiresAt)}`],
    ['client', client],
    ['does', `${path} on ${String(chain)}/${String(network)}`],
    ['wallet', address],
    [
      'fields',
      Object.entries(fields)
        .map(([name, value]) => `${name} ${textOf(value)}`)
        .join(', '),
    ],
    ...effectRows(effect ?? approval.effect),
  ]
  const now = refusal
    ? `It was refused for good when it was approved: ${refusal.message} (${refusal.name})`
    : error
      ? `It would be refused now: ${error.message} (${error.name})`
      : 'Simulated at the node now. It is planned anew when it is approved.'
  const [first, ...others] = rows.map((cells) => ({ cells }))
  return table([...(first ? [first] : []), ...others, { cells: ['now', ''], below: [now] }], maxWidth)
}

function effectRows({ gives = [], gets = [], valueGiven, valueLost, maxFee, feeToken = '' }: RequestEffect): string[][] {
  const all = (amounts: typeof gives) => amounts.map(({ amount, symbol, token }) => `${amount} ${symbol ?? token}`).join(', ')
  return [
    ...(gives.length > 0 ? [['gives', `${all(gives)} at most`]] : []),
    ...(gets.length > 0 ? [['gets', `${all(gets)} at least`]] : []),
    ['value', valueGiven === undefined ? 'not known: no market tells' : `${valueGiven} at most, in the reference token`],
    ...(valueLost === undefined ? [] : [['loses', `${valueLost} at most, against the market`]]),
    ...(maxFee === undefined ? [] : [['fee', `${maxFee} ${feeToken} at most`]]),
  ]
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))
