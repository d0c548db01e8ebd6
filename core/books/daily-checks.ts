// Holds the book of each wallet against the chain once a day, by one of the servers that share the store.
import { addressKey, isSameAddress } from '../base/addresses.ts'
import { formatRaw } from '../base/decimal.ts'
import type { At, Log, PastBlock } from '../contracts/index.ts'
import type { NetworkEntry } from '../plugins/index.ts'
import type { Leases } from '../transactions/leases.ts'
import { blockAt, checkBook, finalBlock, historyOf, requireHistory, type BookSource } from './check-book.ts'
import type { Checkpoints, WalletPlace } from './checkpoints.ts'
import type { WalletCheck } from './verify-wallet.ts'
import { nonceKey } from './wallet-changes.ts'
import type { Discrepancy } from './wallet-ledger.ts'
import { reasonOf } from '../base/errors.ts'

export interface DailyChecks {
  /** Checks what is due. Runs by itself every hour. Never rejects. */
  run(): Promise<void>
  /** Of the same as `onChecked` gets: only those of which the log warns, without tokens that are named as changing by themselves. */
  warned(): readonly UnexplainedCount[]
  stop(): Promise<void>
}

/** How often something of a token was unexplained, and how often the log has warned of that. */
interface TokenCount {
  readonly count: number
  readonly warned: number
}

/** What the last checks of all wallets on a network found unexplained. */
export interface UnexplainedCount {
  readonly chain: string
  readonly network: string
  /** The token's symbol, or its address where no list has it. */
  readonly token: string
  readonly count: number
}

interface DailyOptions {
  /** Those that are to be checked, as they are now. */
  networks(): readonly NetworkEntry[]
  wallets(): readonly { readonly chain: string; readonly address: string }[]
  readonly source: BookSource
  readonly checkpoints: Checkpoints
  readonly leases: Pick<Leases, 'use'>
  /** Symbols or addresses of tokens whose balances change by themselves. */
  readonly rebasing: readonly string[]
  readonly log: Log
  /** Receives the native coin, and each token that ever had some. */
  onChecked(counts: readonly UnexplainedCount[]): void
}

/** One server checks at a time. Not the name of a queue of nonces: those have slashes. */
const leaseName = 'books'
const firstRunMs = 5 * 60_000
const everyMs = 3_600_000
/** By the time of blocks. A little less than a day, so that a check does not come later each day. */
const dueAfterMs = 23 * 3_600_000

export function createDailyChecks(options: DailyOptions): DailyChecks {
  const { networks, wallets, leases, log } = options
  const closing = new AbortController()
  const { signal } = closing
  const failing = new Set<string>()
  /** By network and token. */
  const found = new Map<string, Pick<UnexplainedCount, 'chain' | 'network' | 'token'> & { readonly byWallet: Map<string, TokenCount> }>()
  /** By network and wallet: the block up to which this server has counted. */
  const counted = new Map<string, number>()
  let running: Promise<void> | undefined
  const first = setTimeout(() => void run(), firstRunMs).unref()
  const timer = setInterval(() => void run(), everyMs).unref()

  async function runNow(): Promise<void> {
    for (const on of networks()) {
      const own = wallets().filter(({ chain }) => chain === on.chain)
      if (own.length === 0 || !historyOf(on)) continue
      await attempt(`${on.chain}/${on.network}`, async () => {
        const newest = await finalBlock(on, requireHistory(on), { signal })
        for (const { address } of own)
          await attempt(`${on.chain}/${on.network} ${address}`, () =>
            leases.use(leaseName, signal, async () => {
              const { keep, ...last } = await checkDue(on, address, newest, options, { signal })
              // Counted and said before: where the answer to a checkpoint is lost that was kept, the next check begins behind it.
              note(on, address, last)
              await keep?.()
            }),
          )
      })
    }
  }

  /** What this server has counted is of the past once another one has checked: it counts now. */
  function note(on: NetworkEntry, wallet: string, { block, unexplained }: LastCheck): void {
    const name = `${on.chain}/${on.network}/${wallet}`
    const own = counted.get(name)
    if (unexplained) counted.set(name, block)
    else if (own === undefined || own === block) return
    else counted.delete(name)
    count(on, wallet, unexplained ?? new Map())
  }

  function count({ chain, network, impl }: NetworkEntry, wallet: string, unexplained: ReadonlyMap<string, TokenCount>): void {
    const place = `${chain}/${network}/`
    for (const token of [impl.nativeCurrency.symbol, ...unexplained.keys()])
      if (!found.has(`${place}${token}`)) found.set(`${place}${token}`, { chain, network, token, byWallet: new Map() })
    const ofNetwork = [...found.values()].filter((each) => each.chain === chain && each.network === network)
    for (const { token, byWallet } of ofNetwork) byWallet.set(wallet, unexplained.get(token) ?? { count: 0, warned: 0 })
    options.onChecked(ofNetwork.map((each) => sumOf(each, 'count')))
  }

  const sumOf = (
    { chain, network, token, byWallet }: NonNullable<ReturnType<typeof found.get>>,
    of: keyof TokenCount,
  ): UnexplainedCount => ({
    chain,
    network,
    token,
    count: [...byWallet.values()].reduce((sum, each) => sum + each[of], 0),
  })

  /** What fails is tried again in an hour, and is said once as long as it does. */
  async function attempt(name: string, work: () => Promise<unknown>): Promise<void> {
    try {
      signal.throwIfAborted()
      await work()
      failing.delete(name)
    } catch (error) {
      if (signal.aborted || failing.has(name)) return
      failing.add(name)
      log.warn({ of: name, reason: reasonOf(error) }, 'the book is not verified; it is tried again in an hour')
    }
  }

  const run = (): Promise<void> => (running ??= runNow().finally(() => (running = undefined)))

  return {
    run,
    warned: () => [...found.values()].map((each) => sumOf(each, 'warned')),
    async stop() {
      clearTimeout(first)
      clearInterval(timer)
      closing.abort()
      await running
    },
  }
}

