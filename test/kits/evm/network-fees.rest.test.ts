import { expect } from 'chai'
import { Transaction, hexlify, toQuantity } from 'ethers'
import type { EvmFees } from '../../../kits/evm/fees.ts'
import type { EvmChainConfig, EvmIntent, EvmNetwork } from '../../../kits/evm/index.ts'
import { nowhere, rejection, sign } from '../../transactions/site.ts'
import { answering, fakeBlock, startFakeNode } from './fake-node.ts'
import { at, chainOver, mined, startStillChain, wallet, type TestChain } from './test-chain.ts'

const gwei = 10n ** 9n
const transfer: EvmIntent = { to: nowhere, data: '0x', value: '1' }
const identity = (data: string) => ({ to: '0x0000000000000000000000000000000000000004', data })

let site: TestChain
async function start(definition: Partial<EvmNetwork>, flags: readonly string[] = [], config: EvmChainConfig = {}): Promise<TestChain> {
  site = await startStillChain({ flags, definition, config })
  return site
}

async function prepare(feeOverrides = {}, over?: EvmFees, step = transfer) {
  const price = over ? { feeOverrides, over } : { feeOverrides }
  const { prepared } = await site.chain.rail.check([step], [], wallet, price, at)
  const [first] = prepared
  if (!first) throw new Error('Nothing was prepared.')
  const fees: EvmFees = JSON.parse(JSON.stringify(first.fees))
  return { ...first, fees }
}

async function seal(prepared: Awaited<ReturnType<typeof prepare>>, nonce = 0) {
  const draft = site.chain.rail.draft(prepared, nonce)
  return site.chain.rail.seal(draft, await sign({ chain: 'ethereum', network: 'local', address: wallet, signable: draft }))
}

describe('a network without base fees', () => {
  const legacy = { legacyFees: true, leastBumpPercent: 10 }
  beforeEach(() => start(legacy, ['--hardfork', 'berlin', '--gas-price', '3000000000']))
  afterEach(() => site.stop())

  it('signs transactions of type 0 at the gas price of the node, and the node takes them', async () => {
    const prepared = await prepare()
    expect(prepared.gas).to.deep.equal({ gasLimit: 21_000n, gasPriceRaw: 3n * gwei, gasCostRaw: 63_000n * gwei })
    const sealed = await seal(prepared)
    expect(Transaction.from(hexlify(sealed.raw))).to.include({ type: 0, gasPrice: 3n * gwei, chainId: 31337n, from: wallet, nonce: 0 })
    expect(await site.chain.rail.send(sealed, at)).to.include({ is: 'accepted' })
    await site.rpc('evm_mine')
    await mined(site, sealed.id)
    expect(await site.chain.find(sealed.id, at)).to.have.nested.property('receipt.status', 1)
  })

  it('quotes gas at that price', async () => {
    const { head } = await site.chain.reader.read([], at)
    expect(head).to.not.have.property('baseFeeRaw')
    expect((await site.chain.gas(100_000n, head, at)).gasPriceRaw).to.equal(3n * gwei)
    expect(site.chain.reader.gasPriceRaw(head)).to.equal(3n * gwei)
  })

  it('does not ask for an opcode that it does not have, which would use up the gas of all calls', async () => {
    const long = `0x${'11'.repeat(10_000)}`
    const calls = Array.from({ length: 60 }, () => identity(long))
    const { results } = await site.chain.reader.read(calls, at)
    expect(results.every(({ ok, data }) => ok && data === long)).to.equal(true)
  })

  it('takes a replacement at a higher gas price', async () => {
    const first = await prepare()
    expect(await site.chain.rail.send(await seal(first), at)).to.include({ is: 'accepted' })
    const head = await site.chain.head(at)
    const bumped = site.chain.rail.replace?.bump(first.fees, head)
    const fees: EvmFees = JSON.parse(JSON.stringify(bumped))
    expect(fees).to.deep.equal({ ...first.fees, maxFeePerGas: '3375000000', maxPriorityFeePerGas: '3375000000' })
    const again = await seal({ ...first, fees })
    expect(await site.chain.rail.send(again, at)).to.include({ is: 'accepted' })
    await site.rpc('evm_mine')
    await mined(site, again.id)
    expect((await prepare({}, fees)).fees).to.include({ maxFeePerGas: '3712500000', maxPriorityFeePerGas: '3712500000', legacy: true })
  })

  it('offers what the caller gives in either field, and never more than the maximum', async () => {
    const priceOf = async (feeOverrides: object) => {
      const { fees, gas } = await prepare(feeOverrides)
      expect(fees.maxFeePerGas).to.equal(fees.maxPriorityFeePerGas)
      expect(fees.maxFeePerGas).to.equal(String(gas.gasPriceRaw))
      return gas.gasPriceRaw
    }
    expect(await priceOf({ maxFeePerGasRaw: 5n * gwei })).to.equal(5n * gwei)
    expect(await priceOf({ maxPriorityFeePerGasRaw: 4n * gwei })).to.equal(4n * gwei)
    expect(await priceOf({ maxFeePerGasRaw: 5n * gwei, maxPriorityFeePerGasRaw: gwei })).to.equal(5n * gwei)
    const fees = (await prepare()).fees
    const head = await site.chain.head(at)
    expect(site.chain.rail.replace?.bump(fees, head, { maxFeePerGasRaw: 7n * gwei })).to.deep.equal({
      ...fees,
      maxFeePerGas: String(7n * gwei),
      maxPriorityFeePerGas: String(7n * gwei),
    })
  })

  it('says that a pending transaction pays enough', async () => {
    const sealed = await seal(await prepare())
    await site.chain.rail.send(sealed, at)
    expect(await site.chain.find(sealed.id, at)).to.include({ pays: true })
    const open = [{ id: sealed.id, from: wallet, step: transfer, sequence: 0, fees: (await prepare()).fees }]
    const { statuses } = await site.chain.rail.poll(open, await site.chain.head(at), at)
    expect(statuses[0]).to.include({ is: 'pending', underpriced: false })
  })
})

