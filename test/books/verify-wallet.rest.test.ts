import { expect } from 'chai'
import { AbiCoder, ContractFactory, Interface, JsonRpcProvider, keccak256, toBeHex } from 'ethers'
import feeToken from '../../plugins/ethereum/artifacts/FeeOnTransferToken.json' with { type: 'json' }
import { addressKey } from '../../core/base/addresses.ts'
import { verifyWallet, type WalletCheck, type WalletParts } from '../../core/books/verify-wallet.ts'
import type { OwnTransaction } from '../../core/books/wallet-ledger.ts'
import type { Token, WalletHistory } from '../../core/contracts/index.ts'
import { at, mined, startDevnetChain, wallet, type TestChain } from '../kits/evm/test-chain.ts'

const erc20 = new Interface([
  'function transfer(address to, uint256 value)',
  'function mint(address to, uint256 value)',
  'function deposit()',
  'function withdraw(uint256 value)',
])
/** The second of anvil's accounts. */
const other = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const forwarder = '0x00000000000000000000000000000000000000f0'
const coin = '0x0000000000000000000000000000000000000000'
const ether = 10n ** 18n

describe('the book of a wallet against the chain', function () {
  this.timeout(300_000)
  let test: TestChain
  let history: WalletHistory
  let weth: Token
  let usdc: Token
  let fees: Token
  const own = new Map<string, OwnTransaction>()
  const kept = new Map<number, ReadonlyMap<string, bigint>>()
  let start: number

  before(async () => {
    test = await startDevnetChain()
    await test.chain.start?.(at.signal)
    history = test.chain.evm?.history ?? expect.fail('no history')
    const [first, second] = test.chain.reader.intermediates
    weth = first ?? expect.fail('no WETH')
    usdc = second ?? expect.fail('no USDC')
    const provider = new JsonRpcProvider(test.rpcUrl, 31337, { staticNetwork: true, cacheTimeout: -1, pollingInterval: 30 })
    const factory = new ContractFactory(feeToken.abi, feeToken.bytecode, await provider.getSigner(1))
    const contract = await factory.deploy('Fees', 'FEES', 18)
    await contract.waitForDeployment()
    fees = { symbol: 'FEES', address: await contract.getAddress(), decimals: 18 }
    provider.destroy()
    // Sends on what it gets.
    await test.rpc('anvil_setCode', forwarder, `0x60006000600060003473${wallet.slice(2)}5af100`)
  })
  after(() => test.stop())
  beforeEach(async () => {
    own.clear()
    kept.clear()
    start = await newest()
    test.asked()
  })

  const newest = async () => Number(await test.rpc('eth_blockNumber'))

  async function send(tx: { from?: string; to: string; data?: string; value?: bigint; gas?: string }): Promise<string> {
    const { value, ...others } = tx
    const hash = String(
      await test.rpc('eth_sendTransaction', { from: wallet, ...others, ...(value !== undefined && { value: toBeHex(value) }) }),
    )
    await mined(test, hash)
    return hash
  }

  /** Of the journal, with what the book says of it. */
  async function book(hash: string, movements?: readonly (readonly [string, bigint])[]): Promise<void> {
    const receipt = (await test.chain.find(hash, at))?.receipt ?? expect.fail(`no receipt of ${hash}`)
    const feeRaw = BigInt(receipt.gasUsed) * BigInt(receipt.effectiveGasPrice)
    const { blockNumber, blockHash } = receipt
    const booked = movements && new Map(movements.map(([token, amountRaw]) => [addressKey(token), amountRaw] as const))
    own.set(hash, { txHash: hash, blockNumber, blockHash, feeRaw, ...(booked && { movements: booked }) })
  }

  async function check(parts: Partial<WalletParts> = {}): Promise<WalletCheck> {
    const all: WalletParts = {
      history,
      wallet,
      coin,
      listed: [weth.address, usdc.address, fees.address],
      kept,
      ownIn: async (after, upTo) => [...own.values()].filter(({ blockNumber }) => blockNumber > after && blockNumber <= upTo),
      ownBy: async (hash) => own.get(hash),
      blockOf: async (hash) => (await test.chain.find(hash, at))?.blockNumber,
      ...parts,
    }
    const checked = await verifyWallet(all, { after: start, upTo: await newest() }, at)
    for (const { token, startRaw, ownRaw, feesRaw, foreignRaw, unexplainedRaw, endRaw } of checked.tokens)
      expect(startRaw + ownRaw + feesRaw + foreignRaw + unexplainedRaw, token).to.equal(endRaw)
    return checked
  }

  const of = ({ tokens }: WalletCheck, token: string) => tokens.find((each) => each.token === addressKey(token)) ?? expect.fail(token)

  async function setBalance(token: Token, changeRaw: bigint): Promise<number> {
    const [holdings] = await history.holdings(wallet, [token.address], [await newest()], at)
    const slot = keccak256(AbiCoder.defaultAbiCoder().encode(['address', 'uint256'], [wallet, 3]))
    await test.rpc('evm_mine')
    // It changes the state of the newest block.
    await test.rpc('anvil_setStorageAt', token.address, slot, toBeHex((holdings?.balances[0] ?? 0n) + changeRaw, 32))
    const block = await newest()
    await test.rpc('evm_mine')
    return block
  }

  it('explains wraps, unwraps, transfers and a failed transaction to the unit, with at most two calls a transaction', async () => {
    await book(await send({ to: weth.address, data: erc20.encodeFunctionData('deposit'), value: 3n * ether }), [
      [coin, -3n * ether],
      [weth.address, 3n * ether],
    ])
    await book(await send({ to: weth.address, data: erc20.encodeFunctionData('withdraw', [ether]) }), [
      [coin, ether],
      [weth.address, -ether],
    ])
    await book(await send({ to: usdc.address, data: erc20.encodeFunctionData('transfer', [other, 5n]) }), [[usdc.address, -5n]])
    await book(await send({ to: other, value: 7n }), [[coin, -7n]])
    await book(await send({ to: weth.address, data: erc20.encodeFunctionData('withdraw', [2n ** 200n]), gas: '0x186a0' }), [])
    for (let more = 0; more < 5; more += 1)
      await book(await send({ to: usdc.address, data: erc20.encodeFunctionData('transfer', [other, 1n]) }), [[usdc.address, -1n]])
    test.asked()
    const checked = await check()
    const calls = test.asked().length
    expect(checked.unexplained).to.deep.equal([])
    expect(checked).to.include({ ownTransactions: 10, foreignTransactions: 0, unlistedTokens: 0 })
    expect(of(checked, weth.address)).to.include({ ownRaw: 2n * ether, foreignRaw: 0n })
    expect(of(checked, coin)).to.include({ ownRaw: -2n * ether - 7n, foreignRaw: 0n })
    expect(calls).to.be.at.most(20)
  })

  it('takes what the chain says of transactions whose movements the journal does not have', async () => {
    await book(await send({ to: weth.address, data: erc20.encodeFunctionData('deposit'), value: ether }))
    await book(await send({ to: other, value: 9n }))
    const checked = await check()
    expect(checked.unexplained).to.deep.equal([])
    expect(of(checked, coin)).to.include({ ownRaw: -ether - 9n })
    expect(of(checked, weth.address)).to.include({ ownRaw: ether })
  })

  it('finds deposits and transactions of another program, with their gas', async () => {
    await send({ from: other, to: wallet, value: 11n })
    await send({ from: other, to: usdc.address, data: erc20.encodeFunctionData('mint', [wallet, 13n]) })
    await send({ to: other, value: 17n })
    await send({ to: usdc.address, data: erc20.encodeFunctionData('transfer', [other, 19n]) })
    const checked = await check()
    expect(checked.unexplained).to.deep.equal([])
    expect(checked).to.include({ ownTransactions: 0, foreignTransactions: 4 })
    expect(of(checked, usdc.address)).to.include({ foreignRaw: 13n - 19n })
    expect(of(checked, coin).foreignRaw < 11n - 17n).to.equal(true)
  })

  it('finds the coin that came inside a call, with its block', async () => {
    for (let blocks = 0; blocks < 20; blocks += 1) await test.rpc('evm_mine')
    await send({ from: other, to: forwarder, value: 23n })
    const block = await newest()
    for (let blocks = 0; blocks < 20; blocks += 1) await test.rpc('evm_mine')
    const { unexplained } = await check()
    expect(unexplained).to.deep.equal([{ token: coin, kind: 'inside-a-call', amountRaw: 23n, firstBlock: block, lastBlock: block }])
  })

  it('finds a loss of one unit of a token and of the coin, each with its block', async () => {
    await book(await send({ to: usdc.address, data: erc20.encodeFunctionData('transfer', [other, 1n]) }), [[usdc.address, -1n]])
    const ofToken = await setBalance(usdc, -1n)
    await test.rpc('anvil_setBalance', wallet, toBeHex(BigInt(String(await test.rpc('eth_getBalance', wallet, 'latest'))) - 1n))
    const ofCoin = await newest()
    await test.rpc('evm_mine')
    const { unexplained } = await check()
    expect(unexplained).to.deep.equal([
      { token: addressKey(usdc.address), kind: 'without-event', amountRaw: -1n, firstBlock: ofToken, lastBlock: ofToken },
      { token: coin, kind: 'inside-a-call', amountRaw: -1n, firstBlock: ofCoin, lastBlock: ofCoin },
    ])
  })

  it('counts what a wallet really gets of a token with fees', async () => {
    await send({ from: other, to: fees.address, data: erc20.encodeFunctionData('mint', [other, 1_000n]) })
    await send({ from: other, to: fees.address, data: erc20.encodeFunctionData('transfer', [wallet, 1_000n]) })
    const checked = await check()
    expect(checked.unexplained).to.deep.equal([])
    expect(of(checked, fees.address)).to.include({ foreignRaw: 980n, endRaw: 980n })
  })

  it('lists each block in which the balance of a token changes by itself', async () => {
    const blocks: number[] = []
    for (const changeRaw of [5n, 7n]) blocks.push(await setBalance(usdc, changeRaw))
    const { unexplained } = await check()
    expect(unexplained.map(({ kind, amountRaw, firstBlock }) => [kind, amountRaw, firstBlock])).to.deep.equal([
      ['without-event', 5n, blocks[0]],
      ['without-event', 7n, blocks[1]],
    ])
  })

  it('finds a deposit beside a token that changes in every block', async () => {
    const [deposit, upTo, txHash] = [2_500, 5_000, `0x${'ab'.repeat(32)}`]
    const token = addressKey(usdc.address)
    let readings = 0
    const changing: WalletHistory = {
      ...history,
      transfers: async () => ({ transfers: [] }),
      coinMoves: async (_wallet, blocks) =>
        blocks.flatMap((blockNumber) => (blockNumber === deposit ? { blockNumber, txHash, amountRaw: 11n } : [])),
      async holdings(_wallet, tokens, blocks) {
        readings += blocks.length
        const balanceAt = (of: string, block: number) => (addressKey(of) === token ? BigInt(block) : 0n)
        return blocks.map((block) => ({
          nonce: 0,
          coinRaw: block >= deposit ? 11n : 0n,
          balances: tokens.map((each) => balanceAt(each, block)),
        }))
      },
    }
    const checkOf = (more: Partial<WalletParts> = {}) =>
      verifyWallet(
        {
          history: changing,
          wallet,
          coin,
          listed: [usdc.address],
          kept,
          ownIn: async () => [],
          ownBy: async () => undefined,
          blockOf: async () => undefined,
          ...more,
        },
        { after: 0, upTo },
        at,
      )
    const checked = await checkOf()
    expect(of(checked, coin)).to.include({ foreignRaw: 11n, unexplainedRaw: 0n })
    expect(new Set(checked.unexplained.map(({ kind, token: of }) => `${kind} ${of}`))).to.have.keys(`without-event ${token}`)
    readings = 0
    const { unexplained } = await checkOf({ rebasing: new Set([token]) })
    expect(unexplained).to.deep.equal([{ token, kind: 'without-event', amountRaw: BigInt(upTo), firstBlock: 1, lastBlock: upTo }])
    expect(readings).to.be.below(30)
  })

  it('lists what the book says of a transaction and its events do not', async () => {
    const hash = await send({ to: usdc.address, data: erc20.encodeFunctionData('transfer', [other, 3n]) })
    await book(hash, [[usdc.address, -2n]])
    const block = await newest()
    const { unexplained } = await check()
    expect(unexplained).to.deep.equal([
      { token: addressKey(usdc.address), kind: 'not-in-book', amountRaw: -1n, firstBlock: block, lastBlock: block, txHash: hash },
    ])
  })

  it('lists what a reorganisation took back after it was final', async () => {
    const block = start + 1
    await test.rpc('evm_mine')
    const txHash = `0x${'ab'.repeat(32)}`
    own.set(txHash, {
      txHash,
      blockNumber: block,
      blockHash: `0x${'cd'.repeat(32)}`,
      feeRaw: 2n,
      movements: new Map([[addressKey(usdc.address), -4n]]),
    })
    const { unexplained } = await check()
    expect(unexplained.map(({ kind, token, amountRaw }) => [kind, token, amountRaw])).to.deep.equal([
      ['taken-back', addressKey(usdc.address), 4n],
      ['taken-back', coin, 2n],
    ])
  })

  it('does not let tokens of strangers count', async () => {
    await test.rpc('evm_mine')
    const checked = await check({ listed: [weth.address] })
    await send({ from: other, to: usdc.address, data: erc20.encodeFunctionData('mint', [wallet, 13n]) })
    expect(checked.tokens.map(({ token }) => token)).to.deep.equal([coin, addressKey(weth.address)])
    const after = await check({ listed: [weth.address] })
    expect(after).to.include({ unlistedTokens: 1 })
    expect(after.unexplained).to.deep.equal([])
  })

  it('counts tokens of no list that the wallet held before', async () => {
    const [held] = await history.holdings(wallet, [usdc.address], [start], at)
    const raw = held?.balances[0] ?? 0n
    await send({ from: other, to: usdc.address, data: erc20.encodeFunctionData('mint', [wallet, 13n]) })
    const block = await setBalance(usdc, -1n)
    const token = addressKey(usdc.address)
    const missing = [{ token, kind: 'without-event', amountRaw: -1n, firstBlock: block, lastBlock: block }]
    kept.set(start, new Map([[token, raw]]))
    for (const parts of [{}, { kept: new Map(), held: [usdc.address] }]) {
      const checked = await check({ listed: [], ...parts })
      expect(of(checked, usdc.address)).to.include({ startRaw: raw, foreignRaw: 13n, unexplainedRaw: -1n })
      expect(checked).to.deep.include({ unexplained: missing, unlistedTokens: 0 })
    }
    kept.set(start, new Map([[token, 0n]]))
    expect((await check({ listed: [] })).tokens.map((each) => each.token)).to.deep.equal([coin])
  })

  it('gives the narrowest range that kept balances leave where nodes have lost the state', async () => {
    const lost = start + 8
    const balances = async (block: number) => {
      const [read] = await history.holdings(wallet, [usdc.address], [block], at)
      return new Map([
        [coin, read?.coinRaw ?? 0n],
        [addressKey(usdc.address), read?.balances[0] ?? 0n],
      ])
    }
    for (let blocks = 0; blocks < 4; blocks += 1) await test.rpc('evm_mine')
    await setBalance(usdc, -1n)
    while ((await newest()) < lost + 2) await test.rpc('evm_mine')
    for (const block of [start, start + 3, start + 6]) kept.set(block, await balances(block))
    const forgetful: WalletHistory = {
      ...history,
      holdings: async (of, tokens, blocks, by) => {
        const read = await history.holdings(of, tokens, blocks, by)
        return read.map((each, index) => ((blocks[index] ?? 0) <= lost ? undefined : each))
      },
    }
    const { unexplained, startBlock } = await check({ history: forgetful, listed: [usdc.address] })
    expect(startBlock).to.equal(start)
    expect(unexplained).to.deep.equal([
      { token: addressKey(usdc.address), kind: 'without-event', amountRaw: -1n, firstBlock: start + 4, lastBlock: start + 6 },
    ])
    kept.clear()
    const later = await check({ history: forgetful, listed: [usdc.address] })
    expect(later).to.deep.include({ startBlock: lost + 1, lost: { what: 'state', before: lost + 1 }, unexplained: [] })
  })

  it('tells between which kept blocks another program sent with the wallet, where nodes have lost the state', async () => {
    for (let blocks = 0; blocks < 4; blocks += 1) await test.rpc('evm_mine')
    const before = (await history.holdings(wallet, [], [await newest()], at))[0]?.coinRaw ?? 0n
    await send({ to: other, value: 7n })
    await send({ to: other, value: 8n })
    for (let blocks = 0; blocks < 4; blocks += 1) await test.rpc('evm_mine')
    for (const block of [start, start + 3, start + 7, start + 9]) {
      const [held] = await history.holdings(wallet, [], [block], at)
      kept.set(
        block,
        new Map([
          [coin, held?.coinRaw ?? 0n],
          ['nonce', BigInt(held?.nonce ?? 0)],
        ]),
      )
    }
    const end = await newest()
    const forgetful: WalletHistory = {
      ...history,
      holdings: async (of, tokens, blocks, by) => {
        const read = await history.holdings(of, tokens, blocks, by)
        return read.map((each, index) => ((blocks[index] ?? 0) >= end ? each : undefined))
      },
    }
    const [held] = await history.holdings(wallet, [], [end], at)
    const lostInThem = {
      token: coin,
      kind: 'inside-a-call',
      amountRaw: (held?.coinRaw ?? 0n) - before,
      firstBlock: start + 4,
      lastBlock: start + 7,
    }
    const checked = await check({ history: forgetful, listed: [] })
    expect(checked.unexplained).to.deep.equal([{ ...lostInThem, unknownTransactions: 2 }])
    expect(checked.endNonce).to.equal(held?.nonce)
    // An earlier version kept balances alone.
    for (const [block, amounts] of kept) kept.set(block, new Map([...amounts].slice(0, block === start + 3 ? 1 : 2)))
    expect((await check({ history: forgetful, listed: [] })).unexplained).to.deep.equal([lostInThem])
  })
})
