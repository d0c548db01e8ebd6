import { SYSTEM_PROGRAM_ADDRESS } from '@solana-program/system'
import { expect } from 'chai'
import { array, assert, bigInt, integer, nat, oneof, property, record, uniqueArray } from 'fast-check'
import { getBase58Decoder, getCompiledTransactionMessageDecoder, getTransactionDecoder } from '@solana/kit'
import {
  nonceIn,
  claimSequences,
  durableNonceSequences,
  mergeSyncState,
  sequenceStatus,
  type BlockhashSequence,
  type SolanaSyncState,
} from '../../../kits/solana/sequence.ts'
import { heldIn, readMint, tokenProgram } from '../../../kits/solana/tokens.ts'
import { isPlausible, parseNodeJson, integerOf } from '../../../kits/solana/rpc.ts'
import {
  baseFeeLamports,
  budgetOf,
  computeUnitsFor,
  costOf,
  gasOf,
  maxFees,
  priceFees,
  priorityFeeLamports,
} from '../../../kits/solana/fees.ts'
import { draft, seal } from '../../../kits/solana/message.ts'
import { failureReason } from '../../../kits/solana/transactions.ts'

const base58 = (fill: number, length = 32) => getBase58Decoder().decode(new Uint8Array(length).fill(fill))
const policy = { percentile: 75, minPrice: 1_000 }
const synced: SolanaSyncState = { nowMs: 1_795_000_000_000, slot: 1000, blockhash: base58(9), lastValidBlockHeight: 1050, durable: [] }
const step = { payer: base58(1), instructions: [{ program: base58(2), accounts: [], data: '' }], value: '7', rent: '5' }
const numberAt = (nowMs: number): BlockhashSequence => ({ number: nowMs, blockhash: base58(9), lastValidBlockHeight: 1, since: 1 })

describe('fees on Solana', () => {
  const fees = integer({ min: 1_000, max: 1_398_976 }).chain((units) => array(bigInt(0n, 10n ** 9n)).map((recent) => ({ units, recent })))

  it('never exceed the cap, for any recent fees and any number', () => {
    assert(
      property(fees, bigInt(10_000n, 10n ** 9n), nat(), ({ units, recent }, feeCapRaw, number) => {
        const priced = priceFees(units, recent, { policy, feeCapRaw })
        expect(priorityFeeLamports(budgetOf(priced, number)) <= feeCapRaw).to.equal(true)
        expect(maxFees(priced) <= baseFeeLamports + feeCapRaw).to.equal(true)
      }),
    )
  })

  it('stay within the reserved fees, which are what the answer says', () => {
    assert(
      property(fees, nat(), ({ units, recent }, number) => {
        const priced = priceFees(units, recent, { policy, feeCapRaw: 2_000_000n })
        const paid = baseFeeLamports + priorityFeeLamports(budgetOf(priced, number))
        expect(paid <= maxFees(priced)).to.equal(true)
        expect(gasOf(priced).gasCostRaw).to.equal(maxFees(priced))
        expect(costOf(step, priced)).to.equal(12n + maxFees(priced))
      }),
    )
  })

  it('are what was paid, rounded up, where the cap is far', () => {
    assert(
      property(fees, ({ units, recent }) => {
        const sorted = recent.toSorted((a, b) => Number(a - b))
        const paid = sorted[Math.floor(sorted.length * 0.75)] ?? 0n
        const above = BigInt(priceFees(units, recent, { policy, feeCapRaw: 10n ** 13n }).price) - (paid > 1_000n ? paid : 1_000n)
        expect(above >= 0n && above < 4_096n).to.equal(true)
      }),
    )
  })

  it('follow recent fees, above the minimum of the policy', () => {
    const limits = { policy, feeCapRaw: 2_000_000n }
    expect(priceFees(200_000, [], limits).price).to.equal('4096')
    expect(priceFees(200_000, [0n, 0n, 0n, 0n], limits).price).to.equal('4096')
    expect(priceFees(200_000, [1n, 4_096n, 2n, 3_000n], limits).price).to.equal('4096')
    expect(priceFees(200_000, [1n, 90_000n, 2n, 80_000n], limits).price).to.equal(String(22 * 4_096))
  })
})

describe('the compute budget on Solana', () => {
  it('differs at every time within an hour, whatever was simulated and paid', () => {
    const first = 1_795_000_000_000
    const one = record({
      number: integer({ min: first, max: first + 3_600_000 }),
      used: integer({ min: 1, max: 1_400_000 }),
      paid: bigInt(0n, 20_000n),
    })
    // Often by a millisecond and a unit.
    const near = record({
      number: integer({ min: first, max: first + 2 }),
      used: integer({ min: 5_000, max: 5_003 }),
      paid: bigInt(0n, 3n),
    })
    const several = oneof(array(one, { minLength: 2 }), array(near, { minLength: 2 }))
    assert(
      property(several, (all) => {
        const numbers = new Map<string, number>()
        for (const { number, used, paid } of all) {
          const { units, price } = budgetOf(priceFees(computeUnitsFor(used), [paid], { policy, feeCapRaw: 10n ** 9n }), number)
          const budget = `${units} ${price}`
          expect(numbers.get(budget) ?? number, budget).to.equal(number)
          numbers.set(budget, number)
        }
      }),
    )
  })
})