describe('a network with one gas price whose blocks have a base fee', () => {
  afterEach(() => site.stop())

  it('counts the base fee, which the price includes, once', async () => {
    await start({ legacyFees: true })
    const priceRaw = BigInt(String(await site.rpc('eth_gasPrice')))
    await site.chain.head(at)
    const { head } = await site.chain.reader.read([], at)
    expect((await site.chain.gas(1n, head, at)).gasPriceRaw).to.equal(priceRaw)
    const { fees, gas } = await prepare()
    expect(gas.gasPriceRaw).to.equal(priceRaw)
    const bumped: EvmFees = JSON.parse(JSON.stringify(site.chain.rail.replace?.bump(fees, { ...head, baseFeeRaw: priceRaw })))
    expect(bumped.maxFeePerGas).to.equal(bumped.maxPriorityFeePerGas)
  })
})

describe('a network without base fees whose plugin does not say so', () => {
  afterEach(() => site.stop())

  it('says that the plugin lacks legacyFees', async () => {
    await start({}, ['--hardfork', 'berlin'])
    expect(await rejection(prepare()))
      .to.include({ name: 'UNSUPPORTED' })
      .and.to.have.property('message')
      .that.contains('legacyFees')
  })
})

describe('the fee per gas of a network', () => {
  afterEach(() => site.stop())

  it("never goes below the network's minimum tip, whatever the node suggests", async () => {
    await start({ minTipGwei: 30 })
    expect((await prepare()).fees).to.include({ maxPriorityFeePerGas: String(30n * gwei) })
    const { head } = await site.chain.reader.read([], at)
    const { gasPriceRaw } = await site.chain.gas(1n, head, at)
    expect(gasPriceRaw).to.equal((head.baseFeeRaw ?? 0n) + 30n * gwei)
  })

  it('refuses an offer below the minimum before anything is signed', async () => {
    await start({ minTipGwei: 30 })
    for (const feeOverrides of [{ maxPriorityFeePerGasRaw: 29n * gwei }, { maxFeePerGasRaw: 20n * gwei }]) {
      const error = await rejection(prepare(feeOverrides))
      expect(error).to.include({ name: 'TRANSACTION_GAS_PRICE_TOO_LOW' }).and.to.have.property('message').that.contains('30 gwei')
    }
    expect((await prepare({ maxPriorityFeePerGasRaw: 30n * gwei })).fees).to.include({ maxPriorityFeePerGas: String(30n * gwei) })
  })

  it('follows the settings if they give another minimum tip', async () => {
    await start({ minTipGwei: 30 }, [], { feePolicy: { minTip: 2 } })
    expect((await prepare()).fees).to.include({ maxPriorityFeePerGas: String(2n * gwei) })
    expect(await rejection(prepare({ maxPriorityFeePerGasRaw: gwei }))).to.include({ name: 'TRANSACTION_GAS_PRICE_TOO_LOW' })
    await site.stop()
    await start({ minTipGwei: 2 }, [], { feePolicy: { minTip: 30 } })
    expect((await prepare()).fees).to.include({ maxPriorityFeePerGas: String(30n * gwei) })
    expect((await prepare({ maxPriorityFeePerGasRaw: 2n * gwei })).fees).to.include({ maxPriorityFeePerGas: String(2n * gwei) })
  })

  it('may be hundreds of gwei if the plugin allows it and the settings do not lower the cap', async () => {
    const expensive = ['--block-base-fee-per-gas', String(600n * gwei)]
    await start({ feeCapGwei: 5_000 }, expensive)
    expect(BigInt((await prepare()).fees.maxFeePerGas) >= 1_000n * gwei).to.equal(true)
    expect(site.chain.feeCapRaw).to.equal(5_000n * gwei)
    await site.stop()
    await start({ feeCapGwei: 5_000 }, expensive, { feeCap: 400 })
    expect(await rejection(prepare())).to.include({ name: 'TRANSACTION_GAS_PRICE_TOO_LOW' })
  })

  it('may be a tip alone', async () => {
    await start({ minTipGwei: 0.05 }, ['--block-base-fee-per-gas', '0'])
    const { fees, gas } = await prepare()
    const tip = BigInt(fees.maxPriorityFeePerGas)
    expect(tip >= gwei / 20n).to.equal(true)
    expect(BigInt(fees.maxFeePerGas)).to.equal(tip)
    expect(gas.gasPriceRaw).to.equal(tip)
    const { head } = await site.chain.reader.read([], at)
    expect(head.baseFeeRaw ?? 0n).to.equal(0n)
    expect((await site.chain.gas(1n, head, at)).gasPriceRaw).to.equal(tip)
    const sealed = await seal({ ...(await prepare()), fees })
    expect(await site.chain.rail.send(sealed, at)).to.include({ is: 'accepted' })
    const again: EvmFees = JSON.parse(JSON.stringify(site.chain.rail.replace?.bump(fees, await site.chain.head(at))))
    expect(await site.chain.rail.send(await seal({ ...(await prepare()), fees: again }), at)).to.include({ is: 'accepted' })
  })
})

