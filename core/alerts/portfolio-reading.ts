// The portfolio as rules look at it: each network by itself, named, so that it starts also where nobody has asked for it yet.
import type { PortfolioResponse } from '../api/portfolio.ts'

/** A network on which the server has wallets. */
export interface WalletNetwork {
  readonly chain: string
  readonly network: string
  readonly wallets: readonly string[]
}

interface Scope {
  readonly chain: string
  readonly network: string
  /** Absent: all wallets. */
  readonly address?: string
}

interface PortfolioReadingOptions {
  networks(): readonly WalletNetwork[]
  /** `GET /portfolio`. */
  call(scope: Scope, signal: AbortSignal): Promise<PortfolioResponse>
  readonly nowMs?: () => number
  readonly steadyMs?: () => number
}

/** One request reads so many wallets. */
const walletsAtOnce = 200
/** Of one network with more. */
const callsAtOnce = 4
/** Then the next reading goes on with the others. With the time that one request may take it is less than a rule has. */
const readWithinMs = 14_000

/** @returns a reading of all. What fails is named in `unavailable`; it never rejects but by its signal */
export function createPortfolioReading({
  networks,
  call,
  nowMs = Date.now,
  steadyMs = () => performance.now(),
}: PortfolioReadingOptions): (signal: AbortSignal) => Promise<PortfolioResponse> {
  /** Of networks with many wallets: how many were read last, so that the next reading begins after them. */
  const readBefore = new Map<string, number>()

  async function one(scope: Scope, signal: AbortSignal): Promise<Omit<PortfolioResponse, 'timestamp'>> {
    try {
      return await call(scope, signal)
    } catch (error) {
      signal.throwIfAborted()
      return { networks: [], unavailable: [{ ...scope, reason: error instanceof Error ? error.message : 'It cannot be read.' }] }
    }
  }

  async function byWallet({ chain, network, wallets }: WalletNetwork, signal: AbortSignal) {
    const place = `${chain}/${network}`
    const from = (readBefore.get(place) ?? 0) % wallets.length
    const turns = [...wallets.slice(from), ...wallets.slice(0, from)]
    const answers: Omit<PortfolioResponse, 'timestamp'>[] = []
    const endsAt = steadyMs() + readWithinMs
    const left = turns.values()
    const next = async (): Promise<void> => {
      for (const address of left) {
        const isLate = steadyMs() >= endsAt
        const reason = 'There was no time for it: it is read next.'
        answers.push(
          isLate ? { networks: [], unavailable: [{ chain, network, address, reason }] } : await one({ chain, network, address }, signal),
        )
        if (!isLate) readBefore.set(place, ((readBefore.get(place) ?? 0) + 1) % wallets.length)
      }
    }
    await Promise.all(Array.from({ length: callsAtOnce }, next))
    return answers
  }

  return async (signal) => {
    const answers = await Promise.all(
      networks().map(async (on) => {
        const { chain, network, wallets } = on
        return wallets.length > walletsAtOnce ? byWallet(on, signal) : [await one({ chain, network }, signal)]
      }),
    )
    const all = answers.flat()
    return {
      timestamp: nowMs(),
      networks: all.flatMap((each) => each.networks),
      unavailable: all.flatMap(({ unavailable = [] }) => unavailable),
    }
  }
}
