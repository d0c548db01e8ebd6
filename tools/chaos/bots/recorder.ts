import type { Call, History, Request, Sample } from '../history.ts'

/** What bots asked and were told, as it happens. */
export interface Recorder {
  requests: Request[]
  calls: Call[]
  samples: Sample[]
  /** Hashes of what another program sent. */
  foreign: Set<string>
  healed: History['healed'][number][]
  /** Hashes that somebody was told of. */
  hashes: string[]
  /** Milliseconds since the run began. */
  clock(): number
  newRequest(of: Omit<Request, 'id' | 'valueRaw'>): Request
}

/** Far below what moves a price, or a hundredth of a dollar, and far above the number of a request: no two requests have the same. */
const leastValueRaw: Partial<Record<Request['op'], bigint>> = {
  trade: 10n ** 15n,
  order: 10n ** 16n,
  deposit: 10n ** 4n,
  withdraw: 10n ** 4n,
}

/** @param least the smallest amount of each kind of request that shows one */
export function createRecorder(least: Partial<Record<Request['op'], bigint>> = leastValueRaw): Recorder {
  const begun = performance.now()
  const recorder: Recorder = {
    requests: [],
    calls: [],
    samples: [],
    foreign: new Set(),
    healed: [],
    hashes: [],
    clock: () => Math.round(performance.now() - begun),
    newRequest(of) {
      const id = recorder.requests.length + 1
      const from = least[of.op]
      const request = { ...of, id, ...(from !== undefined && { valueRaw: from + BigInt(id) }) }
      recorder.requests.push(request)
      return request
    },
  }
  return recorder
}
