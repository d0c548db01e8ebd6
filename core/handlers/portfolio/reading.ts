// How wallets are read: each part by itself and within a time, so that what fails is named and the rest is shown.
import { abortable, isAbort, withDeadline, withTimeout } from '../../base/async.ts'
import { isSameAddress } from '../../base/addresses.ts'
import { badFields, SluiceError } from '../../base/errors.ts'
import { command } from '../../base/layout.ts'
import type { TradingType } from '../../contracts/index.ts'
import { findNetworks, type NetworkEntry, type VenueEntry } from '../../plugins/index.ts'
import { mayUseWallet, type RequestContext } from '../context.ts'
import { createReadingSlots, type ReadingSlots } from './reading-slots.ts'
import { valuesOn, type Values } from './values.ts'
import { withoutStop } from '../../base/printable.ts'

/** What the answer lacks, and why. */
export interface Missing {
  readonly chain: string
  readonly network: string
  readonly address?: string
  readonly connector?: string
  readonly part?: string
  readonly reason: string
}

/** One wallet on one network. */
export interface WalletReading {
  readonly network: NetworkEntry
  readonly owner: string
  /** The connectors that were asked for and run. */
  readonly venues: readonly VenueEntry[]
  readonly values: Values
  readonly services: RequestContext['services']
  readonly signal: AbortSignal
  /** What `read` returns; `otherwise` where it fails, and then it is named. */
  part<T>(of: { readonly part: string; readonly connector?: string }, read: () => Promise<T>, otherwise: T): Promise<T>
  /** Names what is missing. */
  miss(of: { readonly part: string; readonly connector?: string }, reason: string): void
}

/** A network with wallets of the caller. */
interface Place {
  readonly network: NetworkEntry
  readonly wallets: readonly string[]
}

export interface Scope {
  readonly chain?: string
  readonly network?: string
  readonly address?: string
}

/** A request that names more than this has to be narrowed: each costs several calls. */
const maxWallets = 200
const walletsAtOnce = 4
/** Of all requests on one network. Each wallet asks its node for a few batches, and a node in trouble holds up nothing but itself. */
const walletsOfAll = 12
const slots = new WeakMap<NetworkEntry['impl'], ReadingSlots>()
/** For a network whose nodes do not answer, and for all wallets of one. Both are less than a request may take. */
const [answerWithinMs, readWithinMs] = [3_000, 15_000]

/** The networks that run, with the wallets that the caller may use there. @throws SluiceError */
async function findPlaces(scope: Scope, { services, caller }: RequestContext, missing: Missing[]): Promise<readonly Place[]> {
  const { registry } = services
  const { chain, network, address } = scope
  if (chain !== undefined && network !== undefined) await registry.wake(chain, network)
  const own = services.wallets.all().filter((each) => mayUseWallet(caller, each.address))
  const isNamed = (each: string) => address === undefined || isSameAddress(each, address)
  const places = findNetworks(registry, scope).flatMap((on): Place[] => {
    const wallets = own.filter((each) => each.chain === on.chain && isNamed(each.address) && (on.impl.local || !each.devnet))
    return wallets.length === 0 ? [] : [{ network: on, wallets: wallets.map((each) => on.impl.address(each.address) ?? each.address) }]
  })
  if (address !== undefined && places.length === 0)
    throw new SluiceError(
      'LOAD_WALLET',
      `The server holds no key for ${address} on these networks; an operator adds it with \`${command} wallet add\`.`,
    )
  const running = places.filter(({ network: on }) => {
    const reason = on.notReady()
    if (reason !== undefined)
      missing.push({
        chain: on.chain,
        network: on.network,
        reason: `The network does not run: ${withoutStop(reason)}. A request that names it starts it.`,
      })
    return reason === undefined
  })
  const count = running.reduce((sum, { wallets }) => sum + wallets.length, 0)
  if (count > maxWallets)
    throw badFields([
      {
        field: 'address',
        problem: `is needed, or a chain or network: there are ${count} wallets on networks, and one request reads ${maxWallets}`,
      },
    ])
  return running
}

export interface NetworkReading<T> {
  readonly network: NetworkEntry
  readonly values: Values
  readonly blockNumber: number
  /** In the order of the wallets; those that could not be read are missing. */
  readonly wallets: readonly T[]
}

