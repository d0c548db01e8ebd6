import { expect } from 'chai'
import { AbiCoder, Interface, concat } from 'ethers'
import { readCall } from '../../../core/wallet/calls/index.ts'
import type { EvmRules } from '../../../core/wallet/policy.ts'
import { Refusal } from '../../../core/wallet/policy.ts'
import { localRules } from '../example-policy.ts'

const [wallet, stranger, router] = ['aa', 'bb', 'cc'].map((each) => `0x${each.repeat(20)}`) as [string, string, string]
const [weth, usdc, unlisted] = ['11', '22', '33'].map((each) => `0x${each.repeat(20)}`) as [string, string, string]
const zero = `0x${'0'.repeat(40)}`
const [caller, self] = [`0x${'0'.repeat(39)}1`, `0x${'0'.repeat(39)}2`]
const later = 4_000_000_000
const coder = AbiCoder.defaultAbiCoder()

const rulesOf = (reader: string): EvmRules => ({
  ...localRules(),
  wrapped: weth,
  tokens: new Set([weth, usdc]),
  readers: new Map([[router, reader]]),
})
const outcome = (reader: string, data: string, valueRaw = 0n): unknown => {
  try {
    const read = readCall({ wallet, contract: router, data, valueRaw }, rulesOf(reader), { countsApprovals: false })
    return 'unreadable' in read ? 'unreadable' : Object.fromEntries(read)
  } catch (error) {
    if (error instanceof Refusal) return 'refused'
    throw error
  }
}