describe('drafting messages on Solana', () => {
  const fees = { computeUnits: 30_000, price: '1000' }

  it('makes a different message for every number within an hour', () => {
    const first = 1_795_000_000_000
    const numbers = uniqueArray(integer({ min: first, max: first + 3_600_000 }), { minLength: 2, maxLength: 20 })
    assert(
      property(numbers, (each) => {
        const drafts = each.map((number) => Buffer.from(draft({ step, fees }, numberAt(number)).bytes).toString('hex'))
        expect(new Set(drafts).size).to.equal(each.length)
      }),
      { numRuns: 50 },
    )
  })

  it('makes a message of version 0 that the wallet alone signs, with limit and price first', () => {
    const { scheme, bytes } = draft({ step, fees }, numberAt(0))
    expect(scheme).to.equal('solana-message')
    const message = getCompiledTransactionMessageDecoder().decode(bytes)
    expect(message).to.deep.include({ version: 0, lifetimeToken: base58(9) })
    expect(message.header.numSignerAccounts).to.equal(1)
    expect(message.staticAccounts[0]).to.equal(step.payer)
  })

  it('advances the durable nonce first', () => {
    const { bytes } = draft({ step, fees }, { number: 0, nonceAccount: base58(3), nonce: base58(4), since: 1 })
    const message = getCompiledTransactionMessageDecoder().decode(bytes)
    if (message.version === 1) throw new Error('It is of another version.')
    expect(message.lifetimeToken).to.equal(base58(4))
    const [advance] = message.instructions
    expect([...(advance?.data ?? [])]).to.deep.equal([4, 0, 0, 0])
    expect(message.staticAccounts[advance?.accountIndices?.[0] ?? -1]).to.equal(base58(3))
  })

  it('identifies the transaction by its signature before it is sent', () => {
    const signable = draft({ step, fees }, numberAt(5))
    const signature = new Uint8Array(64).fill(7)
    const { id, raw } = seal(signable, signature)
    expect(id).to.equal(base58(7, 64))
    const decoded = getTransactionDecoder().decode(raw)
    expect(decoded.signatures[step.payer as keyof typeof decoded.signatures]).to.deep.equal(signature)
    expect([...decoded.messageBytes]).to.deep.equal([...signable.bytes])
    expect(() => seal(signable, new Uint8Array(65))).to.throw('64 bytes')
  })
})

describe('sequences on Solana', () => {
  it('get numbers that no held one has', () => {
    assert(
      property(array(integer({ min: 1_794_999_999_000, max: 1_795_000_001_000 })), integer({ min: 1, max: 8 }), (numbers, count) => {
        const claimed = claimSequences(synced, numbers.map(numberAt), count).map(({ number }) => number)
        expect(new Set([...claimed, ...numbers]).size).to.equal(count + new Set(numbers).size)
        expect(Math.min(...claimed)).to.be.at.least(synced.nowMs)
      }),
    )
  })

  it('name durable nonces by their index', () => {
    const durable = [
      { account: 'a', nonce: 'v', slot: 1001 },
      { account: 'b', nonce: null, slot: 1001 },
    ]
    expect(durableNonceSequences({ ...synced, durable }, 0, 1)).to.deep.equal([{ number: 0, nonceAccount: 'a', nonce: 'v', since: 1001 }])
    expect(() => durableNonceSequences({ ...synced, durable }, 1, 1)).to.throw('not initialized')
    expect(() => durableNonceSequences({ ...synced, durable }, 2, 1))
      .to.throw()
      .with.property('name', 'INCOMPLETE_PARAMS')
  })

  it('count as past for a transaction in a block, until a reorganisation', () => {
    const held = [numberAt(synced.nowMs)]
    const landed = mergeSyncState(synced, { ...synced, slot: 1001, landed: [synced.nowMs] }, held)
    expect(sequenceStatus(landed, numberAt(synced.nowMs))).to.equal('past')
    const checked = mergeSyncState(landed, { ...synced, slot: 1002 }, held)
    expect(sequenceStatus(checked, numberAt(synced.nowMs))).to.equal('past')
    const back = mergeSyncState(checked, { ...synced, slot: 1003, landed: [] }, held)
    expect(sequenceStatus(back, numberAt(synced.nowMs))).to.equal('free')
    expect(mergeSyncState(landed, { ...synced, slot: 1002 }, []).landed).to.deep.equal([])
  })

  it('take the value of a lagging node only the second time', () => {
    const news = { ...synced, slot: 990, durable: [{ account: 'a', nonce: 'old', slot: 990 }] }
    const known = { ...synced, durable: [{ account: 'a', nonce: 'new', slot: 1000 }] }
    const once = mergeSyncState(known, news)
    expect(once.durable).to.deep.equal(known.durable)
    expect(mergeSyncState(once, news).durable).to.deep.equal(news.durable)
    expect(mergeSyncState(once, { ...known, slot: 1001 })).to.not.have.property('doubted')
  })
})

