import { expect } from 'chai'
import type { JournaledTransaction } from '../../core/api/index.ts'
import type { TransactionFilter } from '../../core/cli/server-client.ts'
import { describe as shown } from '../../core/cli/tx.ts'
import { undoneBy } from '../../core/cli/tx-undone.ts'

const hash = (digits: string) => `0x${digits.repeat(32)}`
const place = { chain: 'polygon', network: 'mainnet', address: `0x${'Ab'.repeat(20)}`, nonce: 12 }
const made = (more: object) =>
  ({
    ...place,
    kind: 'trade',
    txState: 'CONFIRMED',
    txBlock: 9,
    createdAt: 1,
    updatedAt: 1,
    requestId: 'r',
    attempts: [],
    ...more,
  }) as unknown as JournaledTransaction
const trade = made({ txHash: hash('a1') })
const fill = made({ txHash: hash('b2'), kind: 'fill', createdAt: 2 })

describe('sluice tx show of what a chain went back behind', () => {
  const asked: TransactionFilter[] = []
  /** A server whose journal has these on the nonce. */
  const having = (...transactions: JournaledTransaction[]) => ({
    async list(filter: TransactionFilter) {
      asked.push(filter)
      return { transactions, isMore: false }
    },
  })

  it('says that a trade is not on the chain where a later transaction was mined on its nonce', async () => {
    expect(await undoneBy(trade, having(fill, trade))).to.equal(hash('b2'))
    expect(asked.at(-1)).to.deep.equal({ ...place, nonce: '12' })
    expect(shown(trade, 3, hash('b2')))
      .to.match(new RegExp(`^  next +Nothing: it was final, and is not on the chain any more.+${hash('b2')} has its nonce now\\.$`, 'm'))
      .and.not.to.include('had its effect')
  })

  it('says so of neither what is on the chain nor what never was', async () => {
    expect(await undoneBy(fill, having(fill, trade)), 'the later one').to.equal(undefined)
    expect(await undoneBy(trade, having(trade)), 'the only one').to.equal(undefined)
    const cancel = made({ txHash: hash('c3'), createdAt: 2, txState: 'OVERTAKEN', txBlock: -1 })
    expect(await undoneBy(trade, having(cancel, trade)), 'one that was not mined').to.equal(undefined)
    expect(await undoneBy(cancel, having(fill, cancel)), 'what had no effect anyway').to.equal(undefined)
    const action = made({ txHash: hash('d4'), txBlock: -1, txState: 'REVERTED' })
    expect(await undoneBy(action, having(made({ txHash: hash('e5'), txBlock: -1, createdAt: 2 }), action)), 'of an exchange').to.equal(
      undefined,
    )
  })
})