describe('the reader of', () => {
  describe('routers of Uniswap v2', () => {
    const abi = new Interface([
      'function swapExactTokensForTokens(uint256, uint256, address[], address, uint256)',
      'function swapTokensForExactAVAX(uint256, uint256, address[], address, uint256)',
      'function removeLiquidityWithPermit(address, address, uint256, uint256, uint256, address, uint256, bool, uint8, bytes32, bytes32)',
    ])
    it('says what is taken at most, and refuses another receiver', () => {
      const sell = (to: string) => abi.encodeFunctionData('swapExactTokensForTokens', [7n, 0n, [usdc, weth], to, later])
      expect(outcome('v2-router', sell(wallet))).to.deep.equal({ [usdc]: 7n })
      expect(outcome('v2-router', sell(stranger))).to.equal('refused')
      const buy = abi.encodeFunctionData('swapTokensForExactAVAX', [7n, 9n, [usdc, weth], wallet, later])
      expect(outcome('v2-router', buy)).to.deep.equal({ [usdc]: 9n })
    })

    it('reads no other methods, no other encodings and no calls that are cut off', () => {
      const sell = abi.encodeFunctionData('swapExactTokensForTokens', [7n, 0n, [usdc, weth], wallet, later])
      const removal = [usdc, weth, 1n, 0n, 0n, wallet, later, true, 27, `0x${'0'.repeat(64)}`, `0x${'0'.repeat(64)}`]
      const others = [abi.encodeFunctionData('removeLiquidityWithPermit', removal), `${sell}00`, sell.slice(0, -2), '0x12', '0x38ed1739']
      for (const data of others) expect(outcome('v2-router', data), data).to.equal('unreadable')
    })
  })

  it('of any contract reads no call above 32 kB, before it decodes any of it', () => {
    const abi = new Interface(['function swapExactTokensForTokens(uint256, uint256, address[], address, uint256)'])
    const along = (count: number) =>
      abi.encodeFunctionData('swapExactTokensForTokens', [7n, 0n, Array.from({ length: count }, () => usdc), wallet, later])
    expect(outcome('v2-router', along(1000))).to.deep.equal({ [usdc]: 7n })
    expect(outcome('v2-router', along(1024))).to.equal('unreadable')
  })

  describe('routers of Uniswap v3', () => {
    const abi = new Interface([
      'function exactInputSingle((address, address, uint24, address, uint256, uint256, uint160))',
      'function exactOutput((bytes, address, uint256, uint256))',
      'function unwrapWETH9(uint256, address)',
      'function refundETH()',
      'function approveMax(address)',
      'function multicall(uint256, bytes[])',
    ])
    const sell = (tokenIn: string, tokenOut: string, receiver: string, amountRaw = 5n) =>
      abi.encodeFunctionData('exactInputSingle', [[tokenIn, tokenOut, 500, receiver, amountRaw, 0n, 0n]])
    const unwrap = (receiver: string) => abi.encodeFunctionData('unwrapWETH9', [0n, receiver])
    const refund = abi.encodeFunctionData('refundETH')
    const all = (...calls: readonly string[]) => abi.encodeFunctionData('multicall', [later, calls])
    const read = (...calls: readonly string[]) => outcome('v3-router-02', all(...calls))

    it('adds the parts of a call up, and takes the input of an exact output by its bound', () => {
      expect(read(sell(usdc, weth, wallet), sell(usdc, unlisted, caller, 6n))).to.deep.equal({ [usdc]: 11n })
      const path = concat([weth, '0x0001f4', unlisted, '0x0001f4', usdc])
      expect(read(abi.encodeFunctionData('exactOutput', [[path, wallet, 1n, 8n]]))).to.deep.equal({ [usdc]: 8n })
    })

    it('lets the router keep what a later part pays to the wallet, and nothing else', () => {
      expect(read(sell(usdc, weth, self), unwrap(wallet))).to.deep.equal({ [usdc]: 5n })
      expect(read(sell(usdc, weth, self), sell(weth, usdc, wallet, 0n))).to.deep.equal({ [usdc]: 5n })
      for (const calls of [
        [sell(usdc, weth, self)],
        [sell(usdc, unlisted, self), unwrap(wallet)],
        [unwrap(wallet), sell(usdc, weth, self)],
        [sell(usdc, weth, self), unwrap(stranger)],
        [sell(usdc, weth, stranger)],
        [sell(usdc, weth, router)],
      ])
        expect(read(...calls)).to.equal('refused')
    })

    it('counts the coin and the wrapped coin both where code of a token could have the router take both', () => {
      const paid = (...calls: readonly string[]) => outcome('v3-router-02', all(...calls), 5n)
      expect(paid(sell(weth, usdc, wallet), refund)).to.deep.equal({ [weth]: 0n })
      expect(paid(sell(weth, unlisted, wallet), refund)).to.deep.equal({ [weth]: 5n })
      expect(paid(refund, sell(weth, usdc, wallet))).to.deep.equal({ [weth]: 5n })
    })

    it('counts all of the wrapped coin where the coin does not pay for all parts: a payment takes one of them alone', () => {
      const paid = (...calls: readonly string[]) => outcome('v3-router-02', all(...calls), 5n)
      expect(paid(sell(weth, usdc, wallet, 6n), refund)).to.deep.equal({ [weth]: 6n })
      expect(paid(sell(weth, usdc, wallet, 3n), sell(weth, usdc, wallet, 3n), refund)).to.deep.equal({ [weth]: 6n })
      expect(paid(sell(weth, usdc, wallet, 3n), sell(weth, usdc, wallet, 2n), refund)).to.deep.equal({ [weth]: 0n })
    })

    it('counts all of the wrapped coin where a part pays with what the router has of it, for which it would use the coin', () => {
      const paid = (...calls: readonly string[]) => outcome('v3-router-02', all(...calls), 5n)
      const hops = concat([usdc, '0x0001f4', weth, '0x0001f4', usdc])
      const through = new Interface(['function exactInput((bytes, address, uint256, uint256))']).encodeFunctionData('exactInput', [
        [hops, wallet, 1n, 0n],
      ])
      expect(paid(sell(usdc, weth, self), sell(weth, usdc, wallet, 0n), sell(weth, usdc, wallet))).to.deep.equal({ [usdc]: 5n, [weth]: 5n })
      expect(paid(through, sell(weth, usdc, wallet))).to.deep.equal({ [usdc]: 1n, [weth]: 5n })
    })

    it('counts all of the wrapped coin where a pool of Algebra has a deployer, whose code runs in the swap', () => {
      const algebra = new Interface([
        'function exactInputSingle((address, address, address, address, uint256, uint256, uint256, uint160))',
        'function exactInput((bytes, address, uint256, uint256, uint256))',
      ])
      const single = (deployer: string) =>
        algebra.encodeFunctionData('exactInputSingle', [[weth, usdc, deployer, wallet, later, 5n, 0n, 0n]])
      const along = (deployer: string) =>
        algebra.encodeFunctionData('exactInput', [[concat([weth, deployer, usdc]), wallet, later, 5n, 0n]])
      for (const call of [single, along]) {
        expect(outcome('algebra-router', call(zero), 5n)).to.deep.equal({ [weth]: 0n })
        expect(outcome('algebra-router', call(stranger), 5n)).to.deep.equal({ [weth]: 5n })
        expect(outcome('algebra-router', call(stranger))).to.deep.equal({ [weth]: 5n })
      }
    })

    it('reads no calls within calls within calls, and nothing that it does not know', () => {
      expect(read(all(sell(usdc, weth, wallet)))).to.equal('unreadable')
      expect(read(abi.encodeFunctionData('approveMax', [usdc]))).to.equal('unreadable')
      expect(read(...Array.from({ length: 65 }, () => refund))).to.equal('unreadable')
    })
  })

  describe('managers of positions of Uniswap v3', () => {
    const abi = new Interface([
      'function mint((address, address, uint24, int24, int24, uint256, uint256, uint256, uint256, address, uint256))',
      'function collect((uint256, address, uint128, uint128))',
      'function increaseLiquidity((uint256, uint256, uint256, uint256, uint256, uint256))',
      'function refundETH()',
      'function sweepToken(address, uint256, address)',
      'function multicall(bytes[])',
    ])
    it('counts the coin and the wrapped coin both where code of a token may run before the manager is paid', () => {
      const mint = (token = usdc) => abi.encodeFunctionData('mint', [[weth, token, 500, -10, 10, 3n, 4n, 0n, 0n, wallet, later]])
      const refund = abi.encodeFunctionData('refundETH')
      const sweep = abi.encodeFunctionData('sweepToken', [unlisted, 0n, wallet])
      const collect = abi.encodeFunctionData('collect', [[1n, wallet, 1n, 1n]])
      const paid = (...calls: readonly string[]) => outcome('v3-positions', abi.encodeFunctionData('multicall', [calls]), 3n)
      expect(paid(mint(), refund)).to.deep.equal({ [weth]: 0n, [usdc]: 4n })
      for (const calls of [
        [sweep, mint()],
        [collect, mint()],
        [mint(), sweep, mint()],
        [refund, mint()],
      ]) {
        const mints = BigInt(calls.filter((each) => each === mint()).length)
        expect(paid(...calls)).to.deep.equal({ [weth]: 3n * mints, [usdc]: 4n * mints })
      }
      expect(paid(mint(unlisted), refund)).to.deep.equal({ [weth]: 3n, [unlisted]: 4n })
    })

    it('says what a new position takes, and lets only the wallet have it and what it pays out', () => {
      const mint = (to: string) => abi.encodeFunctionData('mint', [[weth, usdc, 500, -10, 10, 3n, 4n, 0n, 0n, to, later]])
      const collect = (to: string) => abi.encodeFunctionData('collect', [[1n, to, 1n, 1n]])
      expect(outcome('v3-positions', mint(wallet))).to.deep.equal({ [weth]: 3n, [usdc]: 4n })
      expect(outcome('v3-positions', mint(stranger))).to.equal('refused')
      expect(outcome('v3-positions', collect(wallet))).to.deep.equal({})
      expect(outcome('v3-positions', collect(stranger))).to.equal('refused')
      expect(outcome('v3-positions', collect(zero))).to.equal('unreadable')
      expect(outcome('v3-positions', abi.encodeFunctionData('increaseLiquidity', [[1n, 1n, 1n, 0n, 0n, later]]))).to.equal('unreadable')
    })
  })

  describe('the Universal Router', () => {
    const execute = new Interface(['function execute(bytes, bytes[], uint256)'])
    const run = (...list: readonly (readonly [string, readonly string[], readonly unknown[]])[]) =>
      outcome(
        'universal-router',
        execute.encodeFunctionData('execute', [
          concat(list.map(([code]) => code)),
          list.map(([, types, values]) => coder.encode(types, values)),
          later,
        ]),
      )
    const path = (from: string, to: string) => concat([from, '0x0001f4', to])
    const v3 = (code: string, values: readonly unknown[]) =>
      [code, ['address', 'uint256', 'uint256', 'bytes', 'bool', 'uint256[]'], values] as const
    const sweep = (token: string, to: string) => ['0x04', ['address', 'address', 'uint256'], [token, to, 0n]] as const

    it('counts what the wallet pays, and nothing that the router pays', () => {
      expect(run(v3('0x00', [wallet, 5n, 0n, path(usdc, weth), true, []]))).to.deep.equal({ [usdc]: 5n })
      expect(run(v3('0x01', [caller, 5n, 9n, path(weth, usdc), true, []]))).to.deep.equal({ [usdc]: 9n })
      expect(run(v3('0x00', [wallet, 5n, 0n, path(usdc, weth), false, []]))).to.deep.equal({})
      expect(run(['0x02', ['address', 'address', 'uint160'], [usdc, router, 5n]], sweep(usdc, wallet))).to.deep.equal({ [usdc]: 5n })
    })

    it('refuses what goes to somebody else, or stays with the router', () => {
      expect(run(v3('0x00', [stranger, 5n, 0n, path(usdc, weth), true, []]))).to.equal('refused')
      expect(run(v3('0x00', [self, 5n, 0n, path(usdc, weth), true, []]))).to.equal('refused')
      expect(run(['0x02', ['address', 'address', 'uint160'], [usdc, stranger, 5n]])).to.equal('refused')
      expect(run(sweep(usdc, stranger))).to.equal('refused')
    })

    it('reads no command that may fail but a permit, and no command that it does not know', () => {
      expect(run(['0x8a', ['bytes'], ['0x']])).to.deep.equal({})
      expect(run(['0x84', ['address', 'address', 'uint256'], [usdc, wallet, 0n]])).to.equal('unreadable')
      expect(run(['0x21', ['bytes'], ['0x']])).to.equal('unreadable')
      expect(run(['0x03', ['bytes'], ['0x']])).to.equal('unreadable')
    })

    const struct = '(address, (address, uint24, int24, address, bytes)[], uint256[], uint128, uint128)'
    const hop = (currency: string) => [currency, 500, 10, zero, '0x']
    const swap = (code: string, values: readonly unknown[]) => [code, coder.encode([struct], [values])] as const
    const settle = (amountRaw: bigint, isOfWallet = true, currency = usdc) =>
      ['0x0b', coder.encode(['address', 'uint256', 'bool'], [currency, amountRaw, isOfWallet])] as const
    const take = (to: string, amountRaw = 0n) => ['0x0e', coder.encode(['address', 'address', 'uint256'], [weth, to, amountRaw])] as const
    const v4 = (...list: readonly (readonly [string, string])[]) =>
      run(['0x10', ['bytes', 'bytes[]'], [concat(list.map(([code]) => code)), list.map(([, input]) => input)]])

    it('reads no debts of v4 in other currencies than the input, which an exact output may make without a bound', () => {
      const through = swap('0x09', [weth, [hop(unlisted), hop(usdc)], [], 5n, 0n])
      expect(v4(through, settle(0n), take(wallet)), 'of an intermediate').to.equal('unreadable')
      expect(v4(through, settle(0n, true, weth)), 'of the output').to.equal('unreadable')
      expect(v4(through, settle(7n), take(wallet)), 'of an amount').to.deep.equal({ [usdc]: 7n })
      expect(v4(through, settle(0n, true, unlisted), take(wallet)), 'of the input').to.deep.equal({ [unlisted]: 0n })
      const sell = swap('0x07', [usdc, [hop(weth)], [], 5n, 0n])
      for (const both of [
        [through, sell],
        [sell, through],
      ])
        expect(v4(...both, settle(0n), take(wallet)), 'of an intermediate that is an input, too').to.equal('unreadable')
      expect(v4(sell, settle(0n), through, take(wallet)), 'in any order').to.equal('unreadable')
      expect(v4(swap('0x09', [weth, [hop(usdc)], [], 5n, 9n]), settle(0n, true, weth), take(wallet)), 'with one hop').to.equal('unreadable')
      expect(v4(sell, settle(0n, true, unlisted), take(wallet)), 'of no swap').to.equal('unreadable')
    })

    it('counts of swaps in v4 what their debts are at most', () => {
      const sell = swap('0x07', [usdc, [hop(weth)], [], 5n, 0n])
      expect(v4(sell, settle(0n), take(wallet))).to.deep.equal({ [usdc]: 5n })
      expect(v4(sell, settle(8n), take(wallet))).to.deep.equal({ [usdc]: 8n })
      expect(v4(sell, settle(0n, false), take(wallet))).to.deep.equal({})
      expect(v4(swap('0x09', [weth, [hop(usdc)], [], 5n, 9n]), settle(0n), take(wallet))).to.deep.equal({ [usdc]: 9n })
      expect(v4(sell, settle(0n), take(stranger))).to.equal('refused')
      expect(v4(sell, settle(0n), take(wallet, 7n))).to.equal('unreadable')
      expect(v4(sell, settle(1n << 255n), take(wallet))).to.equal('unreadable')
    })
  })

  describe("Balancer's Vault", () => {
    const abi = new Interface([
      'function batchSwap(uint8, (bytes32, uint256, uint256, uint256, bytes)[], address[], (address, bool, address, bool), int256[], uint256)',
      'function exitPool(bytes32, address, address, (address[], uint256[], bytes, bool))',
      'function setRelayerApproval(address, address, bool)',
    ])
    const pool = `0x${'12'.repeat(32)}`
    const swap = (sender: string, receiver: string, isInternal = false) =>
      abi.encodeFunctionData('batchSwap', [0, [], [usdc, weth, zero], [sender, isInternal, receiver, false], [5n, -3n, 4n], later])
    const exit = (kind: bigint, ...more: readonly bigint[]) =>
      abi.encodeFunctionData('exitPool', [
        pool,
        wallet,
        wallet,
        [[usdc], [0n], coder.encode(['uint256', 'uint256', ...more.map(() => 'uint256')], [kind, 1n, ...more]), false],
      ])

    it('counts the limits of what is given, and refuses other receivers and senders', () => {
      expect(outcome('balancer-vault', swap(wallet, wallet))).to.deep.equal({ [usdc]: 5n })
      expect(outcome('balancer-vault', swap(wallet, stranger))).to.equal('refused')
      expect(outcome('balancer-vault', swap(stranger, wallet))).to.equal('refused')
      expect(outcome('balancer-vault', swap(wallet, wallet, true))).to.equal('unreadable')
    })

    it('reads no shares that are given for one token, and no rights of others', () => {
      expect(outcome('balancer-vault', exit(1n))).to.deep.equal({})
      expect(outcome('balancer-vault', exit(0n))).to.equal('unreadable')
      expect(outcome('balancer-vault', exit(1n, 0n))).to.equal('unreadable')
      expect(outcome('balancer-vault', abi.encodeFunctionData('setRelayerApproval', [wallet, stranger, true]))).to.equal('unreadable')
    })
  })

  it('the matching market counts what an offer pays, and reads none that may be matched with rounding', () => {
    const abi = new Interface(['function offer(uint256, address, uint256, address, uint256, bool)'])
    const offer = (rounding: boolean) => abi.encodeFunctionData('offer', [5n, usdc, 1n, weth, 0n, rounding])
    expect(outcome('matching-market', offer(false))).to.deep.equal({ [usdc]: 5n })
    expect(outcome('matching-market', offer(true))).to.equal('unreadable')
  })

  it('the StableSwap invariant counts what is sold, or the most of a purchase, and no token beside the coin', () => {
    const terms = (to: string) => [usdc, to, false, later]
    const stable = new Interface([
      'function buy((address, address, bool, uint256), uint256, uint256, uint256, (address, int128, int128, address)[])',
      'function exchange(address[11], uint256[5][5], uint256, uint256)',
      'function add_liquidity(uint256[3], uint256)',
      'function remove_liquidity(uint256, uint256[3])',
      'function remove_liquidity_one_coin(uint256, int128, uint256)',
    ])
    const buy = (to: string) => stable.encodeFunctionData('buy', [terms(to), 1n, 2n, 3n, []])
    expect(outcome('stable-router', buy(wallet))).to.deep.equal({ [usdc]: 3n })
    expect(outcome('stable-router', buy(wallet), 3n)).to.deep.equal({})
    expect(outcome('stable-router', buy(stranger))).to.equal('refused')
    const route = [usdc, ...Array.from({ length: 10 }, () => zero)]
    const none = Array.from({ length: 5 }, () => [0n, 0n, 0n, 0n, 0n])
    expect(outcome('curve-router', stable.encodeFunctionData('exchange', [route, none, 5n, 0n]))).to.deep.equal({ [usdc]: 5n })
    expect(outcome('stable-pool', stable.encodeFunctionData('remove_liquidity', [5n, [0n, 0n, 0n]]))).to.deep.equal({})
    expect(outcome('stable-pool', stable.encodeFunctionData('add_liquidity', [[5n, 0n, 0n], 0n]))).to.equal('unreadable')
    expect(outcome('stable-pool', stable.encodeFunctionData('remove_liquidity_one_coin', [5n, 0n, 0n]))).to.equal('unreadable')
  })

  it('Perpetual Protocol counts collateral that is deposited, and nothing of positions', () => {
    const abi = new Interface([
      'function deposit(address, uint256)',
      'function withdraw(address, uint256)',
      'function depositFor(address, address, uint256)',
      'function quitMarket(address, address)',
    ])
    expect(outcome('perp-vault', abi.encodeFunctionData('deposit', [usdc, 5n]))).to.deep.equal({ [usdc]: 5n })
    expect(outcome('perp-vault', abi.encodeFunctionData('withdraw', [usdc, 5n]))).to.deep.equal({})
    expect(outcome('perp-vault', abi.encodeFunctionData('depositFor', [stranger, usdc, 5n]))).to.equal('unreadable')
    expect(outcome('perp-house', abi.encodeFunctionData('quitMarket', [wallet, usdc]))).to.deep.equal({})
  })

  it('the manager of positions of Uniswap v4 counts what a new position takes, and settles for no other', () => {
    const abi = new Interface(['function modifyLiquidities(bytes, uint256)'])
    const key = '(address, address, uint24, int24, address)'
    const mint = (to: string) =>
      [
        '0x02',
        coder.encode(
          [key, 'int24', 'int24', 'uint256', 'uint128', 'uint128', 'address', 'bytes'],
          [[usdc, weth, 500, 10, zero], -10, 10, 1n, 3n, 4n, to, '0x'],
        ),
      ] as const
    const settle = ['0x0d', coder.encode(['address', 'address'], [usdc, weth])] as const
    const change = (code: string) =>
      [code, coder.encode(['uint256', 'uint256', 'uint128', 'uint128', 'bytes'], [1n, 1n, 9n, 9n, '0x'])] as const
    const takePair = (to: string) => ['0x11', coder.encode(['address', 'address', 'address'], [usdc, weth, to])] as const
    const run = (...list: readonly (readonly [string, string])[]) => {
      const unlock = coder.encode(['bytes', 'bytes[]'], [concat(list.map(([code]) => code)), list.map(([, input]) => input)])
      return outcome('v4-positions', abi.encodeFunctionData('modifyLiquidities', [unlock, later]))
    }
    expect(run(mint(wallet), settle)).to.deep.equal({ [usdc]: 3n, [weth]: 4n })
    expect(run(mint(stranger), settle)).to.equal('refused')
    expect(run(change('0x01'), takePair(wallet))).to.deep.equal({})
    expect(run(change('0x01'), takePair(stranger))).to.equal('refused')
    expect(run(change('0x01'), takePair(self))).to.equal('refused')
    expect(run(change('0x01'), settle)).to.equal('unreadable')
    expect(run(change('0x00'), settle)).to.equal('unreadable')
  })

  it('Permit2 counts nothing for contracts whose calls are read, and what others may take', () => {
    const abi = new Interface(['function approve(address, address, uint160, uint48)'])
    const approve = (token: string, spender: string) => abi.encodeFunctionData('approve', [token, spender, 5n, later])
    expect(outcome('permit2', approve(usdc, router))).to.deep.equal({})
    expect(outcome('permit2', approve(usdc, stranger))).to.deep.equal({ [usdc]: 5n })
    expect(outcome('permit2', approve(unlisted, router))).to.deep.equal({ [unlisted]: 5n })
  })
})
