/** Whether an event may be logged, and how many were kept quiet since the last one that was. */
export interface BurstVerdict {
  log: boolean
  keptQuiet: number
}

/** Lets at most `most` events through in every `windowMs`: whoever can knock must not be able to fill the disk. */
export function burstLimit(most: number, windowMs: number): (nowMs: number) => BurstVerdict {
  let windowStart = -Infinity
  let seen = 0
  let quiet = 0
  return (nowMs) => {
    if (nowMs - windowStart >= windowMs) {
      windowStart = nowMs
      seen = 0
    }
    seen += 1
    if (seen > most) {
      quiet += 1
      return { log: false, keptQuiet: quiet }
    }
    const keptQuiet = quiet
    quiet = 0
    return { log: true, keptQuiet }
  }
}
