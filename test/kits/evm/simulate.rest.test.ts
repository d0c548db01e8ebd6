import { readFile } from 'node:fs/promises'
import { AbiCoder, Interface, concat, id, toBeHex, zeroPadValue } from 'ethers'
import { expect } from 'chai'
import type { Allowance, SimulatedOutcome } from '../../../core/contracts/index.ts'
import { standingRightsIn } from '../../../core/contracts/chain.ts'
import { addressOf, nowhere, soon, startSite, type TestSite } from '../../transactions/site.ts'
import { mined } from './test-chain.ts'

const wallet = addressOf(0)
const spender = addressOf(1)
const native = '0x0000000000000000000000000000000000000000'
const contract = '0x00000000000000000000000000000000000000C9'
const token = new Interface([
  'function mint(address to, uint256 amount)',
  'function transfer(address to, uint256 amount)',
  'function transferFrom(address from, address to, uint256 amount)',
  'function approve(address spender, uint256 amount)',
])

type Step = Record<'to' | 'data' | 'value', string>

const word = (value: bigint | string) => zeroPadValue(typeof value === 'string' ? value : toBeHex(value), 32)

/** Code that emits one event: its data into memory, then LOG with its topics. */
function emitting(topics: readonly string[], data: readonly string[] = []): string {
  const stores = data.flatMap((each, index) => ['0x7f', each, '0x60', toBeHex(index * 32), '0x52'])
  const pushes = topics.toReversed().flatMap((each) => ['0x7f', each])
  return concat([...stores, ...pushes, '0x61', toBeHex(data.length * 32, 2), '0x5f', toBeHex(0xa0 + topics.length)])
}

/** Code that calls a contract. @param first code that comes before it */
function calling(to: string, data: string, first = '0x'): string {
  const length = toBeHex((data.length - 2) / 2, 2)
  const code = (dataAt: string) => concat([first, '0x61', length, '0x61', dataAt, '0x5f39', '0x5f5f61', length, '0x5f5f73', to, '0x5af100'])
  const at = toBeHex((code('0x0000').length - 2) / 2, 2)
  return concat([code(at), data])
}

/** Code that ends where the condition's code leaves something else than 0. */
function unless(condition: string): string {
  const next = toBeHex(condition.length / 2 + 6, 2)
  return `0x${condition}1561${next.slice(2)}57005b`
}

/** The same code, which returns 1 in place of nothing. */
function returningOne(code: string): string {
  const [at, one] = [code.lastIndexOf('5af100'), '600160005260206000f3']
  // What it calls stands behind the code, ten bytes later than before.
  const moved = code.slice(0, at + 4) + one + code.slice(at + 6)
  const dataAt = Number.parseInt(moved.slice(10, 14), 16) + one.length / 2 - 1
  return `${moved.slice(0, 10)}${dataAt.toString(16).padStart(4, '0')}${moved.slice(14)}`
}

/** A node's answer in which nothing emitted an event. */
function withoutEvents(answer: unknown): unknown {
  if (Array.isArray(answer)) return answer.map(withoutEvents)
  if (typeof answer !== 'object' || answer === null) return answer
  return Object.fromEntries(Object.entries(answer).map(([key, value]) => [key, key === 'logs' ? [] : withoutEvents(value)]))
}

/** A node's answer in which the last call of every block failed. */
function withLastFailed(answer: unknown): unknown {
  if (Array.isArray(answer)) return answer.map(withLastFailed)
  if (typeof answer !== 'object' || answer === null) return answer
  const change = (key: string, value: unknown) =>
    key === 'calls' && Array.isArray(value)
      ? [...value.slice(0, -1), { ...value.at(-1), status: '0x0', returnData: '0x', logs: [] }]
      : withLastFailed(value)
  return Object.fromEntries(Object.entries(answer).map(([key, value]) => [key, change(key, value)]))
}

