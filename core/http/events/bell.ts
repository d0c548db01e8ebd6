/** Wakes one who waits; rung while nobody waits, it is heard at once by who waits next. */
export interface Bell {
  ring(): void
  /** Whether it was rung within the time. */
  wait(ms: number): Promise<boolean>
}

export function createBell(): Bell {
  let rung = false
  let wake = () => {}
  return {
    ring() {
      rung = true
      wake()
    },
    async wait(ms) {
      if (!rung)
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, ms)
          wake = () => {
            clearTimeout(timer)
            resolve()
          }
        })
      const heard = rung
      rung = false
      wake = () => {}
      return heard
    },
  }
}
