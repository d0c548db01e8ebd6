// What a host may ask of the chain that its connector is on: heads, events of blocks, and what the family's reader reads. Nothing else leads out.
import { pause } from '../../base/async.ts'
import { list, text } from '../../contracts/answers/contract.ts'
import { headSchema } from '../../contracts/answers/common.ts'
import type { Chain, Head, Log, RemoteReading } from '../../contracts/index.ts'
import { SluiceError } from '../../base/errors.ts'
import { isObject } from '../../base/json.ts'
import { followHeads } from '../../live-state/blocks.ts'
import { parserOf } from '../code/parser.ts'
import { messageOf } from '../code/thrown.ts'

export interface Broker {
  /** @throws SluiceError */
  answer(method: string, args: readonly unknown[], signal: AbortSignal): Promise<unknown>
  /** What a reader on this chain knows at the start. */
  facts(): unknown
  /**
   * The block of an answer, as this server knows it.
   * @throws SluiceError NETWORK where the host was never told of such a block, or it is too old
   */
  accept(head: unknown): Head
  /** The same for a block by its number alone. @throws SluiceError NETWORK */
  acceptNumber(number: bigint): void
  /** The host has ended: it follows nothing any more. */
  reset(): void
  /** There will be no other host: nothing is asked any more. */
  close(): Promise<void>
}

interface BrokerOptions {
  chain: Pick<Chain, 'head' | 'heads' | 'changes' | 'reader'>
  /** `chain/network`, for errors. */
  network: string
  remote: RemoteReading<object>
  /** Tells the host of a new head, and of what its reader knows since. */
  onHead(head: Head, facts: unknown): void
  /** Answers for blocks further behind are refused. */
  staleBlocks: number
  /** Of its host; absent: its own. */
  pace?: ReturnType<typeof createPace>
  log: Log
}

/** Blocks may come faster than answers: as `live-state` has it. */
const alwaysFreshSeconds = 2
const maxKnownHeads = 1_024
/** One question for changes covers at most so many blocks; whoever missed more reads its states anew. */
const maxBlocks = 256n
/** And so many topics and contracts, each counted once for each block. */
const maxNames = 200_000

/** Within so long a host may ask its network so often, with so many calls to nodes, and for answers of so many characters. */
const budget = { ms: 10_000, questions: 2_000, calls: 2_000, characters: 64 * 2 ** 20 }
/** What a question costs besides where no node answered: it may have been long work, or a long answer. */
const failedCalls = 50

/** So often at most, over time: what is more waits, so that a host in a hurry is read for no faster than this. */
const [restMs, burstMs] = [5, 1_000]

/** Makes whoever asks wait, for one host whatever chains it asks. */
export function createPace(): (signal: AbortSignal) => Promise<void> {
  let nextAt = 0
  return async (signal) => {
    const now = performance.now()
    nextAt = Math.max(nextAt, now - burstMs) + restMs
    if (nextAt > now) await pause(nextAt - now, signal, { ref: false })
  }
}

const parseHead = parserOf(headSchema)
const parseFollow = parserOf(list(text(), 10_000))
const parseAddresses = parserOf(list(text(), 100_000))