interface Reader<T> {
  /** Connectors with one of these are started on networks that run. */
  readonly types: readonly TradingType[]
  read(of: WalletReading): Promise<T>
}

/** Reads all wallets of the scope. A network in trouble refuses nothing: it is named in `missing`. @throws SluiceError */
export async function readWallets<T>(
  scope: Scope,
  context: RequestContext,
  reader: Reader<T>,
): Promise<{ readonly networks: readonly NetworkReading<T>[]; readonly missing: readonly Missing[] }> {
  const missing: Missing[] = []
  const places = await findPlaces(scope, context, missing)
  const found = await Promise.all(places.map((place) => readPlace(place, context, reader, missing)))
  return { networks: found.flatMap((each) => each ?? []), missing }
}

async function readPlace<T>(
  { network, wallets }: Place,
  { services, caller, signal: ofRequest }: RequestContext,
  { types, read }: Reader<T>,
  missing: Missing[],
): Promise<NetworkReading<T> | undefined> {
  const { chain, network: name } = network
  const where = { chain, network: name }
  const seconds = Math.min(readWithinMs, services.settings.server.requestTimeoutSeconds * 600) / 1000
  const reasonOf = (error: unknown): string => {
    if (isAbort(error)) return `It was not read within ${seconds} s.`
    if (error instanceof SluiceError) return error.message
    throw error
  }
  return withDeadline(ofRequest, seconds * 1000, async (signal) => {
    const head = await withTimeout(abortable(network.impl.head({ signal }), signal), answerWithinMs, () => undefined).catch(
      (error: unknown) => ({
        reason: reasonOf(error),
      }),
    )
    if (head === undefined || 'reason' in head) {
      missing.push({ ...where, reason: head?.reason ?? `No answer within ${answerWithinMs / 1000} s.` })
      return undefined
    }
    const venues = await startVenues(network, types, services.registry, missing)
    const values = valuesOn(network, { services, caller })
    const places = slotsOf(network)
    const readings = wallets.map((owner): (() => Promise<T[]>) => {
      const miss: WalletReading['miss'] = (of, reason) => void missing.push({ ...where, address: owner, ...of, reason })
      const part: WalletReading['part'] = async (of, readPart, otherwise) => {
        try {
          return await abortable(readPart(), signal)
        } catch (error) {
          miss(of, reasonOf(error))
          return otherwise
        }
      }
      return async () => {
        try {
          return [await places.of(caller.id, signal, () => read({ network, owner, venues, values, services, signal, part, miss }))]
        } catch (error) {
          if (!signal.aborted) throw error
          missing.push({ ...where, address: owner, reason: reasonOf(signal.reason) })
          return []
        }
      }
    })
    return { network, values, blockNumber: Number(head.number), wallets: (await someAtOnce(readings, walletsAtOnce)).flat() }
  })
}

/** Those that do not run are named. */
async function startVenues(
  { chain, network }: NetworkEntry,
  types: readonly TradingType[],
  registry: RequestContext['services']['registry'],
  missing: Missing[],
): Promise<readonly VenueEntry[]> {
  const venues = registry.venuesOn(chain, network).filter(({ impl }) => types.some((type) => impl[type]))
  await Promise.all(venues.map(async ({ connector }) => registry.wake(chain, network, connector)))
  return venues.filter(({ connector, notReady }) => {
    const reason = notReady()
    if (reason !== undefined) missing.push({ chain, network, connector, reason: `The connector does not run: ${reason}` })
    return reason === undefined
  })
}

function slotsOf({ impl }: NetworkEntry): ReadingSlots {
  const known = slots.get(impl) ?? createReadingSlots(walletsOfAll, walletsAtOnce)
  slots.set(impl, known)
  return known
}

/** The results of all, in their order. */
async function someAtOnce<T>(work: readonly (() => Promise<T>)[], atOnce: number): Promise<readonly T[]> {
  const results: T[] = []
  const left = work.entries()
  const next = async (): Promise<void> => {
    for (const [index, each] of left) results[index] = await each()
  }
  await Promise.all(Array.from({ length: atOnce }, next))
  return results
}
