/** The exchange takes two thousand a minute from one IP address; the rest is for pings, and for what is followed or let go meanwhile. */
const perMinute = 1_800

/** How many messages may still be sent by websocket: fills up steadily. */
export interface MessageAllowance {
  spend(count: number): void
  /** How long until so many more may be sent. */
  waitMs(count: number): number
}

export function createMessageAllowance(most = perMinute, nowMs: () => number = () => performance.now()): MessageAllowance {
  const perMs = most / 60_000
  let left = most
  let countedAt = nowMs()

  function fill(): void {
    const now = nowMs()
    left = Math.min(most, left + (now - countedAt) * perMs)
    countedAt = now
  }

  return {
    spend(count) {
      fill()
      left -= count
    },
    waitMs(count) {
      fill()
      return Math.max(0, Math.ceil((Math.min(count, most) - left) / perMs))
    },
  }
}