export function createBroker({ chain, network, remote, onHead, staleBlocks, log, pace = createPace() }: BrokerOptions): Broker {
  /** Those that the host was told of, by all that names them. */
  const known = new Map<string, Head>()
  let newest: Head | undefined
  let following: AbortController | undefined
  let used = { since: performance.now(), questions: 0, calls: 0, characters: 0 }
  let requests = 0
  const own = remote.isolated?.(chain.reader, (calls) => {
    use({ calls })
    requests += 1
  })
  const reader = own?.reader ?? chain.reader

  function note({ questions = 0, calls = 0, characters = 0 }): void {
    if (performance.now() - used.since > budget.ms) used = { since: performance.now(), questions: 0, calls: 0, characters: 0 }
    used.questions += questions
    used.calls += calls
    used.characters += characters
  }

  /** @throws SluiceError RATE_LIMIT where the host asks its network for more than that within its time */
  function use(asked: { questions: number } | { calls: number }): void {
    note(asked)
    if (used.questions <= budget.questions && used.calls <= budget.calls && used.characters <= budget.characters) return
    const what = `${budget.questions} questions, ${budget.calls} calls to nodes, or answers of ${budget.characters / 2 ** 20} MiB, within ${budget.ms / 1000} s`
    throw new SluiceError('RATE_LIMIT', `The plugin asked ${network} for more than ${what}.`, { retryAfterSeconds: budget.ms / 1000 })
  }

  /** What the nodes answer, counted. */
  async function counted<T>(reading: Promise<T>): Promise<T> {
    const before = requests
    try {
      const answer = await reading
      note({ characters: charactersOf(answer) })
      return answer
    } catch (error) {
      if (error instanceof SluiceError && error.name === 'NETWORK' && requests > before) note({ calls: failedCalls })
      throw error
    }
  }

  function remember(head: Head): Head {
    const name = nameOf(head)
    if (known.size >= maxKnownHeads) for (const [oldest] of [...known].slice(0, maxKnownHeads / 2)) known.delete(oldest)
    known.delete(name)
    known.set(name, head)
    if (!newest || head.number >= newest.number) newest = head
    return head
  }

  function knownHead(given: unknown): Head {
    return known.get(nameOf(parseHead(given, []))) ?? refuseUnknown()
  }

  function refuseUnknown(): never {
    throw new SluiceError('NETWORK', `The plugin names a block of ${network} that this server does not know. Try again.`, {
      retryAfterSeconds: 1,
    })
  }

  function requireFresh(head: Head): Head {
    const isFresh = !newest || newest.number - head.number <= BigInt(staleBlocks) || newest.timestamp - head.timestamp <= alwaysFreshSeconds
    if (isFresh) return head
    throw new SluiceError('NETWORK', `What the plugin knows of ${network} is too old to be shown. Try again shortly.`, {
      retryAfterSeconds: 1,
    })
  }

  /** A host asks once for heads: where they fail they are followed again, as in the server. */
  function tellHeads(signal: AbortSignal): Promise<void> {
    let failure: string | undefined
    return followHeads(chain, signal, {
      onHead(head) {
        onHead(remember(head), remote.facts(chain.reader, head))
        failure = undefined
      },
      onFailure(error) {
        const reason = messageOf(error)
        if (reason !== failure) log.warn({ network, reason }, 'heads of a host cannot be followed; tried again')
        failure = reason
      },
    })
  }

  function reset(): void {
    following?.abort()
    following = undefined
  }

  return {
    facts: () => remote.facts(chain.reader, newest),
    reset,
    async answer(method, args, signal) {
      switch (method) {
        case 'head': {
          use({ questions: 1 })
          await pace(signal)
          const head = remember(await chain.head({ signal }))
          return { head, facts: remote.facts(chain.reader, head) }
        }
        case 'follow':
          if (following) return undefined
          following = new AbortController()
          void tellHeads(following.signal)
          return undefined
        case 'unfollow':
          return reset()
        case 'changes': {
          use({ questions: 1 })
          await pace(signal)
          const [after, to] = args.slice(0, 2).map(knownHead)
          const [follow, from] = [parseFollow(args[2], []), args[3] === undefined ? undefined : parseAddresses(args[3], [])]
          if (!chain.changes || !after || !to || to.number - after.number > maxBlocks) return 'forked'
          if (Number(to.number - after.number) * (follow.length + (from?.length ?? 0)) > maxNames) return 'forked'
          const interest = { follow, ...(from && { from: () => from }) }
          const changes = await counted((own?.changes ? own : chain).changes!(after, to, interest, { signal }))
          if (changes !== 'forked') for (const { head } of changes) remember(head)
          return changes
        }
        case 'read': {
          use({ questions: 1 })
          await pace(signal)
          const [asked] = args
          // A node that has no such block would look as if it failed.
          const question = isObject(asked) && asked['after'] !== undefined ? { ...asked, after: knownHead(asked['after']) } : asked
          const answer = await counted(remote.answer(reader, question, { signal }))
          if (isObject(answer) && isObject(answer['head'])) remember(parseHead(answer['head'], []))
          return { answer, facts: remote.facts(chain.reader, newest) }
        }
      }
      throw new SluiceError('UNSUPPORTED', 'The plugin asked its chain for something that is not there.')
    },
    async close() {
      reset()
      await own?.close?.()
    },
    accept: (given) => requireFresh(knownHead(given)),
    acceptNumber(number) {
      for (const head of known.values()) if (head.number === number) return void requireFresh(head)
      refuseUnknown()
    },
  }
}

/** About as many as it has on its way to the host. */
function charactersOf(value: unknown): number {
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null) return 1
  return Object.values(value).reduce<number>((sum, each) => sum + charactersOf(each), 0)
}

const nameOf = ({ number, timestamp, hash = '' }: Head): string => `${number} ${timestamp} ${hash}`
