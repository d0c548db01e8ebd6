import { expect } from 'chai'
import { assert, bigInt, property } from 'fast-check'
import { Interface, hexlify, id, toBeHex, toQuantity, zeroPadValue } from 'ethers'
import type { Prepared } from '../../../core/contracts/index.ts'
import { chargesOf } from '../../../kits/evm/op-stack.ts'
import type { EvmFees } from '../../../kits/evm/fees.ts'
import type { EvmIntent } from '../../../kits/evm/index.ts'
import { sign } from '../../transactions/site.ts'
import { at, mined, place, startStillChain, wallet, type TestChain } from './test-chain.ts'

// https://specs.optimism.io/protocol/predeploys.html
const l1Block = '0x4200000000000000000000000000000000000015'
const gasPriceOracle = '0x420000000000000000000000000000000000000F'
const fjordOracle = '0x00000000000000000000000000000000000f0d00'
const gwei = 10n ** 9n

const [l1BaseFee, blobBaseFee, baseFeeScalar, blobBaseFeeScalar] = [30n * gwei, 2n * gwei, 5_227n, 1_014_213n]
const operatorFee = { scalar: 1_234_567n, constant: 9_876_543_210n }
const operatorFeeRaw = (gas: bigint) => (gas * operatorFee.scalar) / 1_000_000n + operatorFee.constant

const oracle = new Interface(['function getL1Fee(bytes) view returns (uint256)', 'function getOperatorFee(uint256) view returns (uint256)'])

/** Says the operator fee, as Isthmus' oracle does, and lets Fjord's say all else: no package has the bytecode of a newer one. */
function isthmusOracle(): string {
  const asksOperatorFee = `5f3560e01c63${oracle.getFunction('getOperatorFee')?.selector.slice(2) ?? ''}14603d57`
  const forward = `365f5f375f5f365f5f73${fjordOracle.slice(2)}5af1503d5f5f3e3d5ff3`
  const answer = `5b63${hex(operatorFee.scalar, 4)}60043502620f4240900467${hex(operatorFee.constant, 8)}015f5260205ff3`
  const dest = (asksOperatorFee.length + forward.length) / 2
  return `0x${asksOperatorFee.replace('603d57', `60${hex(BigInt(dest), 1)}57`)}${forward}${answer}`
}

const hex = (value: bigint, bytes: number) => toBeHex(value, bytes).slice(2)

/** A rollup where anvil charges by what layer 1's contract holds, as the chain does. */
async function startRollup(): Promise<TestChain> {
  const flags = ['--network', 'optimism', '--hardfork', 'isthmus']
  const site = await startStillChain({ flags, definition: { rollup: 'op-stack' } })
  // Anvil charges calls too, and who calls is nobody.
  await site.rpc('anvil_setBalance', '0x0000000000000000000000000000000000000000', toQuantity(10n ** 24n))
  await place(site.rpc, l1Block, 'test/fixtures/op-stack/L1Block.json')
  await place(site.rpc, fjordOracle, 'test/fixtures/op-stack/GasPriceOracle.json')
  const store = (address: string, slot: number, value: bigint) =>
    site.rpc('anvil_setStorageAt', address, toBeHex(slot, 32), zeroPadValue(toBeHex(value), 32))
  // Layout of L1Block: packages/contracts-bedrock/src/L2/L1Block.sol; the operator fee's slot since Isthmus is the eighth.
  await store(l1Block, 1, l1BaseFee)
  await store(l1Block, 3, (baseFeeScalar << 96n) | (blobBaseFeeScalar << 64n))
  await store(l1Block, 7, blobBaseFee)
  // isEcotone, isFjord
  await store(fjordOracle, 0, 0x0101n)
  return site
}

/** Well above the hundred bytes that are charged at least. */
const incompressible = `0x${['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'].map((seed) => id(seed).slice(2)).join('')}`