describe('simulated steps', () => {
  let site: TestSite
  let usdx: string
  let fee: string
  let weth: string
  const call = (to: string, data: string, value = 0n): Step => ({ to, data, value: String(value) })
  const erc20 = (method: string, ...args: readonly unknown[]) => call(usdx, token.encodeFunctionData(method, args))

  async function simulate(
    steps: readonly Step[],
    allowances: readonly Allowance[] = [],
    tokens: readonly string[] = [usdx],
  ): Promise<SimulatedOutcome | 'unavailable' | undefined> {
    return site.chain.evm?.simulate?.(steps, wallet, { tokens, allowances }, { signal: soon() })
  }

  async function done(...args: Parameters<typeof simulate>) {
    const outcome = await simulate(...args)
    if (typeof outcome !== 'object' || outcome.is !== 'done') throw new Error(`It was not simulated: ${JSON.stringify(outcome)}`)
    return { gains: Object.fromEntries(outcome.gains), grants: outcome.grants }
  }

  const send = async (request: object) => {
    const sent = await site.rpc('eth_sendTransaction', { from: wallet, ...request })
    await mined(site, sent)
    return Object(await site.rpc('eth_getTransactionReceipt', sent))
  }

  /** A token of which the wallet has 1000. */
  async function deploy(name: string): Promise<string> {
    const file = new URL(`../../../plugins/ethereum/artifacts/${name}.json`, import.meta.url)
    const artifact: unknown = JSON.parse(await readFile(file, 'utf8'))
    const args = AbiCoder.defaultAbiCoder().encode(['string', 'string', 'uint8'], [name, 'TEST', 6])
    const receipt = await send({ data: concat([String(Reflect.get(Object(artifact), 'bytecode')), args]) })
    const address = site.chain.address(String(Reflect.get(receipt, 'contractAddress'))) ?? ''
    await send({ to: address, data: token.encodeFunctionData('mint', [wallet, 1_000n]) })
    return address
  }

  before(async () => {
    site = await startSite()
    usdx = await deploy('TestToken')
    fee = await deploy('FeeOnTransferToken')
    const wrapped: unknown = JSON.parse(await readFile(new URL('../../../plugins/ethereum/artifacts/WETH9.json', import.meta.url), 'utf8'))
    const receipt = await send({ data: String(Reflect.get(Object(wrapped), 'bytecode')) })
    weth = site.chain.address(String(Reflect.get(receipt, 'contractAddress'))) ?? ''
  })
  after(() => site.stop())
  afterEach(() => site.heal())

  const ways = [
    ['by eth_simulateV1', () => {}],
    [
      'by a call in the place of the wallet, where the node has no eth_simulateV1',
      () => {
        site.relay.meddle = (methods) =>
          methods.includes('eth_simulateV1') ? { error: 'the method eth_simulateV1 does not exist/is not available' } : 'pass'
      },
    ],
  ] as const
  for (const [way, prepare] of ways) {
    describe(way, () => {
      beforeEach(prepare)

      it('show what the wallet loses, coin and tokens, also to itself', async () => {
        expect(await done([call(nowhere, '0x', 7n), erc20('transfer', nowhere, 300n), erc20('transfer', wallet, 50n)])).to.deep.equal({
          gains: { [native]: -7n, [usdx]: -300n },
          grants: [],
        })
      })

      it('say of each of several steps what it does by itself, and of one nothing more', async () => {
        const outcome = await simulate([call(nowhere, '0x', 7n), erc20('transfer', nowhere, 300n), erc20('mint', wallet, 300n)])
        const { gains, steps } = Object(outcome)
        expect(Object.fromEntries(gains)).to.deep.equal({ [native]: -7n, [usdx]: 0n })
        expect(steps.map((step: { gains: Map<string, bigint> }) => Object.fromEntries(step.gains))).to.deep.equal([
          { [native]: -7n, [usdx]: 0n },
          { [native]: 0n, [usdx]: -300n },
          { [native]: 0n, [usdx]: 300n },
        ])
        const isShown = way.startsWith('by eth_simulateV1')
        expect(steps.map(({ sent }: { sent?: Map<string, bigint> }) => sent)).to.deep.equal(
          isShown ? [new Map(), new Map([[usdx, 300n]]), new Map()] : [undefined, undefined, undefined],
        )
        expect(await simulate([erc20('mint', wallet, 5n)])).to.not.have.property('steps')
      })

      it('show an allowance that grows in one step and is taken back in the next', async () => {
        const asked = [{ token: usdx, spender }]
        const { grants } = await done([erc20('approve', spender, 9n), erc20('approve', spender, 0n)], asked)
        expect(grants).to.deep.equal([{ token: usdx, spender, amountRaw: 9n }])
      })

      it('show what the wallet gains', async () => {
        expect((await done([erc20('mint', wallet, 5n)])).gains).to.deep.equal({ [native]: 0n, [usdx]: 5n })
      })

      it('show an allowance that grows, and none that stays or shrinks', async () => {
        const asked = [{ token: usdx, spender }]
        expect((await done([erc20('approve', spender, 9n)], asked)).grants).to.deep.equal([{ token: usdx, spender, amountRaw: 9n }])
        expect((await done([erc20('approve', spender, 0n)], asked)).grants).to.deep.equal([])
      })

      it('say why one fails', async () => {
        expect(await simulate([erc20('transfer', nowhere, 1_001n)])).to.include({ is: 'failed' })
        await site.rpc('anvil_setCode', contract, '0x5f5ffd')
        expect(await simulate([erc20('mint', wallet, 5n), call(contract, '0x')])).to.deep.equal({
          is: 'failed',
          reason: 'reverted without a reason',
        })
      })

      it('show an allowance that nobody asked about', async () => {
        expect((await done([erc20('approve', spender, 9n)])).grants).to.deep.equal([{ token: usdx, spender, amountRaw: 9n }])
        expect((await done([erc20('approve', spender, 0n)])).grants).to.deep.equal([])
      })

      it('show what leaves of a token that is called and that nobody asked about', async () => {
        const { gains } = await done([erc20('transfer', nowhere, 300n)], [], [])
        expect(gains).to.deep.equal({ [native]: 0n, [usdx]: -300n })
      })

      it('show what leaves of a wrapped coin without a transfer, or comes', async () => {
        await send({ to: weth, value: '0x64' })
        const withdraw = (amountRaw: bigint) =>
          call(weth, new Interface(['function withdraw(uint256)']).encodeFunctionData('withdraw', [amountRaw]))
        const { gains } = await done([call(weth, '0x', 7n), call(weth, '0x', 3n)], [], [])
        expect(gains).to.deep.equal({ [native]: -10n, [weth]: 10n })
        // A wallet that is run as a contract takes no coin.
        if (way.startsWith('by eth_simulateV1'))
          expect((await done([withdraw(40n)], [], [])).gains).to.deep.equal({ [native]: 40n, [weth]: -40n })
      })

      it('show what a token takes as its fee', async () => {
        const { gains } = await done([call(fee, token.encodeFunctionData('transfer', [wallet, 1_000n]))], [], [fee])
        expect(gains).to.deep.equal({ [native]: 0n, [fee]: -20n })
      })

      it('show what a called contract takes by an earlier allowance', async () => {
        await send({ to: usdx, data: token.encodeFunctionData('approve', [contract, 400n]) })
        await site.rpc('anvil_setCode', contract, calling(usdx, token.encodeFunctionData('transferFrom', [wallet, nowhere, 400n])))
        const { gains, grants } = await done([call(contract, '0x')], [{ token: usdx, spender: contract }])
        expect({ gains, grants }).to.deep.equal({ gains: { [native]: 0n, [usdx]: -400n }, grants: [] })
        await send({ to: usdx, data: token.encodeFunctionData('approve', [contract, 0n]) })
      })

      it('let no token that is read move anything', async () => {
        // It gives back what the step moved, whenever it is asked for a balance.
        const code = returningOne(calling(usdx, token.encodeFunctionData('transfer', [wallet, 400n])))
        await site.rpc('anvil_setCode', contract, code)
        const { gains } = await done([erc20('transfer', contract, 400n)], [], [contract, usdx])
        expect(gains).to.deep.equal({ [native]: 0n, [contract]: 0n, [usdx]: -400n })
      })

      // What tells a contract that it is not in a block: code that leaves 1 on the stack, given the newest block.
      const tells: readonly [string, (newest: { number: bigint; timestamp: bigint }) => string][] = [
        ['the gas price is 0', () => '3a15'],
        ['the base fee is 0', () => '4815'],
        ['nobody gets the fees', () => '4115'],
        ['the number is that of the newest block', ({ number }) => `63${toBeHex(number + 1n, 4).slice(2)}4310`],
        ['the time is that of the newest block', ({ timestamp }) => `64${toBeHex(timestamp + 1n, 5).slice(2)}4210`],
        ['the block may have more gas than any has', () => '650100000000004511'],
        ['the block before it has no hash', () => '600143034015'],
        ['there is no randomness', () => '4415'],
        ['somebody else began the transaction', () => '32331415'],
        ['its caller has nothing', () => '333115'],
      ]
      for (const [what, condition] of tells)
        it(`show what a called contract takes that takes nothing where ${what}`, async () => {
          await site.rpc('anvil_setCoinbase', addressOf(5))
          await site.mine()
          const block = Object(await site.rpc('eth_getBlockByNumber', 'latest', false))
          const newest = { number: BigInt(block.number), timestamp: BigInt(block.timestamp) }
          await send({ to: usdx, data: token.encodeFunctionData('approve', [contract, 400n]) })
          const taking = token.encodeFunctionData('transferFrom', [wallet, nowhere, 400n])
          await site.rpc('anvil_setCode', contract, calling(usdx, taking, unless(condition(newest))))
          const { gains } = await done([call(contract, '0x')], [{ token: usdx, spender: contract }])
          expect(gains).to.deep.equal({ [native]: 0n, [usdx]: -400n })
          await send({ to: usdx, data: token.encodeFunctionData('approve', [contract, 0n]) })
        })

      it('pay the price that is signed', async () => {
        const gasLimit = 200_000n
        const fees = [{ gasLimit: String(gasLimit), maxFeePerGas: '77000000000', maxPriorityFeePerGas: '77000000000' }]
        // It fails unless the price is 77 gwei.
        await site.rpc('anvil_setCode', contract, '0x3a6411ed8ec2001460105760006000fd5b00')
        const asked = { tokens: [usdx], allowances: [], fees }
        const outcome = await site.chain.evm?.simulate?.([call(contract, '0x')], wallet, asked, { signal: soon() })
        expect(outcome).to.include({ is: 'done' })
        expect(Object.fromEntries(Object(outcome).gains)).to.deep.equal({ [native]: 0n, [usdx]: 0n })
      })

      it('fail where a balance or an allowance cannot be read', async () => {
        await site.rpc('anvil_setCode', contract, '0x5f5ffd')
        const reason = `the balance or the allowance of ${contract} cannot be read`
        expect(await simulate([], [], [contract])).to.deep.equal({ is: 'failed', reason })
        expect(await simulate([], [{ token: contract, spender }])).to.deep.equal({ is: 'failed', reason })
      })

      it('change nothing', async () => {
        await done([erc20('mint', wallet, 5n)])
        expect((await done([])).gains).to.deep.equal({ [native]: 0n, [usdx]: 0n })
      })
    })
  }

  it('fail where the wallet cannot pay for the gas that is signed', async () => {
    const fees = [{ gasLimit: '30000000', maxFeePerGas: '1000000000000000', maxPriorityFeePerGas: '0' }]
    const asked = { tokens: [usdx], allowances: [], fees }
    const outcome = await site.chain.evm?.simulate?.([call(nowhere, '0x')], wallet, asked, { signal: soon() })
    expect(outcome).to.include({ is: 'failed' })
  })

  it('need no right that stands: those of a spender are read in one question, and what is no token gives none', async () => {
    const asked = { tokens: [usdx, contract, nowhere], permit2s: [nowhere], collections: [usdx, contract] }
    const standing = async () => {
      const told = await site.chain.evm?.standing?.(wallet, [spender, nowhere], asked, { signal: soon() })
      return told && standingRightsIn(told).grants
    }
    await site.rpc('anvil_setCode', contract, '0x5f5ffd')
    expect(await standing()).to.deep.equal([])
    await send({ to: usdx, data: token.encodeFunctionData('approve', [spender, 9n]) })
    // It answers everything with 1.
    await site.rpc('anvil_setCode', contract, '0x60015f5260205ff3')
    expect(await standing()).to.deep.include.members([
      { token: usdx, spender, amountRaw: 9n },
      { token: contract, spender },
    ])
    await send({ to: usdx, data: token.encodeFunctionData('approve', [spender, 0n]) })
  })

  const [mine, theirs] = [word(wallet), word(spender)]
  const events: readonly [string, string, readonly string[], readonly string[], object][] = [
    ['a token that nobody asked about', 'Transfer(address,address,uint256)', [mine, theirs], [word(4n)], { gains: { [contract]: -4n } }],
    ['a token of EIP-721', 'Transfer(address,address,uint256)', [mine, theirs, word(12n)], [], { gains: { [`${contract}/12`]: -1n } }],
    [
      'a token of EIP-1155',
      'TransferSingle(address,address,address,uint256,uint256)',
      [theirs, mine, theirs],
      [word(12n), word(3n)],
      { gains: { [`${contract}/12`]: -3n } },
    ],
    [
      'tokens of EIP-1155',
      'TransferBatch(address,address,address,uint256[],uint256[])',
      [theirs, theirs, mine],
      [word(64n), word(160n), word(2n), word(12n), word(13n), word(2n), word(3n), word(4n)],
      { gains: { [`${contract}/12`]: 3n, [`${contract}/13`]: 4n } },
    ],
    [
      'a right over all tokens',
      'ApprovalForAll(address,address,bool)',
      [mine, theirs],
      [word(1n)],
      { grants: [{ token: contract, spender }] },
    ],
    ['a right that ends', 'ApprovalForAll(address,address,bool)', [mine, theirs], [word(0n)], {}],
    [
      'a right over one token',
      'Approval(address,address,uint256)',
      [mine, theirs, word(12n)],
      [],
      { grants: [{ token: contract, spender }] },
    ],
    [
      'a right by Permit2',
      'Approval(address,address,address,uint160,uint48)',
      [mine, word(nowhere), theirs],
      [word(1n), word(9n)],
      { grants: [{ token: nowhere, spender }] },
    ],
    [
      'a right of an operator of EIP-6909',
      'OperatorSet(address,address,bool)',
      [mine, theirs],
      [word(1n)],
      { grants: [{ token: contract, spender }] },
    ],
    ['an operator of EIP-6909 that goes', 'OperatorSet(address,address,bool)', [mine, theirs], [word(0n)], {}],
    [
      'a right over one token of EIP-6909',
      'Approval(address,address,uint256,uint256)',
      [mine, theirs, word(12n)],
      [word(3n)],
      { grants: [{ token: contract, spender }] },
    ],
    ['an operator of EIP-777', 'AuthorizedOperator(address,address)', [theirs, mine], [], { grants: [{ token: contract, spender }] }],
    [
      'a right to borrow',
      'BorrowAllowanceDelegated(address,address,address,uint256)',
      [mine, theirs, word(nowhere)],
      [word(5n)],
      { grants: [{ token: contract, spender }] },
    ],
    ["others' transfers and rights", 'Approval(address,address,uint256)', [theirs, mine], [word(5n)], {}],
  ]
  for (const [what, signature, topics, data, expected] of events)
    it(`show ${what} by its event`, async () => {
      await site.rpc('anvil_setCode', contract, emitting([id(signature), ...topics], data))
      const { gains, grants } = await done([call(contract, '0x')], [], [])
      const { [native]: coin, ...others } = gains
      expect(coin).to.equal(0n)
      expect({ gains: others, grants }).to.deep.equal({ gains: {}, grants: [], ...expected })
    })

  it('fail where a node cannot run the reading after them, as where they leave no gas', async () => {
    site.relay.edit = (methods, answer) => (methods.includes('eth_simulateV1') ? withLastFailed(answer) : answer)
    expect(await simulate([erc20('approve', spender, 9n)])).to.deep.equal({
      is: 'failed',
      reason: 'what it does to the wallet cannot be read after it',
    })
  })

  it('show what leaves, whatever comes back', async () => {
    await site.rpc('anvil_setCode', contract, calling(usdx, token.encodeFunctionData('transfer', [wallet, 300n])))
    const outcome = await simulate([erc20('transfer', contract, 300n), call(contract, '0x'), erc20('transfer', wallet, 50n)])
    const { gains, sent } = Object(outcome)
    expect([gains.get(usdx), sent]).to.deep.equal([0n, new Map([[usdx, 300n]])])
  })

  it('show a right that is given and taken back, and none where a spender takes what it may', async () => {
    const asked = [{ token: usdx, spender }]
    const { grants } = await done([erc20('approve', spender, 9n), erc20('approve', spender, 0n)], asked)
    expect(grants).to.deep.equal([{ token: usdx, spender, amountRaw: 9n }])
    await send({ to: usdx, data: token.encodeFunctionData('approve', [spender, 9n]) })
    expect((await done([erc20('approve', spender, 8n), erc20('approve', spender, 3n)], asked)).grants).to.deep.equal([])
    expect((await done([erc20('approve', spender, 3n), erc20('approve', spender, 9n)], asked)).grants).to.deep.equal([
      { token: usdx, spender, amountRaw: 9n },
    ])
    await send({ to: usdx, data: token.encodeFunctionData('approve', [spender, 0n]) })
  })

  it('fail if an event cannot be read', async () => {
    const topics = [id('TransferBatch(address,address,address,uint256[],uint256[])'), theirs, mine, theirs]
    for (const offset of [96n, 2n ** 255n]) {
      await site.rpc('anvil_setCode', contract, emitting(topics, [word(offset), word(offset)]))
      expect(await simulate([call(contract, '0x')])).to.include({ is: 'failed' })
    }
  })

  const rights: readonly [string, readonly (string | bigint)[], object[]][] = [
    ['setApprovalForAll(address,bool)', [spender, 1n], [{ token: contract, spender }]],
    ['setApprovalForAll(address,bool)', [spender, 0n], []],
    ['increaseAllowance(address,uint256)', [spender, 5n], [{ token: contract, spender, amountRaw: 5n }]],
    ['approve(address,address,uint160,uint48)', [nowhere, spender, 5n, 9n], [{ token: nowhere, spender }]],
    ['approve(address,address,uint160,uint48)', [nowhere, spender, 0n, 9n], []],
  ]
  for (const [signature, args, grants] of rights)
    it(`show a right by its call where no events are shown: ${signature.slice(0, signature.indexOf('('))} of ${args.slice(-2).join(', ')}`, async () => {
      await site.rpc('anvil_setCode', contract, '0x00')
      site.relay.meddle = (methods) => (methods.includes('eth_simulateV1') ? { error: 'Unsupported method: eth_simulateV1' } : 'pass')
      const data = concat([id(signature).slice(0, 10), ...args.map(word)])
      expect((await done([call(contract, data)], [], [])).grants).to.deep.equal(grants)
    })

  it('run as a call in the place of the wallet if a node shows no events by eth_simulateV1', async () => {
    // It runs all calls, but says nothing of events.
    site.relay.edit = (methods, answer) => (methods.includes('eth_simulateV1') ? withoutEvents(answer) : answer)
    const { grants } = await done([erc20('approve', spender, 9n)])
    expect(grants).to.deep.equal([{ token: usdx, spender, amountRaw: 9n }])
  })

  it('become unavailable if a node knows neither way', async () => {
    site.relay.meddle = (methods, body) =>
      methods.includes('eth_simulateV1')
        ? { error: 'Unsupported method' }
        : body.includes('"code"')
          ? { error: 'too many arguments, want at most 2' }
          : 'pass'
    expect(await simulate([erc20('transfer', nowhere, 3n)])).to.equal('unavailable')
  })

  it('fail if a node answers with something else', async () => {
    site.relay.meddle = (methods) => (methods.includes('eth_simulateV1') ? { error: 'internal error' } : 'pass')
    const error: unknown = await simulate([]).catch((thrown: unknown) => thrown)
    expect(error).to.include({ name: 'NETWORK' })
  })
})
