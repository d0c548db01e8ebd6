// What comes in from a host: frames, put together from what its socket gives, and the bounds of all that. Reading is the time of everybody, so
// that a host gets little of it for what nobody asked it.

/** What a host may send. */
export interface Bounds {
  /** Within a second: bytes, and messages that are no answers. Of bytes that somebody asked for more are read later. */
  readonly perSecond: { readonly bytes: number; readonly messages: number }
  /** Of one frame, beside the answers in it that somebody waits for. */
  readonly maxUnaskedFrameBytes: number
  /** The same within ten seconds. */
  readonly maxUnaskedBytes: number
  /** From the first byte of a frame to its last one. */
  readonly maxFrameMs: number
  /** Lists, objects and fields of one frame: to make many small ones takes longer than their bytes tell. */
  readonly maxParts: { readonly ofServing: number; readonly perByte: number }
  /** Processor time of reading: what may be used at once, what comes back in a second, and what each answer brings that somebody waits for. */
  readonly processor: { readonly burstMs: number; readonly perSecondMs: number; readonly perAnswerMs: number }
}

export const lengthBytes = 4
/** What is kept for the next frame. */
const keptBytes = 64 * 1024

/**
 * Puts frames together.
 * @param maxBytes of a frame, now
 * @param onFrame returns whether others are wanted
 * @returns what takes the next bytes; it throws Error where a frame is too long or takes too long
 */
export function createFrames(maxBytes: () => number, maxMs: number, onFrame: (text: string, length: number) => boolean) {
  // One buffer that grows: a list of what came would be longer than the frame where it comes byte by byte.
  let held = Buffer.allocUnsafe(0)
  let filled = 0
  let heldSince = 0

  /** @returns how many bytes are of whole frames */
  function takeFrames(all: Buffer): number {
    let from = 0
    while (all.length - from >= lengthBytes) {
      const length = all.readUInt32BE(from)
      if (length > maxBytes()) throw new Error(`a frame of ${length} bytes is over the bound of ${maxBytes()}`)
      const end = from + lengthBytes + length
      if (all.length < end) break
      const goesOn = onFrame(all.toString('utf8', from + lengthBytes, end), length)
      if (!goesOn) return all.length
      from = end
    }
    return from
  }

  function hold(bytes: Buffer): void {
    if (held.length < filled + bytes.length) {
      const larger = Buffer.allocUnsafe(Math.max(filled + bytes.length, 2 * held.length))
      held.copy(larger, 0, 0, filled)
      held = larger
    }
    bytes.copy(held, filled)
    filled += bytes.length
  }

  return (chunk: Buffer): void => {
    const now = performance.now()
    if (filled === 0) {
      const taken = takeFrames(chunk)
      if (taken < chunk.length) hold(chunk.subarray(taken))
      heldSince = now
      return
    }
    hold(chunk)
    const taken = takeFrames(held.subarray(0, filled))
    if (taken === 0) {
      if (now - heldSince > maxMs) throw new Error(`a frame that was not complete within ${maxMs / 1000} s`)
      return
    }
    const rest = Buffer.from(held.subarray(taken, filled))
    filled = 0
    if (held.length > keptBytes) held = Buffer.allocUnsafe(0)
    if (rest.length > 0) hold(rest)
    heldSince = now
  }
}

/** Beside what can be measured here: the system's call, and Node's way to a listener. */
const readMs = 0.02
/** A question is answered later. It costs about so much where it is refused. */
const questionMs = 0.05
/** A process that has to wait for a processor while it reads has not used it: more than this takes nobody. */
const [maxMsOfRead, maxMsOfByte] = [0.1, 0.0001]
/** An answer of so many bytes may take so long. */
const askedMsOfByte = 0.000_05
/** A long answer comes in parts, each of which is read before the answer is complete: what that took comes back with it. */
const partsMsOfByte = 0.000_002

/** Counts what comes in. Each function throws an Error where it is too much. */
export function createMeter({ perSecond, maxUnaskedBytes, processor }: Bounds) {
  const second = { since: performance.now(), bytes: 0, messages: 0 }
  const all = { since: performance.now(), bytes: 0 }
  const unasked = { since: performance.now(), bytes: 0 }
  let leftMs = processor.burstMs
  let countedAt = performance.now()
  /** Since the last read began. */
  let [questions, answers, askedBytes, parsedBytes, answeredBytes] = [0, 0, 0, 0, 0]

  function within(window: { since: number; bytes: number; messages?: number }, ms: number): void {
    const now = performance.now()
    if (now - window.since > ms) Object.assign(window, { since: now, bytes: 0, messages: 0 })
  }

  function countMessage(): void {
    within(second, 1_000)
    second.messages += 1
    if (second.messages > perSecond.messages) throw new Error(`more than ${perSecond.messages} messages within a second`)
  }

  return {
    /** @param more of whatever kind @returns for how long nothing more is read */
    restMs(more: number): number {
      within(all, 1_000)
      all.bytes += more
      return all.bytes > perSecond.bytes ? all.since + 1_000 - performance.now() : 0
    },
    /** @param more that nobody asked for */
    bytes(more: number): void {
      within(second, 1_000)
      second.bytes += more
      if (second.bytes > perSecond.bytes) throw new Error(`more than ${perSecond.bytes} bytes within a second`)
    },
    message: countMessage,
    /** @param isExpected it is part of what the other end was asked for: like an answer, it brings the time that it takes to read it */
    question(isExpected: boolean): void {
      if (isExpected) return void (answers += 1)
      questions += 1
      countMessage()
    },
    /** @param maxBytes what it may have */
    answer(maxBytes: number): void {
      answers += 1
      askedBytes += maxBytes
    },
    /** @param asked what the answers in it may have */
    frame(length: number, asked: number): void {
      parsedBytes += length
      answeredBytes += Math.min(length, asked)
      within(unasked, 10_000)
      unasked.bytes += Math.max(0, length - asked)
      if (unasked.bytes > maxUnaskedBytes) throw new Error(`more than ${maxUnaskedBytes} bytes within ten seconds that nobody asked for`)
    },
    /** After each read. */
    read(tookMs: number): void {
      const now = performance.now()
      const usedMs = Math.min(tookMs, maxMsOfRead + parsedBytes * maxMsOfByte) + readMs + questions * questionMs
      const backMs = ((now - countedAt) / 1000) * processor.perSecondMs + answers * processor.perAnswerMs + answeredBytes * partsMsOfByte
      leftMs = Math.min(processor.burstMs, leftMs + backMs) - Math.max(0, usedMs - askedBytes * askedMsOfByte)
      countedAt = now
      questions = answers = askedBytes = parsedBytes = answeredBytes = 0
      if (leftMs < 0)
        throw new Error(
          `to read what it says, though nobody asked for it, takes more than ${processor.burstMs} ms of processor time and ${processor.perSecondMs} more a second`,
        )
    },
  }
}
