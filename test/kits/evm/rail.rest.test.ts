import { readFile } from 'node:fs/promises'
import { AbiCoder, MaxUint256, Transaction, hexlify, id, parseEther, toQuantity } from 'ethers'
import { expect } from 'chai'
import type { Need } from '../../../core/contracts/index.ts'
import { addressOf, erc20, gwei, nowhere, rejection, sign, soon, startSite, until, type TestSite } from '../../transactions/site.ts'

const owner = addressOf(0)
const native = '0x0000000000000000000000000000000000000000'
const at = () => ({ signal: soon() })
const transfer = { to: nowhere, data: '0x', value: '1' }

const sending = (valueRaw: bigint) => [{ ...transfer, value: String(valueRaw) }]

/** Code that reverts with these bytes: a copy of what follows it, then REVERT. */
function reverting(data: string): string {
  const size = ((data.length - 2) / 2).toString(16).padStart(4, '0')
  return `0x61${size}600f5f3961${size}5ffd${'00'.repeat(3)}${data.slice(2)}`
}

describe('the rail of EVM chains', () => {
  let site: TestSite
  let token: string
  const check = (steps = [transfer], needs: readonly Need[] = [], feeOverrides = {}) =>
    site.chain.rail.check(steps, needs, owner, { feeOverrides }, at())

  before(async () => {
    site = await startSite()
    const artifact: unknown = JSON.parse(
      await readFile(new URL('../../../plugins/ethereum/artifacts/TestToken.json', import.meta.url), 'utf8'),
    )
    const args = AbiCoder.defaultAbiCoder().encode(['string', 'string', 'uint8'], ['Test dollar', 'USDX', 6])
    const sent = await site.rpc('eth_sendTransaction', {
      from: owner,
      data: `${String(Reflect.get(Object(artifact), 'bytecode'))}${args.slice(2)}`,
    })
    await site.mine()
    token = String(Reflect.get(Object(await site.rpc('eth_getTransactionReceipt', sent)), 'contractAddress'))
    const mint = `${id('mint(address,uint256)').slice(0, 10)}${AbiCoder.defaultAbiCoder().encode(['address', 'uint256'], [owner, 1_500_000n]).slice(2)}`
    await site.rpc('eth_sendTransaction', { from: owner, to: token, data: mint })
    await site.mine()
  })
  after(() => site.stop())

  it('checks everything in one batch', async () => {
    await check()
    const known = site.relay.requests.length
    await check(
      [transfer],
      [
        { is: 'balance', token, amountRaw: 1n },
        { is: 'balance', token: native, amountRaw: 1n },
      ],
    )
    expect(site.relay.requests.slice(known)).to.have.length(1)
  })

  it("says what the wallet lacks, in the token's units", async () => {
    const error = await rejection(
      check(
        [transfer],
        [
          { is: 'allowance', token, spender: nowhere, amountRaw: 1n },
          { is: 'balance', token, amountRaw: 2_000_000n },
        ],
      ),
    )
    expect(error).to.include({ name: 'INSUFFICIENT_BALANCE' })
    expect(error.details).to.deep.equal({ token: 'USDX', tokenAddress: token, current: '1.500000', needed: '2.000000' })
  })

  it('names the spender and the missing allowance', async () => {
    const error = await rejection(check([transfer], [{ is: 'allowance', token, spender: nowhere, amountRaw: 1n }]))
    expect(error).to.include({ name: 'INSUFFICIENT_ALLOWANCE' })
    expect(error.details).to.deep.equal({ spender: nowhere, token: 'USDX', tokenAddress: token, current: '0.000000', needed: '0.000001' })
  })

  it('refuses an allowance that is too large', async () => {
    const spender = addressOf(1)
    const atMost = (amountRaw: bigint) => ({ is: 'allowance-at-most', token, spender, amountRaw }) as const
    await check([transfer], [atMost(0n)])
    await site.rpc('eth_sendTransaction', { from: owner, to: token, data: erc20.encodeFunctionData('approve', [spender, 5n]) })
    await site.mine()
    await check([transfer], [atMost(5n)])
    const error = await rejection(check([transfer], [atMost(4n)]))
    expect(error).to.include({ name: 'TRADE_FAILED' })
    expect(error.message).to.contain(spender).and.to.contain('USDX')
  })

  it('distinguishes a missing value from missing gas', async () => {
    const balance = BigInt(String(await site.rpc('eth_getBalance', owner, 'latest')))
    const poor = await rejection(check(sending(balance + 1n)))
    expect(poor).to.include({ name: 'INSUFFICIENT_BALANCE' })
    expect(poor.details).to.include({ token: 'ETH' })
    expect(await rejection(check(sending(balance)))).to.include({ name: 'OUT_OF_GAS' })
    expect(await rejection(check(sending(balance - 21_000n)))).to.include({ name: 'OUT_OF_GAS' })
  })

  const reverts = [
    { says: 'UniswapV2: K', data: `0x08c379a0${AbiCoder.defaultAbiCoder().encode(['string'], ['UniswapV2: K']).slice(2)}` },
    {
      says: 'panic 0x11: arithmetic overflow or underflow',
      data: `0x4e487b71${AbiCoder.defaultAbiCoder().encode(['uint256'], [0x11]).slice(2)}`,
    },
    { says: 'custom error 0x12345678', data: '0x12345678' },
    { says: 'reverted without a reason', data: '0x' },
  ]
  for (const { says, data } of reverts) {
    it(`refuses a call that would revert with "${says}"`, async () => {
      const contract = '0x00000000000000000000000000000000000000c1'
      await site.rpc('anvil_setCode', contract, reverting(data))
      const error = await rejection(check([{ to: contract, data: '0x', value: '0' }]))
      expect(error).to.include({ name: 'TRADE_FAILED' })
      expect(error.details).to.deep.equal({ reason: says })
    })
  }

  it('simulates the second step after the first', async () => {
    const approve = { to: token, data: erc20.encodeFunctionData('approve', [nowhere, 5n]), value: '0' }
    const { prepared } = await check([approve, approve])
    const [first, second] = prepared.map(({ gas }) => gas.gasLimit)
    // Rewriting a slot that the transaction before set costs less than setting it.
    expect(Number(second)).to.be.greaterThan(21_000).and.lessThan(Number(first))
    const tooMuch = { to: token, data: erc20.encodeFunctionData('transfer', [nowhere, 1_000_000n]), value: '0' }
    expect(await rejection(check([tooMuch, tooMuch]))).to.include({ name: 'TRADE_FAILED' })
  })

  it('adds a margin to the estimate, but not for a plain transfer', async () => {
    const approve = { to: token, data: erc20.encodeFunctionData('approve', [nowhere, MaxUint256]), value: '0' }
    const estimate = BigInt(String(await site.rpc('eth_estimateGas', { from: owner, to: token, data: approve.data })))
    expect((await check([approve])).prepared[0]?.gas.gasLimit).to.equal((estimate * 5n) / 4n)
    expect((await check()).prepared[0]?.gas.gasLimit).to.equal(21_000n)
  })

  it('refuses fees above the cap and names the unit, and fees below the base fee', async () => {
    const wei = await rejection(check([transfer], [], { maxFeePerGasRaw: parseEther('20') }))
    expect(wei).to.include({ name: 'INCOMPLETE_PARAMS' })
    expect(wei.message).to.contain('maxFeePerGas').and.to.contain('gwei, not wei')
    expect(await rejection(check([transfer], [], { maxFeePerGasRaw: 1n }))).to.include({ name: 'TRANSACTION_GAS_PRICE_TOO_LOW' })
  })

  it("drafts a transaction of type 2, whose hash is the node's after sealing", async () => {
    const { rail } = site.chain
    const { prepared, synced } = await check()
    const [sequence = null] = rail.claim(synced, [], 1)
    const [step] = prepared
    if (!step) throw new Error('Nothing was prepared.')
    const draft = rail.draft(step, sequence)
    const sealed = rail.seal(draft, await sign({ chain: 'ethereum', network: 'local', address: owner, signable: draft }))
    const tx = Transaction.from(hexlify(sealed.raw))
    expect(tx).to.include({ type: 2, chainId: 31337n, from: owner, to: nowhere, value: 1n, nonce: rail.nonceOf(sequence), hash: sealed.id })
    expect(await rail.send(sealed, at())).to.include({ is: 'accepted' })
    expect(await site.rpc('eth_getTransactionByHash', sealed.id)).to.include({ hash: sealed.id })
    await until('it is mined', async () => (await site.rpc('eth_getTransactionReceipt', sealed.id)) !== null)
    const again = await rail.send(sealed, at())
    // It may be this very one that used the nonce.
    expect(again.is).to.equal('unclear')
    expect(again).to.have.property('reason').that.matches(/nonce/)
  })

  it('counts "already known" as accepted, and a lost connection as unclear', async () => {
    const { rail } = site.chain
    await site.rpc('evm_setAutomine', false)
    const { prepared, synced } = await check([transfer], [], { maxFeePerGasRaw: 50n * gwei, maxPriorityFeePerGasRaw: gwei })
    const [step] = prepared
    const [sequence = null] = rail.claim(synced, [], 1)
    if (!step) throw new Error('Nothing was prepared.')
    const draft = rail.draft(step, sequence)
    const sealed = rail.seal(draft, await sign({ chain: 'ethereum', network: 'local', address: owner, signable: draft }))
    site.relay.meddle = () => 'cut-after'
    expect((await rail.send(sealed, at())).is).to.equal('unclear')
    await site.heal()
    expect(await rail.send(sealed, at())).to.include({ is: 'accepted' })
    await site.rpc('evm_setAutomine', true)
    await site.mine()
  })

  it('recognises pending, landed, unseen and dead attempts', async () => {
    const { rail } = site.chain
    const nonce = await site.rpc('eth_getTransactionCount', owner, 'latest')
    const landed = String(await site.rpc('eth_sendTransaction', { from: owner, to: nowhere, value: '0x1' }))
    await site.mine()
    await site.rpc('evm_setAutomine', false)
    // It may have come in that block or in one of its own.
    const number = await site.rpc('eth_blockNumber')
    const pending = String(await site.rpc('eth_sendTransaction', { from: owner, to: nowhere, value: '0x2' }))
    const sequence = Number(nonce)
    const fees = { gasLimit: '21000', maxFeePerGas: String(50n * gwei), maxPriorityFeePerGas: '0' }
    const nobody = `0x${'ab'.repeat(32)}`
    const open = [
      { id: landed, from: owner, step: null, sequence, fees },
      { id: pending, from: owner, step: null, sequence: sequence + 1, fees: { ...fees, maxFeePerGas: '1' } },
      { id: nobody, from: owner, step: null, sequence: sequence + 2, fees },
      { id: toQuantity(1).padEnd(66, '0'), from: owner, step: null, sequence, fees },
    ]
    const head = { number: BigInt(String(number)), timestamp: 0 }
    const { statuses, synced } = await rail.poll(open, head, at())
    expect(statuses.map(({ is }) => is)).to.deep.equal(['landed', 'pending', 'unseen', 'dead'])
    expect(statuses[0]).to.include({ ok: true })
    expect(statuses[1]).to.include({ underpriced: true })
    expect(statuses[3]).to.include({ by: landed })
    expect(synced.get(owner)).to.deep.equal({ latest: sequence + 1, pending: sequence + 2 })
    await site.rpc('evm_setAutomine', true)
    await site.mine()
  })
})