describe("an operator's fee", () => {
  const results = (...values: readonly bigint[]) => values.map((value) => ({ ok: true, data: toBeHex(value, 32) }))
  const [scalar, constant] = [bigInt(0n, 2n ** 32n - 1n), bigInt(0n, 2n ** 64n - 1n)]
  const formulas = {
    Isthmus: (gas: bigint, by: bigint, to: bigint) => (gas * by) / 1_000_000n + to,
    Jovian: (gas: bigint, by: bigint, to: bigint) => gas * by * 100n + to,
  }

  for (const [fork, formula] of Object.entries(formulas)) {
    it(`equals to the unit what the oracle of ${fork} would return for that much gas`, () => {
      assert(
        property(scalar, constant, bigInt(0n, 2n ** 32n), (by, to, gas) => {
          const [charge] = chargesOf(results(7n, formula(0n, by, to), formula(1_000_000n, by, to))) ?? []
          expect(charge?.dataFeeRaw).to.equal(7n)
          expect(charge?.operatorFeeRaw(gas)).to.equal(formula(gas, by, to))
        }),
      )
    })
  }
})

describe('a rollup of the OP stack', () => {
  let site: TestChain
  const swap = { to: '0x000000000000000000000000000000000000dEaD', data: incompressible, value: '1' }
  const check = (steps: readonly EvmIntent[] = [swap]) => site.chain.rail.check(steps, [], wallet, { feeOverrides: {} }, at)
  const balance = async () => BigInt(String(await site.rpc('eth_getBalance', wallet, 'latest')))
  const chargeOf = ({ gas }: Prepared) => gas.gasCostRaw - gas.gasLimit * gas.gasPriceRaw
  const feesOf = (prepared: Prepared | undefined): EvmFees => JSON.parse(JSON.stringify(prepared?.fees))

  beforeEach(async () => {
    site = await startRollup()
  })
  afterEach(() => site.stop())

  async function setOracle(code: string): Promise<void> {
    await site.rpc('anvil_setCode', gasPriceOracle, code)
  }

  async function charge(): Promise<void> {
    await site.rpc('anvil_setStorageAt', l1Block, toBeHex(8, 32), `0x${hex((operatorFee.scalar << 64n) | operatorFee.constant, 32)}`)
    await setOracle(isthmusOracle())
  }

  it('adds to the cost what the chain then charges for data on layer 1 and for the operator', async () => {
    await charge()
    const { prepared } = await check()
    const [step] = prepared
    if (!step) throw new Error('Nothing was prepared.')
    const draft = site.chain.rail.draft(step, 0)
    const sealed = site.chain.rail.seal(draft, await sign({ chain: 'ethereum', network: 'local', address: wallet, signable: draft }))
    const before = await balance()
    await site.rpc('eth_sendRawTransaction', hexlify(sealed.raw))
    await site.rpc('evm_mine')
    await mined(site, sealed.id)
    const receipt = Object(await site.rpc('eth_getTransactionReceipt', sealed.id))
    const { gasUsed, effectiveGasPrice } = receipt
    const charged = before - (await balance()) - BigInt(swap.value) - BigInt(gasUsed) * BigInt(effectiveGasPrice)
    const dataFeeRaw = charged - operatorFeeRaw(BigInt(gasUsed))
    // All of the limit, and a signature and fees that nobody knew yet.
    const expected = chargeOf(step) - operatorFeeRaw(step.gas.gasLimit)
    expect(Math.abs(Number(expected) / Number(dataFeeRaw) - 1)).to.be.lessThan(0.05)
    expect(BigInt(feesOf(step).rollupFee ?? 0) >= charged, 'the most').to.equal(true)
    // Anvil charges the data, and its receipts do not say so: gas alone would be too little.
    const [landed] = (await site.chain.rail.poll([{ ...step, id: sealed.id, from: wallet, sequence: 0 }], await site.chain.head(at), at))
      .statuses
    if (landed?.is !== 'landed') throw new Error('It is not in a block.')
    const { rail } = site.chain
    expect(rail.paidFees?.(landed.receipt)).to.equal(undefined)
    const saying = (more: object) => rail.paidFees?.({ ...Object(landed.receipt), ...more })?.feeRaw
    expect(saying({ l1Fee: charged.toString() })).to.equal(charged + BigInt(gasUsed) * BigInt(effectiveGasPrice))
    // With a factor for the operator it also has to say which upgrade it is of.
    expect(saying({ l1Fee: dataFeeRaw.toString(), operatorFeeScalar: operatorFee.scalar.toString() })).to.equal(undefined)
  })

  it("uses the oracle's answer", async () => {
    await charge()
    const [step] = (await check()).prepared
    if (!step) throw new Error('Nothing was prepared.')
    const asked = oracle.encodeFunctionData('getOperatorFee', [step.gas.gasLimit])
    expect(BigInt(String(await site.rpc('eth_call', { to: gasPriceOracle, data: asked }, 'latest')))).to.equal(
      operatorFeeRaw(step.gas.gasLimit),
    )
    const data = oracle.encodeFunctionData('getL1Fee', [site.chain.rail.draft(step, 0).bytes])
    const said = BigInt(String(await site.rpc('eth_call', { to: gasPriceOracle, data }, 'latest')))
    expect(Math.abs(Number(chargeOf(step) - operatorFeeRaw(step.gas.gasLimit)) / Number(said) - 1)).to.be.lessThan(0.05)
  })

  it('needs no further request for a transaction or for the gas of a quote', async () => {
    await charge()
    await check()
    await site.chain.gas(1n, undefined, at)
    site.asked()
    await check()
    expect(site.asked()).to.have.length(6)
    const { head } = await site.chain.reader.read([], at)
    expect(site.asked()).to.deep.equal(['eth_call'])
    const { gasCostRaw, gasLimit, gasPriceRaw } = await site.chain.gas(100_000n, head, at)
    expect(site.asked()).to.deep.equal([])
    expect(gasCostRaw - gasLimit * gasPriceRaw > operatorFeeRaw(gasLimit)).to.equal(true)
  })

  it('asks for the fee itself if nothing was read for the quote', async () => {
    await charge()
    const { gasCostRaw, gasLimit, gasPriceRaw } = await site.chain.gas(100_000n, undefined, at)
    expect(gasCostRaw - gasLimit * gasPriceRaw > operatorFeeRaw(gasLimit)).to.equal(true)
  })

  it('refuses a wallet that cannot pay the charge on top of gas, and counts the charge of pending transactions', async () => {
    await charge()
    const checked = await check()
    const [step] = checked.prepared
    if (!step) throw new Error('Nothing was prepared.')
    const fees = feesOf(step)
    const gasRaw = BigInt(fees.gasLimit) * BigInt(fees.maxFeePerGas)
    const needed = 1n + gasRaw + BigInt(fees.rollupFee ?? 0)
    expect(site.chain.rail.cost(swap, fees)).to.equal(needed)
    const has = await balance()
    expect(checked.checkFunds(has - needed)).to.equal(undefined)
    expect(checked.checkFunds(has - needed + 1n)).to.have.property('name', 'INSUFFICIENT_BALANCE')
    await site.rpc('anvil_setBalance', wallet, toQuantity(needed - 1n))
    expect(await check().catch((error: unknown) => error)).to.have.property('name', 'OUT_OF_GAS')
    await site.rpc('anvil_setBalance', wallet, toQuantity(needed))
    expect((await check()).prepared).to.have.length(1)
  })

  it('keeps the charge when fees are raised', async () => {
    await charge()
    const [step] = (await check()).prepared
    const fees = feesOf(step)
    const head = { number: 1n, timestamp: 0, baseFeeRaw: gwei }
    for (const wish of [undefined, { maxFeePerGasRaw: 100n * gwei }])
      expect(site.chain.rail.replace?.bump(fees, head, wish)).to.include({ rollupFee: fees.rollupFee })
  })

  it('has no operator fee if the oracle does not know it yet', async () => {
    await setOracle(String(await site.rpc('eth_getCode', fjordOracle, 'latest')))
    await site.rpc('anvil_setStorageAt', gasPriceOracle, toBeHex(0, 32), toBeHex(0x0101, 32))
    const [step] = (await check()).prepared
    if (!step) throw new Error('Nothing was prepared.')
    expect(chargeOf(step) * 2n).to.equal(BigInt(feesOf(step).rollupFee ?? 0))
    expect(chargeOf(step) > 0n).to.equal(true)
  })

  it('throws if there is no oracle', async () => {
    for (const work of [() => check(), () => site.chain.reader.read([], at), async () => site.chain.gas(1n, undefined, at)]) {
      const error = await work().catch((failure: unknown) => failure)
      expect(error).to.include({ name: 'NETWORK' }).and.to.have.property('message').that.contains('GasPriceOracle')
    }
  })
})
