import { setTimeout as sleep } from 'node:timers/promises'

/** Waits for a condition. @throws Error where it does not come about in half a minute */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const giveUpAt = Date.now() + 30_000
  while (!(await condition())) {
    if (Date.now() > giveUpAt) throw new Error('what was waited for did not come about')
    await sleep(2)
  }
}