describe('a network whose coin is itself a token', () => {
  afterEach(() => site.stop())
  const token = '0x471EcE3750Da237f93B8E339c536989b8978a438'

  it('keeps back what the gas costs: not all of the coin can be traded', async () => {
    await start({ coinIsToken: true, wrapped: { symbol: 'CELO', address: token, decimals: 18 } })
    expect(site.chain.nativeCurrency).to.deep.equal({ symbol: 'CELO', address: token, decimals: 18 })
    // balanceOf(address): PUSH1 4 CALLDATALOAD BALANCE PUSH0 MSTORE PUSH1 32 PUSH0 RETURN
    await site.rpc('anvil_setCode', token, '0x600435315f5260205ff3')
    const [heldRaw = 0n] = await site.chain.balances(wallet, [site.chain.nativeCurrency], at)
    expect(heldRaw).to.equal(BigInt(String(await site.rpc('eth_getBalance', wallet, 'latest'))))
    const trade = (amountRaw: bigint) =>
      site.chain.rail.check([transfer], [{ is: 'balance', token, amountRaw }], wallet, { feeOverrides: {} }, at)
    expect(await rejection(trade(heldRaw))).to.include({ name: 'OUT_OF_GAS' })
    expect((await trade(heldRaw - gwei * gwei)).prepared).to.have.length(1)
  })
})

