import { Command } from 'commander'
import * as Type from 'typebox'
import { fits } from '../base/schema-check.ts'
import { AMMLiquidityPositionResponse, AMMLiquidityRefusedResponse } from '../api/range.ts'
import type { JournaledTransaction } from '../api/transactions.ts'
import { addressKey, isSameAddress } from '../base/addresses.ts'
import { isObject } from '../base/json.ts'
import { plainJson } from '../base/printable.ts'
import type { Settings } from '../config/settings.ts'
import { complain, examples, printResult, table } from './output.ts'
import { journalClient, type ServerClient } from './server-client.ts'
import { addServerOptions, serverOf, type ServerOptions } from './server-options.ts'

interface PositionsOptions extends ServerOptions {
  readonly orphaned?: true
  readonly client?: string
  readonly address?: string
  readonly from?: string
  readonly json?: true
}

/** A position that was opened through the server, and is not known to be gone. */
export interface OpenedPosition {
  readonly chain: string
  readonly network: string
  readonly connector: string
  readonly version?: string
  readonly address: string
  readonly client?: string
  /** Absent while its transaction is pending, and where its receipt could not be read. */
  readonly tokenId?: string
  readonly txHash: string | null
  readonly openedAt: string
  /**
   * false: no answer told its client of it, or its client was refused what it asked of it last, or its last close came to nothing; and nobody has used its
   * id since.
   */
  readonly isFollowed: boolean
  readonly refused?: LastRefusal
  /** The transaction of that close. */
  readonly failedClose?: string | null
  readonly token0?: string
  readonly token1?: string
  readonly amount0?: string
  readonly amount1?: string
  readonly unclaimedToken0?: string
  readonly unclaimedToken1?: string
  /** Why it could not be read now. */
  readonly unavailable?: string
}

/** What a client was refused last, which may take that for proof that the position is gone. */
type LastRefusal = Pick<RefusedPosition, 'asked' | 'client' | 'error'> & { readonly at: string }

type RefusedPosition = AMMLiquidityRefusedResponse['positions'][number]

const mostTransactions = 100_000

export const orphanedMeans =
  'only those whose client was never told of them, or was refused what it asked of them last, or whose last close came to nothing, and whose id nobody has used since'

/** `sluice positions`: ranges of liquidity that were opened through a running server, and which of them nobody follows. */
export function positionsCommand(settingsOf: () => Settings): Command {
  return addServerOptions(
    new Command('positions')
      .description(
        'positions of liquidity that were opened through the running server and are still there; --orphaned: that nobody follows',
      )
      .option('--orphaned', orphanedMeans)
      .option('--client <name>', 'only those that this client asked for')
      .option('--address <address>', 'only those of this wallet')
      .option('--from <date>', 'only those requested at this date or later, e.g. 2026-03-01 (UTC) or 2026-03-01T12:00Z'),
  )
    .option('--json', 'print JSON')
    .addHelpText('after', examples('positions --orphaned', 'positions --client maker --json'))
    .action((options: PositionsOptions) =>
      printResult(async () => {
        const server = serverOf(settingsOf(), options)
        const found = await findPositions(server, options)
        if (options.json) return plainJson(JSON.stringify(found, null, 2))
        if (found.length > 0) return describePositions(found, server)
        const which = options.orphaned ? 'that nobody follows' : 'that was opened through this server'
        return `There is no position ${which}, of those that the certificate "${server.as}" may see.`
      }),
    )
}

export async function findPositions(
  server: ServerClient,
  { client, address, from, orphaned }: Pick<PositionsOptions, 'client' | 'address' | 'from' | 'orphaned'>,
): Promise<OpenedPosition[]> {
  // Without the client: one that another client has adopted is followed, too.
  const transactions = await liquidityChanges(server, { address, since: from })
  const uses = usesIn(transactions)
  const wallets = await walletsOf(server)
  const refusals = await refusalsOf(server)
  const found: OpenedPosition[] = []
  for (const each of transactions.filter((one) => isOpen(one) && (client === undefined || one.client === client))) {
    const opened = openedBy(each, textOf(each.fill, 'tokenId') ?? (await tokenIdOf(server, each)))
    if (!opened) continue
    const use = await useOf(server, each, opened, uses)
    const hasFailed = use?.is === 'not closed'
    const refused = refusedSince(each, opened, use, refusals)
    const isFollowed = refused === undefined && (use === undefined ? !neverTold.includes(each.delivery?.state) : !hasFailed)
    if (use?.is === 'burnt' || (orphaned && isFollowed)) continue
    const why = { isFollowed, ...(refused && { refused }), ...(hasFailed && { failedClose: use.txHash }) }
    const now = await positionNow(server, { ...opened, ...why }, wallets)
    if (now) found.push(now)
  }
  return found
}

