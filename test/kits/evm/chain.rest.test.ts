import { expect } from 'chai'
import { Interface, MaxUint256 } from 'ethers'
import type { Token } from '../../../core/contracts/index.ts'
import { at, mined, startDevnetChain, wallet, type TestChain } from './test-chain.ts'

const spender = '0x1111111111111111111111111111111111111111'
const otherSpender = '0x2222222222222222222222222222222222222222'
const nobody = '0x00000000000000000000000000000000000000aa'

/** What is refused, as an error of the table. */
async function refusal(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => 'nothing was refused',
    (failure: unknown) => failure,
  )
}

describe('an EVM chain', () => {
  let test: TestChain
  let tokens: Record<string, Token>

  before(async () => {
    test = await startDevnetChain()
    await test.chain.start?.(at.signal)
    tokens = Object.fromEntries([test.chain.nativeCurrency, ...test.chain.reader.intermediates].map((token) => [token.symbol, token]))
  })
  after(() => test.stop())
  beforeEach(() => void test.asked())

  function token(symbol: string): Token {
    const found = tokens[symbol]
    if (!found) throw new Error(`No ${symbol}.`)
    return found
  }

  async function approve(symbol: string, amountRaw: bigint | undefined, to = spender) {
    const verbs = test.chain.evm
    if (!verbs) throw new Error('No EVM verbs.')
    return verbs.approve(wallet, token(symbol), to, amountRaw, at)
  }

  /** As the wallet, by the node. */
  async function perform(steps: readonly { to: string; data: string }[]): Promise<void> {
    for (const { to, data } of steps) {
      const hash = await test.rpc('eth_sendTransaction', { from: wallet, to, data })
      await mined(test, hash)
      expect((await test.chain.find(String(hash), at))?.receipt?.status).to.equal(1)
    }
  }

  it('reads balances of ether and of any number of tokens in one call to a node', async () => {
    const { chain } = test
    const asked = [token('WETH'), chain.nativeCurrency, token('USDC'), token('USDT'), token('DAI'), token('WBTC'), token('USDC')]
    const balances = await chain.balances(wallet, asked, at)
    expect(test.asked()).to.deep.equal(['eth_call'])
    const dollars = 10_000_000n
    expect(balances[0]).to.equal(1000n * 10n ** 18n)
    expect(balances[1]).to.equal(BigInt(String(await test.rpc('eth_getBalance', wallet, 'latest'))))
    expect(balances.slice(2)).to.deep.equal([
      dollars * 10n ** 6n,
      dollars * 10n ** 6n,
      dollars * 10n ** 18n,
      100n * 10n ** 8n,
      dollars * 10n ** 6n,
    ])
    expect(await chain.balances(wallet, [], at)).to.deep.equal([])
  })

  it('has no balance of a contract that is not a token, and those of the others', async () => {
    const fake = { symbol: 'FAKE', address: nobody, decimals: 18 }
    const [dollars, none] = await test.chain.balances(wallet, [token('USDC'), fake], at)
    expect([typeof dollars, none]).to.deep.equal(['bigint', undefined])
  })

  it('reads a token that is in no list, and nothing for a contract that is not a token', async () => {
    expect(await test.chain.token(token('USDT').address, at)).to.deep.equal(token('USDT'))
    expect(test.asked()).to.deep.equal(['eth_call'])
    expect(await test.chain.token(nobody, at)).to.equal(undefined)
  })

  it('prices gas as base fee plus tip at the block that was read, without asking again', async () => {
    const { chain } = test
    const { head } = await chain.reader.read([], at)
    expect(test.asked()).to.deep.equal(['eth_call'])
    const gas = await chain.gas(100_000n, head, at)
    expect(test.asked()).to.deep.equal([])
    const tip = BigInt(String(await test.rpc('eth_maxPriorityFeePerGas')))
    expect(gas.gasPriceRaw).to.equal((head.baseFeeRaw ?? 0n) + tip)
    expect(gas).to.deep.include({ gasLimit: 150_000n, gasCostRaw: gas.gasPriceRaw * 150_000n })
    expect(chain.reader.gasPriceRaw(head)).to.equal(gas.gasPriceRaw)
  })

  it("returns the node's current head", async () => {
    const head = await test.chain.head(at)
    expect(head.hash).to.match(/^0x[0-9a-f]{64}$/)
    expect(head.timestamp).to.be.closeTo(Date.now() / 1000, 60)
    // A tip comes with it where the last one is older than a block.
    expect(test.asked().filter((method) => method !== 'eth_maxPriorityFeePerGas')).to.deep.equal(['eth_getBlockByNumber'])
  })

  it('follows heads, each of them once and in order', async () => {
    const stop = new AbortController()
    const numbers: bigint[] = []
    for await (const { number } of test.chain.heads(stop.signal)) {
      numbers.push(number)
      if (numbers.length === 3) stop.abort()
      else await test.rpc('evm_mine')
    }
    expect(numbers).to.deep.equal(numbers.toSorted((a, b) => Number(a - b)))
    expect(new Set(numbers)).to.have.property('size', 3)
  })

  it('finds a mined transaction in one round trip, with readable quantities', async () => {
    const hash = String(await test.rpc('eth_sendTransaction', { from: wallet, to: spender, value: '0xde0b6b3a7640000' }))
    await mined(test, hash)
    const found = await test.chain.find(hash.toUpperCase().replace('0X', '0x'), at)
    expect(test.asked()).to.have.members(['eth_getTransactionByHash', 'eth_getTransactionReceipt', 'eth_getBlockByNumber'])
    expect(found?.tx).to.deep.include({ hash, value: '1000000000000000000', type: 2 }).and.have.property('nonce').that.is.a('number')
    expect(found?.receipt).to.deep.include({ transactionHash: hash, status: 1, gasUsed: '21000', logs: [] })
    expect(found?.blockNumber).to.equal(found?.receipt?.blockNumber)
    expect(found).to.not.have.property('pays')
    expect(JSON.parse(JSON.stringify(found))).to.deep.equal(found)
  })

  it('finds nothing for an unused hash', async () => {
    expect(await test.chain.find(`0x${'ab'.repeat(32)}`, at)).to.equal(undefined)
  })

  it('decodes the logs of a transfer', async () => {
    const data = new Interface(['function transfer(address,uint256)']).encodeFunctionData('transfer', [spender, 5n])
    const hash = String(await test.rpc('eth_sendTransaction', { from: wallet, to: token('USDC').address, data }))
    await mined(test, hash)
    const receipt = (await test.chain.find(hash, at))?.receipt
    if (!receipt) throw new Error('No receipt.')
    expect(test.chain.decode(receipt, [])).to.have.nested.property('logs[0].events[2].value', '5')
  })

  it('accepts an address in lower case, in upper case or with its checksum, and refuses a wrong checksum', () => {
    const { chain } = test
    const digits = wallet.slice(2)
    for (const spelling of [wallet, `0x${digits.toLowerCase()}`, `0x${digits.toUpperCase()}`])
      expect(chain.address(spelling)).to.equal(wallet)
    for (const bad of [
      wallet.replace('F', 'f'),
      digits,
      `0X${digits}`,
      `${wallet}0`,
      ' ',
      '',
      'XE7338O073KYGTWWZN0F2WZ0R8PX5ZPPZS',
      '0xg39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
    ]) {
      expect(chain.address(bad), bad).to.equal(undefined)
    }
    expect(chain.isTransactionId(`0x${'Ab'.repeat(32)}`)).to.equal(true)
    expect(chain.isTransactionId(wallet)).to.equal(false)
  })

  it('returns a reverted call as a result, and runs creation code if there is no target', async () => {
    const { reader } = test.chain
    const transfer = new Interface(['function transfer(address,uint256)']).encodeFunctionData('transfer', [spender, MaxUint256])
    expect((await reader.call({ to: token('USDC').address, from: nobody, data: transfer }, at)).ok).to.equal(false)
    // PUSH1 42, PUSH0, MSTORE, PUSH1 32, PUSH0, RETURN
    expect(await reader.call({ data: '0x602a5f5260205ff3' }, at)).to.deep.equal({ ok: true, data: `0x${'2a'.padStart(64, '0')}` })
  })

  it('reads all calls at one block, and each may fail alone', async () => {
    const { head, results } = await test.chain.reader.read(
      [
        { to: token('USDC').address, data: '0x313ce567' },
        { to: token('USDC').address, data: '0xdeadbeef' },
      ],
      at,
    )
    expect(head.number > 0n).to.equal(true)
    expect(results).to.deep.equal([
      { ok: true, data: `0x${'6'.padStart(64, '0')}` },
      { ok: false, data: '0x' },
    ])
  })

  describe('approving', () => {
    it('takes one step and one round trip, and approves the maximum if no amount is given', async () => {
      const { plan, amountRaw } = await approve('USDT', undefined)
      expect(test.asked()).to.deep.equal(['eth_call', 'eth_call'])
      expect(amountRaw).to.equal(MaxUint256)
      expect(plan.steps).to.have.length(1)
    })

    it('approves 0 first only if the token refuses to change an allowance', async () => {
      for (const symbol of ['USDT', 'USDC']) await perform((await approve(symbol, 100n)).plan.steps)
      const awkward = await approve('USDT', 200n)
      expect(awkward.plan.steps).to.have.length(2)
      expect((await approve('USDC', 200n)).plan.steps).to.have.length(1)
      expect((await approve('USDT', 0n)).plan.steps).to.have.length(1)
      await perform(awkward.plan.steps)
      expect(await test.chain.evm?.allowances(wallet, [spender], [token('USDT')], at)).to.deep.equal([[200n]])
    })

    it('reads the allowances of several spenders and tokens in one call', async () => {
      await perform((await approve('DAI', 7n, otherSpender)).plan.steps)
      test.asked()
      const read = await test.chain.evm?.allowances(
        wallet,
        [otherSpender, nobody],
        [token('WBTC'), test.chain.nativeCurrency, token('DAI')],
        at,
      )
      expect(test.asked()).to.deep.equal(['eth_call'])
      expect(read).to.deep.equal([
        [0n, MaxUint256, 7n],
        [0n, MaxUint256, 0n],
      ])
    })

    it('refuses the native coin and a contract that is not a token', async () => {
      expect(await refusal(approve('ETH', 1n))).to.have.property('name', 'INCOMPLETE_PARAMS')
      const fake = { symbol: 'FAKE', address: nobody, decimals: 18 }
      expect(await refusal(test.chain.evm?.approve(wallet, fake, spender, 1n, at) ?? Promise.resolve())).to.have.property(
        'name',
        'TOKEN_NOT_SUPPORTED',
      )
    })
  })
})
