import { expect } from 'chai'
import { Transaction, hexlify, keccak256, toQuantity } from 'ethers'
import type { Entry } from '../../../core/transactions/entry.ts'
import type { Transactions } from '../../../core/transactions/transactions.ts'
import {
  addressOf,
  gate,
  gwei,
  order,
  planOf,
  reaches,
  rejection,
  sign,
  soon,
  startSite,
  stateOf,
  transactionsOn,
  until,
  type TestSite,
} from '../site.ts'

const cheap = { maxFeePerGasRaw: 10n * gwei, maxPriorityFeePerGasRaw: gwei }
const dear = { maxFeePerGasRaw: 20n * gwei, maxPriorityFeePerGasRaw: 2n * gwei }
/** Its answer is never used: it costs more than a transfer. */
const call = { to: '0x00000000000000000000000000000000000000c0', data: `0x${'ab'.repeat(2000)}`, value: '0' }

describe('a transaction that is stuck, slow or late', function () {
  let site: TestSite
  let transactions: Transactions
  const find = async (txHash: string): Promise<Entry> => {
    const entry = await transactions.find('ethereum', 'local', txHash)
    if (!entry) throw new Error(`${txHash} is not in the journal.`)
    return entry
  }
  const feesOf = ({ attempts }: Entry) => attempts.map(({ fees }) => Number(Reflect.get(Object(fees), 'maxFeePerGas')))

  before(async () => {
    site = await startSite({ flags: ['--no-mining'], bumpAfterSeconds: 0.2, feeCap: 100 })
  })
  after(() => site.stop())
  beforeEach(async () => {
    transactions = await transactionsOn()
  })
  afterEach(async () => {
    await transactions.stop(1000)
    await site.rpc('anvil_dropAllTransactions')
    await site.mine(40)
  })
  /** Until the base fee is above what was paid for. */
  async function feesRise(): Promise<void> {
    await site.rpc('anvil_setNextBlockBaseFeePerGas', toQuantity(20n * gwei))
    await site.mine()
  }

  describe('speeding it up', () => {
    it('signs it again on its nonce at higher fees; it is mined once, as one entry of the journal', async () => {
      const slow = await transactions.submit(order(site), soon())
      const fast = await transactions.speedUp(order(site), soon())
      expect(fast.nonce).to.equal(slow.nonce)
      expect(fast.txHash).not.to.equal(slow.txHash)
      const entry = await find(slow.txHash)
      expect(entry.attempts.map(({ id }) => id)).to.deep.equal([slow.txHash, fast.txHash])
      const [before = 0, after = 0] = feesOf(entry)
      expect(after / before).to.be.at.least(1.1)
      await site.mine()
      await reaches(transactions, fast.txHash, 'CONFIRMED')
      expect((await find(slow.txHash)).landed?.id).to.equal(fast.txHash)
      expect((await transactions.list({})).entries).to.have.length(1)
    })

    it('shows the signer the version of the plugin that planned it, and the transaction that it replaces', async () => {
      const asked: Parameters<typeof sign>[0][] = []
      const told = await transactionsOn({ sign: (request) => (asked.push(request), sign(request)) })
      try {
        const venue = { connector: 'book', plugin: 'ab'.repeat(8) }
        const slow = await told.submit(order(site, { venue }), soon())
        await told.speedUp(order(site), soon())
        expect(asked.map(({ plugin }) => plugin)).to.deep.equal([venue.plugin, venue.plugin])
        expect(asked.map(({ replaces }) => replaces && keccak256(replaces))).to.deep.equal([undefined, slow.txHash])
      } finally {
        await told.stop(1000)
      }
    })

    it("takes the caller's fees, and nobody else raises them afterwards", async () => {
      const { txHash, nonce } = await transactions.submit(order(site, { feeOverrides: cheap }), soon())
      const fast = await transactions.speedUp(order(site, { nonce, feeOverrides: dear }), soon())
      const entry = await find(txHash)
      expect(feesOf(entry)).to.deep.equal([10e9, 20e9])
      expect(entry.feesGiven).to.equal(true)
      await site.mine()
      await reaches(transactions, fast.txHash, 'CONFIRMED')
    })

    it('refuses fees that do not outbid, and names the minimum', async () => {
      const { nonce } = await transactions.submit(order(site, { feeOverrides: cheap }), soon())
      const error = await rejection(transactions.speedUp(order(site, { nonce, feeOverrides: cheap }), soon()))
      expect(error).to.include({ name: 'INVALID_NONCE' })
      expect(error.message).to.contain('maxFeePerGas 11 and maxPriorityFeePerGas 1.1')
      const above = await rejection(transactions.speedUp(order(site, { nonce, feeOverrides: { maxFeePerGasRaw: 101n * gwei } }), soon()))
      expect(above).to.include({ name: 'INCOMPLETE_PARAMS' })
    })

    it('refuses fees that the wallet cannot pay, and leaves it as it was', async () => {
      const { txHash, nonce } = await transactions.submit(order(site, { feeOverrides: cheap }), soon())
      await site.rpc('anvil_setBalance', addressOf(0), toQuantity(15n * 21_000n * gwei))
      try {
        expect(await rejection(transactions.speedUp(order(site, { nonce, feeOverrides: dear }), soon()))).to.include({ name: 'OUT_OF_GAS' })
        expect((await find(txHash)).attempts).to.have.length(1)
        const enough = await transactions.speedUp(order(site, { nonce, feeOverrides: { ...dear, maxFeePerGasRaw: 14n * gwei } }), soon())
        await site.mine()
        await reaches(transactions, enough.txHash, 'CONFIRMED')
      } finally {
        await site.rpc('anvil_setBalance', addressOf(0), toQuantity(10_000n * 10n ** 18n))
      }
    })

    it('says why there is nothing to speed up: nothing pending, mined already, being signed', async () => {
      expect(await rejection(transactions.speedUp(order(site), soon()))).to.include({ name: 'UNKNOWN_TRANSACTION' })
      const { txHash, nonce } = await transactions.submit(order(site), soon())
      expect(await rejection(transactions.speedUp(order(site, { nonce: nonce + 1 }), soon()))).to.include({ name: 'UNKNOWN_TRANSACTION' })
      await site.mine()
      await reaches(transactions, txHash, 'CONFIRMED')
      const mined = await rejection(transactions.speedUp(order(site, { nonce }), soon()))
      expect(mined).to.include({ name: 'INVALID_NONCE' })
      expect(mined.message).to.contain(txHash)
    })

    it('records its answer under the Idempotency-Key', async () => {
      const { nonce } = await transactions.submit(order(site), soon())
      const kept: object[] = []
      const keyed = {
        claim: { client: 'client', path: '/evm/speedUp', key: 'k', claim: 1 },
        tag: '',
        answerOf: (answer: object) => (kept.push(answer), { status: 200, body: JSON.stringify(answer) }),
        onRecorded: () => kept.push({ is: 'kept' }),
      }
      // No such key was claimed: nothing may be kept under it.
      expect(await rejection(transactions.speedUp(order(site, { nonce, keyed }), soon()))).to.include({ name: 'OVERLOADED' })
      expect(kept).to.have.length(1)
      const fast = await transactions.speedUp(order(site, { nonce }), soon())
      expect(Object.keys(kept[0] ?? {})).to.deep.equal(Object.keys(fast))
    })
  })

  for (const what of ['cancel', 'speedUp'] as const) {
    it(`does not answer ${what} that nothing is there while it is being signed`, async () => {
      const { pass, open } = gate()
      const signing = gate()
      await transactions.stop(0)
      transactions = await transactionsOn({
        async sign(request) {
          signing.open()
          await pass
          return sign(request)
        },
      })
      const first = transactions.submit(order(site, { requestId: 'the-first' }), soon())
      await signing.pass
      const error = await rejection(transactions[what](order(site), soon()))
      expect(error).to.include({ name: 'INVALID_NONCE' })
      expect(error.message).to.contain('the-first')
      open()
      await first
    })
  }

  it('raises the fees when the base fee has risen above them, and it is mined', async () => {
    const { txHash } = await transactions.submit(order(site), soon())
    // They stay high until it has outbid itself, however long that takes; then every block brings them down.
    await until('it is raised', async () => {
      await feesRise()
      return (await find(txHash)).attempts.length > 1
    })
    await until('it is mined', async () => {
      await site.mine()
      return (await stateOf(transactions, txHash)) === 'CONFIRMED'
    })
    const { attempts, landed } = await find(txHash)
    expect(attempts.length).to.be.above(1)
    expect(landed?.id).to.equal(attempts.at(-1)?.id)
  })

  it('raises the fees when nodes want a higher tip', async () => {
    let first: string | undefined
    site.relay.meddle = (methods, body) => {
      if (methods[0] !== 'eth_sendRawTransaction') return 'pass'
      first ??= /"params":\["(\w+)"/.exec(body)?.[1]
      return first !== undefined && body.includes(first) ? { error: 'transaction underpriced: tip needed 2, tip permitted 1' } : 'pass'
    }
    const { txHash } = await transactions.submit(order(site), soon())
    await until('it is mined', async () => {
      const { attempts } = await find(txHash)
      // Blocks that come while the second is on its way to the node would have its fees raised, too.
      if (attempts.length < 2 || (attempts.at(-1)?.sends ?? 0) > 0) await site.mine()
      return (await stateOf(transactions, txHash)) === 'CONFIRMED'
    })
    await site.heal()
    expect((await find(txHash)).attempts).to.have.length(2)
  })

  it('raises the fees when block after block leaves it out, even if it pays enough', async () => {
    const { txHash } = await transactions.submit(order(site, { plan: planOf(call) }), soon())
    await site.rpc('evm_setBlockGasLimit', toQuantity(50_000))
    try {
      await until('it is raised', async () => {
        await site.mine()
        return (await find(txHash)).attempts.length > 1
      })
    } finally {
      await site.rpc('evm_setBlockGasLimit', toQuantity(30_000_000))
    }
    await until('it is mined', async () => {
      await site.mine()
      return (await stateOf(transactions, txHash)) === 'CONFIRMED'
    })
  })

  it('keeps the fees if the caller set them', async () => {
    const { txHash } = await transactions.submit(order(site, { feeOverrides: cheap }), soon())
    await feesRise()
    for (let blocks = 0; blocks < 3; blocks += 1) {
      await new Promise((done) => setTimeout(done, 300))
      await site.mine()
    }
    await until('it is seen to pay too little', async () => (await find(txHash)).seen !== 'pays')
    expect((await find(txHash)).attempts).to.have.length(1)
  })

  it('stays below the fee cap, and it is mined when the base fee has fallen', async () => {
    const { txHash } = await transactions.submit(order(site), soon())
    await until('it has reached the cap', async () => {
      await site.rpc('anvil_setNextBlockBaseFeePerGas', toQuantity(200n * gwei))
      await site.mine()
      return feesOf(await find(txHash)).at(-1) === 100e9
    })
    await until('it is mined', async () => {
      await site.mine(2)
      return (await stateOf(transactions, txHash)) === 'CONFIRMED'
    })
    expect(Math.max(...feesOf(await find(txHash)))).to.equal(100e9)
  })

  it('cancels it after its deadline at fees of the network, whoever gave its own, with the reason', async () => {
    const block = await site.chain.head({ signal: soon() })
    const plan = { ...planOf(call), deadline: block.timestamp + 2 }
    const late = await transactions.submit(order(site, { plan, feeOverrides: cheap }), soon())
    await site.rpc('evm_setNextBlockTimestamp', block.timestamp + 60)
    // A block that has no room for it.
    await site.rpc('anvil_dropAllTransactions')
    await site.rpc('anvil_setNextBlockBaseFeePerGas', toQuantity(11n * gwei))
    await site.mine()
    await until('something is to take its place', async () => {
      await site.rpc('anvil_setNextBlockBaseFeePerGas', toQuantity(11n * gwei))
      await site.mine()
      return (await find(late.txHash)).replacedBy !== undefined
    })
    const { replacedBy = '' } = await find(late.txHash)
    expect(await find(replacedBy)).to.include({ kind: 'cancel', nonce: late.nonce, feesGiven: false })
    await until('its cancel is sent', async () => (await stateOf(transactions, replacedBy)) !== 'SIGNED')
    await until('it is cancelled', async () => {
      await site.mine()
      return (await stateOf(transactions, late.txHash)) === 'CANCELLED'
    })
    expect((await find(late.txHash)).reason).to.contain('deadline')
    await reaches(transactions, replacedBy, 'CONFIRMED')
  })

  it('cancels after five minutes of the chain what no contract ends, and raises the fees of what only takes back', async () => {
    const submit = (more: object) => transactions.submit(order(site, { feeOverrides: cheap, ...more }), soon())
    const all = [
      await submit({ kind: 'order' }),
      await submit({ kind: 'order-cancel' }),
      await submit({ kind: 'trade', reduces: true }),
      await submit({}),
    ]
    const block = await site.chain.head({ signal: soon() })
    const passes = async (seconds: number) => {
      await site.rpc('evm_setNextBlockTimestamp', block.timestamp + seconds)
      await feesRise()
    }
    await passes(290)
    await until('they are seen to pay too little', async () => (await find(all[3]?.txHash ?? '')).seen !== 'pays')
    for (const { txHash } of all) expect((await find(txHash)).replacedBy).to.equal(undefined)
    await passes(302)
    await until('all end', async () => {
      await site.mine()
      const states = await Promise.all(all.map(async ({ txHash }) => (await find(txHash)).state))
      return states.join() === 'CANCELLED,CONFIRMED,CONFIRMED,CANCELLED'
    })
    for (const { txHash } of [all[0], all[3]].flatMap((each) => each ?? []))
      expect(await find(txHash)).to.include({ reason: 'It was not mined in the time that it was valid for.' })
  })

  it('cancels the lowest nonce first, whichever of them is the newest', async () => {
    const signed: number[] = []
    const nonceIn = (bytes: Uint8Array) => Transaction.from(hexlify(bytes)).nonce
    const told = await transactionsOn({ sign: (request) => (signed.push(nonceIn(request.signable.bytes)), sign(request)) })
    try {
      const submit = (more: object) => told.submit(order(site, { kind: 'order', feeOverrides: cheap, ...more }), soon())
      const replaced = await submit({})
      const others = [await submit({}), await submit({}), await submit({})]
      const raised = { maxFeePerGasRaw: 15n * gwei, maxPriorityFeePerGasRaw: 2n * gwei }
      const newest = await submit({ feeOverrides: raised, nonce: replaced.nonce })
      const all = [newest, ...others]
      await feesRise()
      await until('all are seen to pay too little', async () => {
        const found = await Promise.all(all.map(({ txHash }) => told.find('ethereum', 'local', txHash)))
        return found.every((each) => each?.seen !== undefined && each.seen !== 'pays')
      })
      signed.length = 0
      const { timestamp } = await site.chain.head({ signal: soon() })
      await site.rpc('evm_setNextBlockTimestamp', timestamp + 302)
      await feesRise()
      await until('all are cancelled', async () => {
        await site.mine()
        const states = await Promise.all(all.map(({ txHash }) => stateOf(told, txHash)))
        return states.every((each) => each === 'CANCELLED')
      })
      expect(signed).to.deep.equal(all.map(({ nonce }) => nonce))
    } finally {
      await told.stop(1000)
    }
  })
})
