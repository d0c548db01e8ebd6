import { expect } from 'chai'
import type { Transactions } from '../../../core/transactions/transactions.ts'
import { createRpc, type Rpc } from '../../../kits/nodes/rpc.ts'
import { createAgreement, type Outcome } from '../../../kits/solana/agreement.ts'
import { createExpiryProofs, type Attempt } from '../../../kits/solana/expiry.ts'
import { solanaDialect } from '../../../kits/solana/rpc.ts'
import { holdsAll } from '../../../tools/solana-node/ledger/leaders.ts'
import type { SolanaNode } from '../../../tools/solana-node/start-solana.ts'
import { healthy, startFaultyProxy, telling, type FaultyProxy } from '../../http/trouble/faulty-proxy.ts'
import { soon, until } from '../../transactions/site.ts'
import { comesTo, entryOf, orderOf, startSolanaSite, transactionsAt, transfer, type SolanaSite } from './solana-site.ts'
import { silent } from './test-cluster.ts'

const nobody = 'http://127.0.0.1:1'

describe('a node of Solana that says nothing, or something else', () => {
  let site: SolanaSite
  let transactions: Transactions
  let other: SolanaNode
  let rpc: Rpc | undefined
  let warned: string[]
  beforeEach(async () => {
    site = await startSolanaSite()
    transactions = await transactionsAt(site)
    other = await site.cluster.addNode({})
    warned = []
  })
  afterEach(async () => {
    await rpc?.stop()
    await transactions?.stop(1000)
    await other?.stop()
    await site?.stop()
  })

  const options = (rpcUrls: readonly string[]) => {
    const log = { info() {}, warn: (_fields: object, text: string) => void warned.push(text) }
    rpc = createRpc({ rpcUrls, dialect: solanaDialect(undefined), meter: { rpc() {} }, log: silent, timeoutMs: 5_000 })
    return { rpc, network: 'solana/local', minSlotMs: 0, log }
  }
  const send = async () => {
    const { txHash } = await transactions.submit(orderOf(site, { plan: transfer(site, site.cluster.faucet.address, 5n) }), soon())
    return txHash
  }

  /** What becomes of one that no leader took, when it was signed so long ago. */
  async function proving() {
    site.cluster.lead(holdsAll)
    const id = await send()
    const entry = await entryOf(transactions, id)
    await transactions.stop(1000)
    const clock = { agoMs: 0 }
    const prove = createExpiryProofs(options([site.cluster.url, nobody]), () => clock.agoMs)
    const attempt: Attempt = {
      id,
      from: site.wallet.address,
      sequence: entry?.sequence as Attempt['sequence'],
      fees: entry?.attempts[0]?.fees as Attempt['fees'],
    }
    return async (agoMs: number) => {
      clock.agoMs = agoMs
      const { statuses } = await prove([attempt])
      return statuses.map(({ is }) => is).join(' ')
    }
  }

  it('is waited for two minutes since another one, which can have no hole there, has shown a transaction expired', async () => {
    const statusAt = await proving()
    site.cluster.blocks(190)
    for (const agoMs of [80_000, 80_001, 100_000, 199_000]) expect(await statusAt(agoMs)).to.equal('pending')
    // More blocks do not make it longer.
    site.cluster.blocks(200)
    await until('it is over', async () => (await statusAt(201_000)) === 'expired')
  })

  it('is waited for ten minutes where the others may have a hole there', async () => {
    const statusAt = await proving()
    site.cluster.blocks(400)
    for (const agoMs of [160_000, 300_000, 599_000]) expect(await statusAt(agoMs)).to.equal('pending')
    await until('it is over', async () => (await statusAt(601_000)) === 'expired')
  })

  /** One that is final, and whether all nodes of a list agree on it when it was signed so long ago. */
  async function agreeing(second: string) {
    const id = await send()
    await comesTo(site, transactions, id, 'CONFIRMED')
    const slot = (await entryOf(transactions, id))?.landed?.blockNumber ?? 0
    const areFinal = createAgreement(options([site.cluster.url, second]))
    return {
      slot,
      async isFinalAt(agoMs: number, more: Partial<Outcome> = {}) {
        const outcome: Outcome = { id, slot, err: null, agoMs, ...more }
        return (await areFinal([outcome])).has(outcome.id)
      },
    }
  }

  it('is waited for a minute where it has not come to the slot of a final transaction', async () => {
    const { isFinalAt } = await agreeing(other.url)
    other.options.lagBlocks = 60
    for (const agoMs of [20_000, 40_000, 60_000, 79_000]) expect(await isFinalAt(agoMs)).to.equal(false)
    await until('it is final', async () => isFinalAt(81_000))
    expect(warned).to.deep.equal([])
  })

  describe('behind one URL with others', () => {
    let front: FaultyProxy
    beforeEach(async () => {
      front = await startFaultyProxy()
      front.target = site.cluster.url
    })
    afterEach(() => front?.stop())

    const answersStatuses = (slot: number, status: unknown) =>
      telling(({ method, params }) =>
        method === 'getSignatureStatuses' && Array.isArray(params[0])
          ? { result: { context: { slot }, value: params[0].map(() => status) } }
          : undefined,
      )

    it('is not called wrong where it searched up to an older slot', async () => {
      const { slot, isFinalAt } = await agreeing(`http://127.0.0.1:${front.port}`)
      await front.become(answersStatuses(slot - 1, null))
      await until('it has searched', async () => {
        expect(await isFinalAt(20_000)).to.equal(false)
        return front.asked.filter((method) => method === 'getSignatureStatuses').length > 3
      })
      expect(warned).to.deep.equal([])
      await front.become(healthy)
      await until('it is final', async () => isFinalAt(24_000))
    })

    it('contradicts also by another slot that is past what it has finalized', async () => {
      const { slot, isFinalAt } = await agreeing(`http://127.0.0.1:${front.port}`)
      await until('it is warned of', async () => (await isFinalAt(20_000, { slot: slot + 1_000 })) || warned.length > 0)
      for (const agoMs of [79_000, 81_000, 700_000]) expect(await isFinalAt(agoMs, { slot: slot + 1_000 })).to.equal(false)
    })

    it('is warned of once for each transaction that it contradicts twice', async () => {
      const { slot, isFinalAt } = await agreeing(`http://127.0.0.1:${front.port}`)
      await front.become(answersStatuses(slot + 40, null))
      const isWarned = (times: number, more: Partial<Outcome>) =>
        until('it is warned of', async () => {
          expect(await isFinalAt(20_000, more)).to.equal(false)
          return warned.length === times
        })
      await isWarned(1, {})
      for (let poll = 0; poll < 4; poll += 1) expect(await isFinalAt(21_000)).to.equal(false)
      expect(warned).to.have.length(1)
      const asked = front.asked.filter((method) => method === 'getSignatureStatuses').length
      await isWarned(2, { id: '5'.repeat(87) })
      expect(front.asked.filter((method) => method === 'getSignatureStatuses').length - asked).to.be.at.least(2)
      expect(warned[0]).to.contain('nodes differ')
    })
  })
})
