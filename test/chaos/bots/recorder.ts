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

/** Far below what moves a price, far above what any other request has. */
const leastValueRaw = 10n ** 15n

export function createRecorder(): Recorder {
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
      const request = { ...of, id, ...(of.op === 'trade' && { valueRaw: leastValueRaw + BigInt(id) }) }
      recorder.requests.push(request)
      return request
    },
  }
  return recorder
}
