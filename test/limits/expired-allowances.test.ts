import { expect } from 'chai'
import type { ExpiringAllowance } from '../../core/contracts/index.ts'
import { followExpiries } from '../../core/limits/expired-allowances.ts'
import type { Store } from '../../core/store/store.ts'

const seconds = Math.floor(Date.now() / 1000)
const day = 24 * 3600
const rows = new Map(
  [
    ['allowance ethereum/one/0xa/0xt/0xs/0xp', seconds - 10],
    ['allowance ethereum/one/0xa/0xu/0xs/0xp', seconds + day / 2],
    // A clock of a chain is not so far ahead.
    ['allowance ethereum/one/0xa/0xv/0xs/0xp', seconds + 2 * day],
    ['allowance ethereum/two/0xa/0xt/0xs/0xp', seconds - 10],
  ].map(([name, expires]) => [name, { expires }]),
)

describe('looking for allowances that have expired', () => {
  it('asks each network once, at the same time as others, and for none that cannot have ended', async () => {
    const asked: string[] = []
    const freed: unknown[] = []
    const { look, stop } = followExpiries({
      // The rows, instead of a reading of them.
      store: {
        read: async () => rows,
        write: async (work: (tx: never) => Promise<unknown>) => work(undefined as never),
      } as unknown as Store,
      limits: { endAllowance: async (ended) => void freed.push(ended) },
      async leftOf({ network }, all: readonly ExpiringAllowance[], signal) {
        asked.push(`${network}: ${all.map(({ allowance }) => allowance.token).join(', ')}`)
        // The one does not answer before the other was asked.
        while (asked.length < 2 && !signal.aborted) await new Promise((resolve) => setTimeout(resolve, 5))
        if (network === 'two') throw new Error('no node answers')
        return [5n, undefined]
      },
      log: { info: () => {} },
    })
    await look()
    await stop()
    expect(asked).to.have.members(['one: 0xt, 0xu', 'two: 0xt'])
    expect(freed).to.deep.equal([{ name: 'allowance ethereum/one/0xa/0xt/0xs/0xp', expires: seconds - 10, leftRaw: 5n }])
  })
})