describe('the gas of one transaction', () => {
  afterEach(() => site.stop())
  /** Burns about so much: counts down, 26 gas a turn. */
  const burner = '0x00000000000000000000000000000000000000bb'
  const burn = (gas: number): EvmIntent => ({
    to: burner,
    data: `0x${Math.floor(gas / 26)
      .toString(16)
      .padStart(64, '0')}`,
    value: '0',
  })

  it("never exceeds the network's maximum, and a step that needs more is refused", async () => {
    await start({ maxGas: 200_000n })
    // PUSH0 CALLDATALOAD; JUMPDEST PUSH1 1 SWAP1 SUB DUP1 PUSH1 2 JUMPI
    await site.rpc('anvil_setCode', burner, '0x5f355b600190038060025700')
    const { gasLimit } = (await prepare({}, undefined, burn(100_000))).gas
    expect(gasLimit > 100_000n && gasLimit < 200_000n).to.equal(true)
    expect((await prepare({}, undefined, burn(150_000))).gas.gasLimit).to.equal(200_000n)
    expect(await rejection(prepare({}, undefined, burn(400_000))))
      .to.include({ name: 'OUT_OF_GAS' })
      .and.to.have.property('message')
      .that.contains('200000')
    expect((await site.chain.gas(100_000n, undefined, at)).gasLimit).to.equal(150_000n)
    expect((await site.chain.gas(199_999n, undefined, at)).gasLimit).to.equal(200_000n)
  })
})

describe("a block's number", () => {
  afterEach(() => site.stop())

  it("comes from the network's own call, with probes and without", async () => {
    // Arbitrum's ArbSys: arbBlockNumber().
    const blockNumberCall = { to: '0x0000000000000000000000000000000000000064', data: '0xa3b1b31d' }
    await start({ blockNumberCall })
    await site.rpc('anvil_setCode', blockNumberCall.to, '0x6104d25f5260205ff3')
    for (const calls of [[], [{ code: '0x60015f5260205ffd' }]])
      expect((await site.chain.reader.read(calls, at)).head.number).to.equal(1234n)
  })
})

describe('a network where gas pays for layer 1, as on Arbitrum', () => {
  it('uses the limit of the estimate, and adds to later steps what their simulation leaves out', async () => {
    const node = await startFakeNode(
      answering({
        eth_getBlockByNumber: { ...fakeBlock(8), gasLimit: toQuantity(2n ** 50n) },
        eth_getTransactionCount: '0x1',
        eth_maxPriorityFeePerGas: '0x0',
        eth_call: `0x${[32, 1, 32, 1, 64, 32, 10n ** 18n].map((word) => word.toString(16).padStart(64, '0')).join('')}`,
        eth_estimateGas: toQuantity(40_000_000),
        eth_simulateV1: [{ calls: [30_000, 50_000].map((gas) => ({ status: '0x1', gasUsed: toQuantity(gas) })) }],
      }),
    )
    const { chain } = chainOver({ rpcUrls: [node.url] })
    try {
      const { prepared } = await chain.rail.check([transfer, transfer], [], wallet, { feeOverrides: {} }, at)
      const beyond = 40_000_000n - 45_000n
      expect(prepared.map(({ gas }) => gas.gasLimit)).to.deep.equal([50_000_000n, 75_000n + beyond])
    } finally {
      await chain.stop?.()
      await node.close()
    }
  })
})