describe('the failure reason on Solana', () => {
  const token = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'

  it('has the message of the program that failed', () => {
    const logs = [
      `Program ${base58(5)} invoke [1]`,
      `Program ${token} invoke [2]`,
      'Program log: Error: insufficient funds',
      `Program ${token} failed: custom program error: 0x1`,
      `Program ${base58(5)} failed: custom program error: 0x1`,
    ]
    expect(failureReason({ InstructionError: [0, { Custom: 1 }] }, logs)).to.equal('Token: custom program error: 0x1 (insufficient funds)')
  })

  it('has the error of the runtime where no program failed', () => {
    expect(failureReason('BlockhashNotFound', [])).to.equal('blockhash not found')
    expect(failureReason({ InstructionError: [2, { Custom: 1 }] }, [])).to.equal('instruction error 2 custom 1')
    expect(failureReason({ InsufficientFundsForRent: { account_index: 0 } }, [])).to.equal('insufficient funds for rent account index 0')
  })
})

describe('JSON of a node of Solana', () => {
  it('keeps integers of any size exact, and texts unchanged', () => {
    const text =
      '{"a":18446744073709551615,"b":"x 18446744073709551615 \\" 9007199254740993","c":1.2345678901234567890,"d":-3,"e":[9007199254740993,7]}'
    expect(parseNodeJson(text)).to.deep.equal({
      a: '18446744073709551615',
      b: 'x 18446744073709551615 " 9007199254740993',
      c: 1.2345678901234567,
      d: -3,
      e: ['9007199254740993', 7],
    })
    const long = '18446744073709551615'
    for (const [each, parsed] of [
      [`{"a": ${long}, "b":{"c":-${long}},"d":[{"e":${long}}]}`, { a: long, b: { c: `-${long}` }, d: [{ e: long }] }],
      [`{"a":${long} ,"b" : ${long}\n}`, { a: long, b: long }],
      [`[${long},1]`, [long, 1]],
      [long, long],
      [`{"a":"\\"b\\":${long},","c":${long}}`, { a: `"b":${long},`, c: long }],
      [`{"a":"b: ${long}, [${long},","c":"${long}"}`, { a: `b: ${long}, [${long},`, c: long }],
      [`{"a":"x\\\\","b":${long}}`, { a: 'x\\', b: long }],
      [`{"a":${long}.5,"b":${long}e2}`, { a: Number(`${long}.5`), b: Number(`${long}e2`) }],
      [`{"a b":${long},"":${long},"é":${long}}`, { 'a b': long, '': long, é: long }],
      [`{"${'a'.repeat(100)}":${long}}`, { ['a'.repeat(100)]: long }],
    ] as const)
      expect(parseNodeJson(each), each).to.deep.equal(parsed)
    for (const broken of [`{"a":${long}`, `{"a":${long},}`, `{"a"${long}}`]) expect(() => parseNodeJson(broken)).to.throw(SyntaxError)
    expect(integerOf('9007199254740993')).to.equal(9007199254740993n)
    for (const wrong of [-1, 1.5, 2 ** 60, '-1', '1.0', '', null]) expect(integerOf(wrong)).to.equal(undefined)
  })
})

describe('impossible answers of a node of Solana', () => {
  it('include account data of another kind', () => {
    const junk = (owner: string, size: number) => ({ lamportsRaw: 1n, owner, data: new Uint8Array(size).fill(255) })
    expect(readMint(junk(tokenProgram, 82))).to.equal(undefined)
    expect(heldIn(junk(tokenProgram, 165), { mint: base58(1), owner: base58(2) })).to.equal(undefined)
    expect(nonceIn(junk(SYSTEM_PROGRAM_ADDRESS, 80))).to.equal(undefined)
  })

  it('include an invalid blockhash', () => {
    const answer = (blockhash: unknown) => ({ context: { slot: 1 }, value: { blockhash, lastValidBlockHeight: 151 } })
    const isTaken = (blockhash: unknown) => isPlausible({ method: 'getLatestBlockhash', params: [] }, answer(blockhash))
    expect([base58(9), '', '0OIl', base58(9).slice(0, 20), `${base58(9)} `, null, 7].map(isTaken)).to.deep.equal([
      true,
      ...Array(6).fill(false),
    ])
  })
})
