import { expect } from 'chai'
import { takeIntoList } from '../../dashboard/transaction-events.ts'
import type { Transaction } from '../../dashboard/transaction-words.ts'

const transaction = (id: string, more: Partial<Transaction> = {}): Transaction => ({
  id,
  chain: 'ethereum',
  network: 'local',
  address: '0x1',
  client: 'bot',
  kind: 'trade',
  connector: 'uniswap',
  txHash: `0x${id}`,
  nonce: 1,
  txState: 'BROADCAST',
  final: false,
  txStatus: 0,
  txBlock: -1,
  attempts: [{ txHash: `0xA${id}`, signedAt: 1, sends: 1 }],
  requestId: `request-${id}`,
  createdAt: 1,
  updatedAt: 1,
  ...more,
})
const listed = { transactions: [transaction('5'), transaction('3')] }
const idsOf = (list: { readonly transactions: readonly Transaction[] } | undefined) => list?.transactions.map(({ id }) => id)

describe('an event of a transaction, in a list of the dashboard', () => {
  it('puts a new transaction where its age belongs', () => {
    expect(idsOf(takeIntoList({})(listed, transaction('6')))).to.deep.equal(['6', '5', '3'])
    expect(idsOf(takeIntoList({})(listed, transaction('4')))).to.deep.equal(['5', '4', '3'])
  })

  it('shows the new state of one that is listed', () => {
    const taken = takeIntoList({})(listed, transaction('3', { txState: 'CONFIRMED' }))
    expect(taken?.transactions[1]?.txState).to.equal('CONFIRMED')
  })

  it('takes one away that is in another state than was looked for', () => {
    const taken = takeIntoList({ state: 'BROADCAST' })(listed, transaction('5', { txState: 'MINED' }))
    expect(idsOf(taken)).to.deep.equal(['3'])
  })

  for (const [name, filter] of Object.entries({
    client: { client: 'other' },
    connector: { connector: 'curve' },
    kind: { kind: 'approve' },
    state: { state: 'MINED' },
    request: { requestId: 'request-1' },
    hash: { txHash: '0xabc' },
  } as const))
    it(`leaves the list as it is where it is of another ${name}`, () =>
      expect(takeIntoList(filter)(listed, transaction('6'))).to.equal(listed))

  it('finds one by the hash of an attempt, in any letter case', () =>
    expect(idsOf(takeIntoList({ txHash: '0xa6' })(listed, transaction('6')))).to.deep.equal(['6', '5', '3']))

  for (const filter of [{ pair: 'WETH-USDC' }, { since: '2026-01-01' }, { until: '2099-01-01' }])
    it(`leaves it to the server whether a new one is of ${JSON.stringify(filter)}`, () => {
      expect(takeIntoList(filter)(listed, transaction('6'))).to.equal(undefined)
      expect(idsOf(takeIntoList(filter)(listed, transaction('5')))).to.deep.equal(['5', '3'])
    })

  it('does not list one that is of an older page', () => {
    const page = { ...listed, nextCursor: '3' }
    expect(takeIntoList({})(page, transaction('2'))).to.equal(page)
    expect(idsOf(takeIntoList({})(listed, transaction('2')))).to.deep.equal(['5', '3', '2'])
  })

  it('bounds the list, which goes on after its last one', () => {
    let list = { transactions: [transaction('0000')] } as NonNullable<ReturnType<ReturnType<typeof takeIntoList>>>
    for (let count = 1; count <= 600; count += 1) list = takeIntoList({})(list, transaction(String(count).padStart(4, '0'))) ?? list
    expect(list.transactions).to.have.length(500)
    expect(list.nextCursor).to.equal(list.transactions.at(-1)?.id).and.to.equal('0101')
  })
})