export async function liquidityChanges(
  server: ServerClient,
  { address, since }: { readonly address?: string | undefined; readonly since?: string | undefined },
): Promise<readonly JournaledTransaction[]> {
  const given = Object.entries({ kind: 'liquidity', archived: 'true', address, since })
  const filter = Object.fromEntries(given.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))
  const journal = journalClient(server, ({ id, reason }) => complain(`warning: the row ${id} of the journal cannot be read: ${reason}`))
  const { transactions, isMore } = await journal.list(filter, mostTransactions)
  if (isMore) complain(`warning: only the newest ${mostTransactions} changes of liquidity were looked at: give --from`)
  return transactions
}

const textOf = (fields: unknown, name: string): string | undefined => {
  const value = isObject(fields) ? fields[name] : undefined
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined
}

/** By its own words, else by what was planned: the pool of a request may say which one it is. */
const versionOf = ({ request, planned }: JournaledTransaction): string | undefined =>
  textOf(request?.fields, 'version') ?? textOf(planned, 'version')

function keyOf({ chain, network, connector = '' }: JournaledTransaction, version: string | undefined, tokenId: string): string {
  const id = /^\d+$/.test(tokenId) ? BigInt(tokenId).toString() : tokenId
  return JSON.stringify([chain, network, connector, version ?? '', id])
}

/**
 * A request has named it, whose sender knows its id; or burns it, which is not final; or has burnt it, for good; or the last one was to burn it and never
 * will, so that its sender may have been told of a close which a reorganisation took back.
 */
type Use = { readonly createdAt: number; readonly client: string | undefined } & (
  | { readonly is: 'named' | 'burns' | 'burnt' }
  | { readonly is: 'not closed'; readonly txHash: string | null }
)

function usesIn(transactions: readonly JournaledTransaction[]): ReadonlyMap<string, Use> {
  const uses = new Map<string, Use>()
  for (const each of transactions) {
    const tokenId = textOf(each.request?.fields, 'tokenId')
    if (tokenId === undefined) continue
    const key = keyOf(each, versionOf(each), tokenId)
    const [use, known] = [useBy(each), uses.get(key)]
    if (known?.is !== 'burnt' && (use.is === 'burnt' || known === undefined || use.createdAt > known.createdAt)) uses.set(key, use)
  }
  return uses
}

function useBy(each: JournaledTransaction): Use {
  const { request, createdAt, client, txHash, final } = each
  const fields = isObject(request?.fields) ? request.fields : {}
  const isWhole = Number(textOf(fields, 'decreasePercent') ?? 100) === 100
  const burns = request?.path === '/amm/liquidity/remove' && fields['burn'] === true && isWhole
  const by = { createdAt, client }
  if (!burns) return { is: 'named', ...by }
  if (!final) return { is: 'burns', ...by }
  return isMined(each) ? { is: 'burnt', ...by } : { is: 'not closed', ...by, txHash }
}

const Refusals = Type.Pick(AMMLiquidityRefusedResponse, ['positions'])

async function refusalsOf(server: ServerClient): Promise<readonly RefusedPosition[]> {
  const { status, text } = await server.get('/amm/liquidity/refused', {})
  const answer: unknown = JSON.parse(text)
  if (status === 200 && fits(Refusals, answer)) return answer.positions
  throw notOfThisVersion(status)
}

