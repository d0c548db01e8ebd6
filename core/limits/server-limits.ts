// The limits of clients, as this server's conf/clients.yml and those of other servers on the same store have them: the stricter of each holds until they
// are equal. Each server writes its own beside its heartbeat and reads those of the others every second, so a request asks nobody.
import { sql } from 'kysely'
import { oneAtATime } from '../base/async.ts'
import { isLess } from '../base/decimal.ts'
import { isObject } from '../base/json.ts'
import { isClientLimits, type Client, type ClientLimits } from '../config/clients.ts'
import type { LiveClients } from '../config/live-clients.ts'
import type { Store } from '../store/store.ts'
import type { LimitsOf } from './allow-lists.ts'
import { maxLeverageOf } from './perpetual-limits.ts'
import { reasonOf } from '../base/errors.ts'

export interface ServerLimits {
  /** All of these hold. */
  readonly limitsOf: LimitsOf
  /** The strictest amounts of all of them; undefined: the client has no limits. */
  strictestOf(client: string): ClientLimits | undefined
  /** Whether any client has limits, or had some since the start. */
  areThere(): boolean
  /** Writes those of this server, and reads those of others. Runs by itself every second. Never rejects. */
  refresh(): Promise<void>
  stop(): void
}

interface ServerLimitsOptions {
  store: Pick<Store, 'kind' | 'read' | 'writeOnce' | 'isServerAlive'>
  serverId: string
  clients: Pick<LiveClients, 'list' | 'onChange'>
  log: { warn(fields: object, message: string): void }
  steadyMs?: () => number
}

/** By client. */
type LimitsByClient = ReadonlyMap<string, ClientLimits>
interface OtherServer {
  readonly name: string
  readonly limits: LimitsByClient
}

const refreshMs = 1_000
/** How often servers that differ are said to. */
const repeatMs = 60_000
const none: readonly ClientLimits[] = []
/** Of a server of another version that are not known here: what cancels or takes back is allowed, and nothing else. */
const unknown: ClientLimits = { allowed: { actions: [] } }

export function createServerLimits({
  store,
  serverId,
  clients,
  log,
  steadyMs = () => performance.now(),
}: ServerLimitsOptions): ServerLimits {
  let own = limitsIn(clients.list)
  let others: readonly OtherServer[] = []
  let all = merged(own, others)
  let wereThere = all.size > 0
  let rowsRead = '[]'
  let said = { text: '[[],[]]', atMs: 0 }
  let isFailing = false
  // The embedded store has one server.
  const isShared = store.kind === 'postgres'
  // Else what was written or read before a change could come after it.
  const refresh = isShared ? oneAtATime(exchange) : async () => {}
  const timer = isShared ? setInterval(() => void refresh(), refreshMs).unref() : undefined
  clients.onChange(() => {
    own = limitsIn(clients.list)
    update()
    void refresh()
  })

  function update(): void {
    all = merged(own, others)
    wereThere ||= all.size > 0
  }

  async function exchange(): Promise<void> {
    const text = JSON.stringify([...own])
    try {
      await store.writeOnce((db) =>
        sql`update servers set limits = ${text} where id = ${serverId} and limits is distinct from ${text}`.execute(db),
      )
      const rows = await store.read((db) =>
        db
          .selectFrom('servers')
          .select(['name', 'limits'])
          .where('id', '!=', serverId)
          .where('limits', 'is not', null)
          .where(store.isServerAlive(sql.ref('servers.id')))
          .orderBy('id')
          .execute(),
      )
      isFailing = false
      if (JSON.stringify(rows) !== rowsRead) {
        rowsRead = JSON.stringify(rows)
        others = rows.map(({ name, limits }) => ({ name, limits: readLimits(limits ?? '[]') }))
        update()
      }
      sayDifferent()
    } catch (error) {
      // Logged once as long as it lasts. What was read last holds.
      if (!isFailing) log.warn({ reason: reasonOf(error) }, 'limits of other servers not read; tried again')
      isFailing = true
    }
  }

  function sayDifferent(): void {
    const servers = others.filter(({ limits }) => differingIn(own, limits).length > 0)
    const differing = [...new Set(servers.flatMap(({ limits }) => differingIn(own, limits)))]
    const names = servers.map(({ name }) => name)
    const text = JSON.stringify([differing, names])
    if (text === said.text && (servers.length === 0 || steadyMs() - said.atMs < repeatMs)) return
    said = { text, atMs: steadyMs() }
    if (servers.length === 0) log.warn({}, 'servers on the store have the same limits of clients again')
    else
      log.warn(
        { clients: differing, servers: names },
        'servers on the store have different limits of clients: the stricter of each holds until their conf/clients.yml are equal',
      )
  }

  return {
    limitsOf: (client) => all.get(client)?.limits ?? none,
    strictestOf: (client) => all.get(client)?.strictest,
    areThere: () => wereThere,
    refresh,
    stop: () => clearInterval(timer),
  }
}

