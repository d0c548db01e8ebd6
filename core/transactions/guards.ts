// What refuses entries before the store is asked: the rights of their client, its lists, and files that stop. Asked in every write of new entries and
// before fees are raised, so what has changed while a request was under way holds for it. What is known before a nonce is claimed is refused there.
import { addressKey, isSameAddress } from '../base/addresses.ts'
import { SluiceError } from '../base/errors.ts'
import { ownId, type Client } from '../config/clients.ts'
import type { LiveClients } from '../config/live-clients.ts'
import { findStop, stoppedError, type Stop } from '../config/stops.ts'
import type { Spending } from './budgets.ts'
import type { Entry } from './entry.ts'
import type { Journal } from './journal/journal.ts'
import { effectOf, leastEffect, type Stops } from './stops.ts'
import type { MayClaim } from './submit-request.ts'
import type { UnkeyedRequests } from './unkeyed-requests.ts'

/** What a write of the journal is about to do. */
export interface GuardedWrite extends Pick<Spending, 'is' | 'client' | 'touches' | 'hadThin'> {
  /** One at least. Of a raise those whose fees are raised. */
  readonly entries: readonly [GuardedEntry, ...GuardedEntry[]]
}

/** What guards ask of an entry. */
export type GuardedEntry = Pick<
  Entry,
  'chain' | 'network' | 'client' | 'address' | 'signer' | 'kind' | 'reduces' | 'requestId' | 'idempotencyKey'
>

/** Decides by what is in memory or in files. @throws SluiceError to refuse: then nothing is written, and nothing is signed */
export type Guard = (write: GuardedWrite) => void

/**
 * The journal, which asks each guard in their order before it writes.
 * @param requests of clients that send no key: what is signed for one that is gone, or has lost another answer meanwhile, is not signed
 */
export function withGuards(journal: Journal, guards: readonly Guard[], requests?: Pick<UnkeyedRequests, 'beforeWrite'>): Journal {
  function ask([first, ...others]: readonly Entry[], of: Omit<GuardedWrite, 'entries'>): void {
    if (first) for (const guard of guards) guard({ ...of, entries: [first, ...others] })
  }
  return {
    ...journal,
    async open(entries, lease, claim, orders, spending) {
      const { touches, hadThin } = spending ?? {}
      ask(entries, {
        is: 'new',
        client: spending?.client ?? entries[0]?.client ?? '',
        ...(touches && { touches }),
        ...(hadThin && { hadThin }),
      })
      const [first] = entries
      await journal.open(entries, lease, claim, orders, spending, first && requests?.beforeWrite(first))
    },
    async reserve(spending, lease) {
      ask(
        spending.steps.map(({ entry }) => entry),
        { is: 'raise', client: spending.client },
      )
      await journal.reserve(spending, lease)
    },
  }
}

/** A client with its wallets by `addressKey`. */
interface KnownClient {
  readonly client: Client
  readonly wallets: 'all' | ReadonlySet<string>
}

interface ClaimCheckParts {
  /** Of clients. */
  readonly rights: Guard
  readonly clients: Pick<LiveClients, 'onChange'>
  readonly stops: Pick<Stops, 'known' | 'list'>
  readonly requests: Pick<UnkeyedRequests, 'giveWay'>
}

/**
 * Refuses what has been stopped, and what its client has lost the right to, before a nonce is claimed: so that it leaves no gap of nonces, which a transaction of the
 * server would have to fill. The journal's write decides all the same.
 */
export function createClaimCheck({ rights, clients, stops, requests }: ClaimCheckParts): MayClaim {
  // Until then everybody has the rights with which their requests began.
  let areOthers = false
  clients.onChange(() => (areOthers = true))

  return (request) => {
    const { caller, address, signer, kind, reduces, touches, network, requestId, keyed } = request
    if (keyed) requests.giveWay({ requestId, idempotencyKey: keyed.claim.key })
    if (!areOthers && stops.known().length === 0) return undefined
    const { id: client, permissions } = caller
    const entry = {
      chain: network.chain,
      network: network.network,
      client,
      address,
      signer,
      kind,
      requestId,
      ...(reduces === true && { reduces }),
    }
    if (areOthers)
      rights({
        is: 'new',
        client,
        entries: [entry],
        ...(touches && { touches }),
        ...(permissions?.has('thin') && { hadThin: true }),
      })
    const stopIn = (all: readonly Stop[]) => findStop(all, effectOf(entry), { wallets: [address, signer], clients: [client] })
    // Before it refuses anything the store is asked: another server may have lifted it within the second.
    return stopIn(stops.known()) && stops.list().then((all) => refuseStopped(stopIn(all)))
  }
}

function refuseStopped(stop: Stop | undefined): void {
  if (stop) throw stoppedError(stop)
}

/** The rights of clients as they are now: a request that is under way when its client loses one signs nothing. */
export function clientRights(clients: () => readonly Client[]): Guard {
  let known: { readonly of: readonly Client[]; readonly byName: ReadonlyMap<string, KnownClient> } = { of: [], byName: new Map() }

  function clientNow(name: string): KnownClient | undefined {
    const now = clients()
    if (known.of !== now) known = { of: now, byName: new Map(now.map((client) => [client.name, withWallets(client)])) }
    return known.byName.get(name)
  }

  return ({ is, client: name, entries, touches, hadThin = false }) => {
    if (name === ownId) return
    const { client, wallets = new Set<string>() } = clientNow(name) ?? {}
    const permissions = client?.closed === undefined ? (client?.permissions ?? []) : []
    // Raising is trading, whatever is raised.
    const sends = is === 'new' && entries.some(({ kind }) => kind === 'send')
    const permission = sends ? 'send' : 'trade'
    if (!permissions.includes(permission)) throw lacks(name, `the permission ${permission}`)
    const foreign = wallets === 'all' ? undefined : entries.find(({ address }) => !wallets.has(addressKey(address)))
    if (foreign) throw lacks(name, `the wallet ${foreign.address}`)
    if (sends) {
      const [{ address }] = entries
      const to = touches?.().recipient
      if (to === undefined || !maySendTo(client, address, to)) throw lacks(name, `the address ${to ?? 'of nobody'} in sendTo of ${address}`)
    }
    // It was not held against the market.
    if (hadThin && !permissions.includes('thin') && leastEffect(entries) === 'other') throw lacks(name, 'the permission thin')
  }
}

const withWallets = (client: Client): KnownClient => ({
  client,
  wallets: client.wallets === 'all' ? 'all' : new Set(client.wallets.map(addressKey)),
})

const maySendTo = (client: Client | undefined, address: string, to: string): boolean =>
  [...(client?.sendTo ?? [])].some(
    ([wallet, recipients]) => isSameAddress(wallet, address) && recipients.some((each) => isSameAddress(each, to)),
  )

const lacks = (client: string, what: string) =>
  new SluiceError(
    'FORBIDDEN',
    `The client certificate "${client}" lacks ${what} by now: nothing was signed. An operator gives it in conf/clients.yml.`,
  )