/** Of who opened it, or used it last. Another client never knew it, and one that is answered later follows it. */
function refusedSince(
  { client, createdAt, attempts }: JournaledTransaction,
  { chain, network, connector, version, tokenId }: Omit<OpenedPosition, 'isFollowed'>,
  use: Use | undefined,
  refusals: readonly RefusedPosition[],
): LastRefusal | undefined {
  if (use?.is === 'burns') return undefined
  const names = [...(tokenId === undefined ? [] : [tokenId]), ...attempts.map(({ txHash }) => txHash.toLowerCase())]
  const found = refusals.find(
    (each) =>
      each.chain === chain &&
      each.network === network &&
      each.connector === connector &&
      (version === undefined || each.version === version) &&
      names.includes(each.tokenId) &&
      (each.client === client || each.client === use?.client) &&
      each.refusedAt > Math.max(createdAt, use?.createdAt ?? 0),
  )
  return (
    found && {
      at: new Date(found.refusedAt).toISOString(),
      asked: found.asked,
      client: found.client,
      ...(found.error !== undefined && { error: found.error }),
    }
  )
}

const OfVersion = Type.Object({ version: Type.String() })

/** Requests without a version mean the first one that has positions. */
async function useOf(
  server: ServerClient,
  open: JournaledTransaction,
  { chain, network, connector, version, tokenId }: Pick<OpenedPosition, 'chain' | 'network' | 'connector' | 'version' | 'tokenId'>,
  uses: ReadonlyMap<string, Use>,
): Promise<Use | undefined> {
  if (tokenId === undefined) return undefined
  const use = uses.get(keyOf(open, version, tokenId))
  const withoutVersion = version === undefined ? undefined : uses.get(keyOf(open, undefined, tokenId))
  if (use?.is === 'burnt' || withoutVersion === undefined) return use
  if (use !== undefined && use.createdAt > withoutVersion.createdAt && withoutVersion.is !== 'burnt') return use
  const [token0, token1] = ['token0', 'token1'].map((name) => textOf(open.request?.fields, name))
  const { status, text } = await server.post('/amm/liquidity/price', { chain, network, connector, token0, token1 })
  const answer: unknown = JSON.parse(text)
  return status === 200 && fits(OfVersion, answer) && answer.version === version ? withoutVersion : use
}

const neverTold: readonly unknown[] = ['lost', 'uncollected']

/** Of a plan with several transactions the last one makes the position, and says what was planned. */
const isOpen = ({ request, txHash, planned }: JournaledTransaction): boolean =>
  txHash !== null && planned !== undefined && request?.path === '/amm/liquidity/add' && textOf(request.fields, 'tokenId') === undefined

const isMined = ({ txState }: JournaledTransaction): boolean => txState === 'MINED' || txState === 'CONFIRMED'

const Polled = Type.Object({ fill: Type.Optional(Type.Object({ tokenId: Type.String() })) })

/** The journal has the fill once it is final, if it could be read then. */
async function tokenIdOf(server: ServerClient, open: JournaledTransaction): Promise<string | undefined> {
  const { chain, network, txHash } = open
  if (!isMined(open) || txHash === null) return undefined
  const { status, text } = await server.get('/network/poll', { chain, network, txHash })
  const answer: unknown = JSON.parse(text)
  return status === 200 && fits(Polled, answer) ? answer.fill?.tokenId : undefined
}

/** undefined where it made no position. */
function openedBy(open: JournaledTransaction, tokenId: string | undefined): Omit<OpenedPosition, 'isFollowed'> | undefined {
  const { chain, network, connector, address, client, txHash, createdAt, final, txState } = open
  if (connector === undefined || txState === 'REVERTED' || (final && !isMined(open))) return undefined
  const version = versionOf(open)
  return {
    chain,
    network,
    connector,
    ...(version !== undefined && { version }),
    address,
    ...(client !== undefined && { client }),
    ...(tokenId !== undefined && { tokenId }),
    txHash,
    openedAt: new Date(createdAt).toISOString(),
    ...(tokenId === undefined && isMined(open) && { unavailable: `Its id is not known: the receipt of ${txHash} could not be read.` }),
  }
}

const Wallets = Type.Array(Type.Object({ address: Type.String() }))

async function walletsOf(server: ServerClient): Promise<ReadonlySet<string>> {
  const { text } = await server.get('/wallet', {})
  const answer: unknown = JSON.parse(text)
  return new Set(fits(Wallets, answer) ? answer.map(({ address }) => addressKey(address)) : [])
}