const limitsIn = (clients: readonly Client[]): LimitsByClient =>
  new Map(clients.flatMap(({ name, limits }) => (limits ? [[name, sorted(limits) as ClientLimits] as const] : [])))

/** The same text for equal limits. */
const sorted = (value: unknown): unknown =>
  isObject(value)
    ? Object.fromEntries(
        Object.entries(value)
          .toSorted(([a], [b]) => (a < b ? -1 : 1))
          .map(([key, each]) => [key, sorted(each)]),
      )
    : value

/** @throws SyntaxError, which no server writes */
function readLimits(text: string): LimitsByClient {
  const entries: unknown = JSON.parse(text)
  if (!Array.isArray(entries)) throw new SyntaxError('The limits of a server are not a list.')
  return new Map(
    entries.map((entry: unknown): [string, ClientLimits] => {
      const [client, limits]: unknown[] = Array.isArray(entry) ? entry : []
      return [String(client), isClientLimits(limits) ? limits : unknown]
    }),
  )
}

const differingIn = (one: LimitsByClient, other: LimitsByClient): readonly string[] =>
  [...new Set([...one.keys(), ...other.keys()])].filter((client) => JSON.stringify(one.get(client)) !== JSON.stringify(other.get(client)))

interface MergedLimits {
  readonly limits: readonly ClientLimits[]
  readonly strictest: ClientLimits
}

function merged(own: LimitsByClient, others: readonly OtherServer[]): ReadonlyMap<string, MergedLimits> {
  const servers = [own, ...others.map(({ limits }) => limits)]
  const clients = new Set(servers.flatMap((each) => [...each.keys()]))
  return new Map(
    [...clients].map((client) => {
      const different = new Map(servers.flatMap((each) => each.get(client) ?? []).map((each) => [JSON.stringify(each), each]))
      const limits = [...different.values()]
      return [client, { limits, strictest: limits.map(withLeverage).reduce((one, other) => strictest(one, other) as ClientLimits) }]
    }),
  )
}

/** The leverage that a limit of losses brings with it holds beside another server's as well. */
function withLeverage(limits: ClientLimits, _index: number, all: readonly ClientLimits[]): ClientLimits {
  const most = all.length > 1 ? maxLeverageOf(limits) : undefined
  return most === undefined ? limits : { ...limits, maxLeverage: Number(most) }
}

/**
 * Of each amount the lower. What only one of them limits is limited; of tokens and of networks, each of which needs an entry, those stay that both have. Lists of what may
 * be touched are held one by one.
 */
export function strictest(one: unknown, other: unknown, key = ''): unknown {
  if (one === undefined || other === undefined) return one ?? other
  if (typeof one === 'number' && typeof other === 'number') return Math.min(one, other)
  if (typeof one === 'string' && typeof other === 'string') return isLess(other, one) ? other : one
  // One amount for all networks, and amounts by network.
  if (typeof one === 'string' && isObject(other)) return strictestOfEach(other, one)
  if (typeof other === 'string' && isObject(one)) return strictestOfEach(one, other)
  if (!isObject(one) || !isObject(other)) return one
  const isList = /^\.((tokens|approveTokensAbove)(\.[^.]*)?|maxFee|maxDailyGas)$/.test(key)
  const keys = [...new Set([...Object.keys(one), ...Object.keys(other)])].filter((each) => !isList || (each in one && each in other))
  return Object.fromEntries(
    keys.map((each) => [each, each === 'allowed' ? one[each] : strictest(one[each], other[each], `${key}.${each}`)]),
  )
}

const strictestOfEach = (amounts: Readonly<Record<string, unknown>>, all: string): unknown =>
  Object.fromEntries(Object.entries(amounts).map(([network, amount]) => [network, strictest(amount, all)]))
