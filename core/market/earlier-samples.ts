// What was read of markets before a restart. It counts again from the second new reading on, where nothing can have happened in between that a running
// server would not accept: one new reading alone may be pushed, and would be all that is known of the time since.
import type { At, Head, Log, Token } from '../contracts/index.ts'
import { reasonOf } from '../base/errors.ts'
import { networkPath } from '../base/networks.ts'
import type { NetworkEntry } from '../plugins/index.ts'
import { maxGapMs, type ValueSample } from './exchange-values.ts'
import { gapOf, termsHash, type KeptSamples, type KeptSeries, type SampleBlock, type SampleTerms } from './kept-samples.ts'

export interface EarlierSamples {
  /** Before the first reading. @returns the tokens of before the restart: read soon, they count soon. Undefined where there is nothing, or it was asked before. Never rejects */
  open(network: NetworkEntry, reference: Token): Promise<readonly string[] | undefined>
  /** Stores a new sample. @returns those of before the restart, once they count. Never rejects: a reading counts whether or not it is stored */
  note(network: NetworkEntry, reference: Token, sample: NewSample, at: At): Promise<readonly ValueSample[]>
  /** Whether those of before the restart may count in a moment. */
  isPending(network: NetworkEntry): boolean
}

type NewSample = Pick<ValueSample, 'atMs' | 'values'>

interface Options {
  readonly kept: KeptSamples
  /** Built-in connectors that values come from. */
  connectorsOn(network: NetworkEntry): SampleTerms['connectors']
  /** The newest block that is known. */
  newestHead(network: NetworkEntry, at: At): Head | Promise<Head>
  readonly minDepth: number
  readonly log: Pick<Log, 'info'>
  /** A clock that is never set. */
  readonly steadyMs: () => number
}

/** Those of one network, until they count or are known not to. */
interface PendingSamples {
  readonly kept: KeptSeries
  readonly terms: string
  readonly readAtMs: number
  /** The first reading since, and how long after the last one of these it was. */
  readonly first?: { readonly atMs: number; readonly gapMs: number }
}

const none: ReadonlySet<string> = new Set()

export function createEarlierSamples({ kept: store, connectorsOn, newestHead, minDepth, log, steadyMs }: Options): EarlierSamples {
  /** Undefined: they count, or never will. */
  const networks = new Map<string, PendingSamples | undefined>()

  const termsOf = (network: NetworkEntry, reference: Token): string =>
    termsHash({ reference, minDepth, tokens: network.tokens.listed, connectors: connectorsOn(network) })

  function beginAnew(network: NetworkEntry, reason: string): readonly ValueSample[] {
    log.info({ ...placeOf(network), reason }, 'market of before the start does not count')
    return []
  }

  async function count(
    network: NetworkEntry,
    { kept, ...pending }: PendingSamples,
    sample: NewSample & { terms: string; block: SampleBlock },
    at: At,
  ) {
    const { terms, atMs, block } = sample
    if (terms !== pending.terms) return beginAnew(network, 'tokens, reference token, depth or connectors are others now')
    const { first } = pending
    if (!first) {
      const gapMs = gapOf(kept, atMs - pending.readAtMs, block)
      if (gapMs === undefined) return beginAnew(network, `more than ${maxGapMs / 1000} s passed, or clocks disagree`)
      networks.set(networkPath(network), { kept, ...pending, first: { atMs, gapMs } })
      return []
    }
    if (atMs - first.atMs > maxGapMs) return beginAnew(network, 'the second reading came too late')
    if (!(await isCanonical(network, kept.block, at))) return beginAnew(network, `the chain has no such block ${kept.block.number} now`)
    const lastAtMs = first.atMs - first.gapMs
    await store.adopt(network, kept, lastAtMs)
    log.info(placeOf(network), 'market of before the start counts')
    return kept.samples.map(({ beforeLastMs, values }) => ({ atMs: lastAtMs - beforeLastMs, values, deep: none, books: none }))
  }

  return {
    async open(network, reference) {
      const place = networkPath(network)
      if (networks.has(place)) return undefined
      try {
        const terms = termsOf(network, reference)
        const kept = await store.read(network, terms)
        networks.set(place, undefined)
        if (!kept) return undefined
        networks.set(place, { kept, terms, readAtMs: steadyMs() })
        return [...(kept.samples.at(-1)?.values.keys() ?? [])]
      } catch (error) {
        log.info({ ...placeOf(network), reason: reasonOf(error) }, 'market of before the start not read')
        return undefined
      }
    },
    async note(network, reference, sample, at) {
      const place = networkPath(network)
      // Where it was not read before the first reading, that is part of a new beginning.
      const pending = networks.get(place)
      networks.set(place, undefined)
      try {
        // After the reading, so that all that was read is of this block or of one before it.
        const block = await blockOf(network, newestHead, at)
        if (!block) return []
        const noted = { ...sample, terms: termsOf(network, reference), block }
        await store.write(network, noted)
        return pending ? await count(network, pending, noted, at) : []
      } catch (error) {
        networks.set(place, pending)
        log.info({ ...placeOf(network), reason: reasonOf(error) }, 'market sample not stored')
        return []
      }
    },
    isPending: (network) => networks.get(networkPath(network)) !== undefined,
  }
}

const placeOf = ({ chain, network }: NetworkEntry) => ({ chain, network })

/** Undefined where blocks have no hash, or cannot be asked for by it: nothing proves then that it is the same chain after a restart. */
async function blockOf(network: NetworkEntry, newestHead: Options['newestHead'], at: At): Promise<SampleBlock | undefined> {
  if (!network.impl.isUndone) return undefined
  const { number, hash, timestamp } = await (network.impl.hashedHead?.(at) ?? newestHead(network, at))
  return hash === undefined ? undefined : { number, hash, timestamp }
}

/** A node without a block of that number does not call it undone either: of another hash it has to. */
async function isCanonical({ impl }: NetworkEntry, { number, hash }: SampleBlock, at: At): Promise<boolean> {
  const isUndone = async (asked: string) => impl.isUndone?.({ number, hash: asked }, at)
  return (await isUndone(hash)) === false && (await isUndone(`0x${'0'.repeat(64)}`)) === true
}