interface LastCheck {
  /** Up to which one of the servers has checked. */
  readonly block: number
  /** How often something of a token was unexplained; absent where nothing was due. */
  readonly unexplained?: ReadonlyMap<string, TokenCount>
}

/** `keep`: writes the checkpoint from which the next check goes on. */
type DueCheck = LastCheck & { readonly keep?: () => Promise<void> }

/** From the newest checkpoint on. The first time there is only a checkpoint to keep. */
async function checkDue(on: NetworkEntry, wallet: string, newest: PastBlock, options: DailyOptions, at: At): Promise<DueCheck> {
  const { checkpoints, source, rebasing } = options
  const { chain, network } = on
  const of: WalletPlace = { chain, network, wallet }
  const before = await checkpoints.newest(of)
  if (!before) {
    await keepFirst(on, of, newest, checkpoints, at)
    return { block: newest.number }
  }
  if (newest.timestamp * 1000 - before.timestampMs < dueAfterMs || newest.number <= before.block) return { block: before.block }
  const history = requireHistory(on)
  // In one piece: nodes without an archive have the state of neither end of a smaller one.
  const after = await blockAt(history, before.block, at)
  const kept = await checkpoints.between(of, after.number, newest.number)
  const check = await checkBook({ on, wallet, source, rebasing, kept }, { after, upTo: newest }, at)
  const keep = () => checkpoints.keep(of, { block: newest.number, timestampMs: newest.timestamp * 1000, balances: balancesAt(check) })
  return { block: newest.number, unexplained: sayUnexplained(on, of, check.unexplained, options), keep }
}

async function keepFirst(on: NetworkEntry, of: WalletPlace, newest: PastBlock, checkpoints: Checkpoints, at: At): Promise<void> {
  const { nativeCurrency } = on.impl
  const tokens = on.tokens.listed.flatMap(({ address }) => (address === nativeCurrency.address ? [] : address))
  const [held] = await requireHistory(on).holdings(of.wallet, tokens, [newest.number], at)
  if (!held) return
  const ofTokens = tokens.flatMap((token, index) => {
    const raw = held.balances[index] ?? 0n
    return raw > 0n ? [[addressKey(token), raw] as const] : []
  })
  const balances = new Map([[nonceKey, BigInt(held.nonce)], [addressKey(nativeCurrency.address), held.coinRaw], ...ofTokens])
  await checkpoints.keep(of, { block: newest.number, timestampMs: newest.timestamp * 1000, balances })
}

const balancesAt = ({ tokens, endNonce }: WalletCheck) =>
  new Map([
    ...(endNonce === undefined ? [] : [[nonceKey, BigInt(endNonce)] as const]),
    ...tokens.map(({ token, endRaw }) => [token, endRaw] as const),
  ])

function sayUnexplained(
  on: NetworkEntry,
  of: WalletPlace,
  found: readonly Discrepancy[],
  { rebasing, log }: DailyOptions,
): ReadonlyMap<string, TokenCount> {
  const unexplained = new Map<string, TokenCount>()
  for (const { token, kind, amountRaw, firstBlock, lastBlock, ...more } of found) {
    const listed = on.tokens.listedAt(on.impl.address(token) ?? token)
    const symbol = listed?.symbol ?? token
    const isKnown = kind === 'without-event' && rebasing.some((name) => name === listed?.symbol || isSameAddress(name, token))
    const before = unexplained.get(symbol) ?? { count: 0, warned: 0 }
    unexplained.set(symbol, { count: before.count + 1, warned: before.warned + (isKnown ? 0 : 1) })
    if (isKnown) continue
    const amount = formatRaw(amountRaw, listed?.decimals ?? 0)
    const what = { ...of, token: symbol, kind, amount, firstBlock, lastBlock, ...more }
    log.warn(what, 'a balance changed by what neither the journal nor the chain explains')
  }
  return unexplained
}