const Position = Type.Pick(AMMLiquidityPositionResponse, [
  'owner',
  'token0',
  'token1',
  'amount0',
  'amount1',
  'unclaimedToken0',
  'unclaimedToken1',
])
const Refusal = Type.Object({ name: Type.String(), message: Type.String(), details: Type.Optional(Type.Unknown()) })

/** undefined: it is final that it is gone, or it was given away. @param wallets those that the certificate may use, by `addressKey` */
async function positionNow(
  server: ServerClient,
  opened: OpenedPosition,
  wallets: ReadonlySet<string>,
): Promise<OpenedPosition | undefined> {
  const { chain, network, connector, version, tokenId } = opened
  if (tokenId === undefined) return opened
  const { status, text } = await server.post('/amm/liquidity/position', {
    chain,
    network,
    connector,
    tokenId,
    ...(version !== undefined && { version }),
  })
  const answer: unknown = JSON.parse(text)
  if (status === 200 && fits(Position, answer)) {
    const { owner, token0, token1, amount0, amount1, unclaimedToken0, unclaimedToken1 } = answer
    if (!isSameAddress(owner, opened.address) && !wallets.has(addressKey(owner))) return undefined
    return { ...opened, token0, token1, amount0, amount1, unclaimedToken0, unclaimedToken1 }
  }
  if (fits(Refusal, answer)) {
    const { name, message, details } = answer
    // Whoever may see the transaction that opened it may use that wallet: it belongs to another one now.
    if (name === 'FORBIDDEN') return undefined
    if (name !== 'UNKNOWN_POSITION') return { ...opened, unavailable: message }
    if (isObject(details) && details['final'] === true) return undefined
    return { ...opened, unavailable: 'It is not there at this block, which is not final yet: ask again some blocks later.' }
  }
  throw notOfThisVersion(status)
}

const notOfThisVersion = (status: number) => new Error(`The response is not from a Sluice server of this version: HTTP ${status}.`)

function describePositions(found: readonly OpenedPosition[], server: ServerClient): string {
  const rows = found.map((each) => ({
    cells: [
      `${each.connector} ${each.version ?? ''}`.trimEnd(),
      `${each.chain}/${each.network}`,
      each.tokenId ?? (each.unavailable === undefined ? 'not mined yet' : 'not known'),
      each.address,
      each.client ?? '',
      each.isFollowed ? '' : 'nobody follows it',
    ],
    below: linesBelow(each, server),
  }))
  return table([{ cells: ['EXCHANGE', 'WHERE', 'ID', 'WALLET', 'CLIENT', ''], below: [] }, ...rows])
}

function linesBelow(
  { isFollowed, refused, failedClose, unavailable, openedAt, txHash, ...position }: OpenedPosition,
  { curl }: Pick<ServerClient, 'curl'>,
): string[] {
  const { chain, network, connector, version, address, tokenId, amount0, amount1, unclaimedToken0, unclaimedToken1 } = position
  const opened = `opened ${openedAt} by ${txHash}`
  const now =
    unavailable ?? (amount0 === undefined ? undefined : `holds ${amount0} and ${amount1}, fees ${unclaimedToken0} and ${unclaimedToken1}`)
  const named = { chain, network, connector, ...(version !== undefined && { version }), address, tokenId }
  return [
    opened,
    ...(now === undefined ? [] : [now]),
    ...(refused === undefined ? [] : [refusedWords(refused)]),
    ...(failedClose === undefined ? [] : [`its close ${failedClose} came to nothing, also where its client was told that it is done`]),
    ...(isFollowed || tokenId === undefined
      ? []
      : [
          `its id is all that a client needs to follow it; for Hummingbot ${version === undefined || version === 'v3' ? tokenId : `${version}:${tokenId}`}`,
          `adopt, by collecting its fees: ${curl('/amm/liquidity/collect_fees', named)}`,
          `close: ${curl('/amm/liquidity/remove', { ...named, burn: true })}`,
        ]),
  ]
}

function refusedWords({ asked, client, at, error }: LastRefusal): string {
  const what = asked === 'close' ? 'its close' : 'asking for it'
  const how = error === undefined ? `by ${client} at ${at} had no answer that arrived` : `was refused to ${client} at ${at} (${error})`
  const since = asked === 'close' ? 'nothing closed it since' : `${client} was told nothing of it since`
  return `${what} ${how}, and ${since}: ${client} may count it as closed`
}
