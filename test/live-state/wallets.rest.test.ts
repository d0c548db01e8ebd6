import { expect } from 'chai'
import { AbiCoder, concat, Interface, keccak256, MaxUint256, toBeHex } from 'ethers'
import type { Basis, FeeOverrides, Need } from '../../core/contracts/index.ts'
import testToken from '../../plugins/ethereum/artifacts/TestToken.json' with { type: 'json' }
import type { GasProfile, EvmIntent } from '../../kits/evm/types.ts'
import type { EvmFees } from '../../kits/evm/fees.ts'
import { type StateSnapshot, createStateSource } from '../../core/live-state/tracked-states.ts'
import { createSynchroniser, type Synchroniser } from '../../core/live-state/synchroniser.ts'
import type { Account, Holding } from '../../kits/evm/wallets.ts'
import { at, place, startStillChain, wallet, type TestChain } from '../kits/evm/test-chain.ts'
import { keeping } from './keeping.ts'
import { createRecorder, until } from './recorder.ts'

const erc20 = new Interface([
  'function mint(address to, uint256 value)',
  'function approve(address spender, uint256 value)',
  'function transfer(address to, uint256 value)',
  'function transferFrom(address from, address to, uint256 value)',
  'function balanceOf(address) view returns (uint256)',
  'function allowance(address, address) view returns (uint256)',
  'function deposit() payable',
  'function withdraw(uint256 value)',
])
const token = '0x00000000000000000000000000000000000000C1'
const silent = '0x00000000000000000000000000000000000000c2'
const wrapper = '0x00000000000000000000000000000000000000C3'
/** They are anvil's own: the node signs for them. */
const [spender, other] = ['0x70997970C51812dc3A010C7d01b50e0d17dc79C8', '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC']

describe('balances and allowances of wallets, kept in memory by the logs of a real node', function () {
  this.timeout(300_000)
  let test: TestChain
  let sync: Synchroniser
  let recorder: ReturnType<typeof createRecorder>
  let told: string[]
  before(async () => {
    const wrapped = { symbol: 'WETH', address: wrapper, decimals: 18 }
    test = await startStillChain({ config: { pollingSeconds: 0.05 }, definition: { wrapped } })
    const made = concat([testToken.bytecode, AbiCoder.defaultAbiCoder().encode(['string', 'string', 'uint8'], ['Token', 'T', 18])])
    const code = await test.rpc('eth_call', { data: made }, 'latest')
    for (const each of [token, silent]) await test.rpc('anvil_setCode', each, code)
    await place(test.rpc, wrapper, 'plugins/ethereum/artifacts/WETH9.json')
    await test.rpc('evm_mine')
    recorder = createRecorder()
    told = recorder.told
    await follow(1)
  })
  after(async () => {
    sync?.stop()
    await test?.stop()
  })

  /** Anew. */
  async function follow(checkSeconds: number): Promise<void> {
    sync?.stop()
    const on = { chain: 'ethereum', network: 'local' }
    sync = createSynchroniser({ chain: test.chain, subject: on, telemetry: recorder.telemetry, ...keeping, checkSeconds })
    await known(token)
  }
  const send = (from: string, to: string, name: string, args: readonly unknown[], value = '0x0') =>
    test.rpc('eth_sendTransaction', { from, to, value, gas: '0x30d40', data: erc20.encodeFunctionData(name, args) })
  const mine = async () => {
    await test.rpc('evm_mine')
    await settled()
  }
  const settled = async () => {
    const { hash } = await test.chain.head(at)
    await until(() => sync.tip?.hash === hash, `block ${hash}`)
  }
  const asked = async (to: string, name: string, args: readonly unknown[]) =>
    BigInt(String(await test.rpc('eth_call', { to, data: erc20.encodeFunctionData(name, args) }, 'latest')))
  const balanceOf = (of: string, owner = wallet) => asked(of, 'balanceOf', [owner])
  const allowanceOf = (of: string) => asked(of, 'allowance', [wallet, spender])

  /** What a plan that sells the token through the spender is checked by. */
  const step = { to: spender, data: '0x', value: '0', alike: { kind: 'swap', units: '100000', through: ['pool'] } }
  const needsOf = (sold: string): readonly Need[] => [
    { is: 'balance', token: sold, amountRaw: 1n },
    { is: 'allowance', token: sold, spender, amountRaw: 1n },
  ]
  const basisOf = (sold: string, owner: string): readonly Basis[] =>
    test.chain.rail.cachedChecks?.basis([step], needsOf(sold), owner) ?? expect.fail('An EVM chain has a recall.')
  function viewOf(sold: string, owner: string): Promise<StateSnapshot> {
    const subject = { chain: 'ethereum', network: 'local' }
    const parts = basisOf(sold, owner).map(({ followed, ...part }) => ({ ...part, source: createStateSource(subject, followed) }))
    return sync.bundle(parts).read(at)
  }
  async function known(sold: string, owner = wallet): Promise<{ account: Account; holding: Holding; allowanceRaw: bigint | undefined }> {
    const [account, holding] = (await viewOf(sold, owner)).states as [Account, Holding]
    return { account, holding, allowanceRaw: holding.allowances.get(spender.toLowerCase()) }
  }
  /** As the chain has it. */
  async function isExact(sold: string): Promise<void> {
    const { account, holding, allowanceRaw } = await known(sold)
    expect(holding.balanceRaw).to.equal(await balanceOf(sold))
    expect(allowanceRaw).to.equal(await allowanceOf(sold))
    expect(account.nativeRaw).to.equal(BigInt(String(await test.rpc('eth_getBalance', wallet, 'latest'))))
    expect(account.latest).to.equal(Number(await test.rpc('eth_getTransactionCount', wallet, 'latest')))
    expect(account.number).to.equal(sync.tip?.number)
  }

  it('equal coins, nonces, tokens and allowances on the chain after each block, by one batch a block', async () => {
    // A comparison asks for the same.
    await follow(3600)
    await send(wallet, token, 'mint', [wallet, 1000n])
    await send(wallet, token, 'approve', [spender, 500n])
    await mine()
    await isExact(token)
    await send(wallet, token, 'transfer', [other, 30n])
    await send(spender, token, 'transfer', [wallet, 0n])
    await send(other, token, 'mint', [wallet, 7n])
    // Before the block, which may be asked about before it is known here that it was made.
    test.asked()
    await mine()
    const logs = ['eth_getBlockTransactionCountByHash', 'eth_getLogs', 'eth_getLogs']
    const batch = [...logs, 'eth_getTransactionCount', 'eth_getTransactionCount', 'eth_getBalance']
    expect(test.asked().filter((method) => batch.includes(method))).to.deep.equal(batch)
    const { holding } = await known(token)
    expect(holding.balanceRaw).to.equal(977n)
    await follow(1)
  })

  it('never exceed those on the chain, for a token that does not log used allowances', async () => {
    await send(wallet, token, 'approve', [spender, 500n])
    await mine()
    await isExact(token)
    await send(spender, token, 'transferFrom', [wallet, other, 100n])
    await mine()
    await isExact(token)
    await send(wallet, token, 'transfer', [other, 50n])
    await mine()
    expect((await known(token)).allowanceRaw).to.equal(350n)
    expect(await allowanceOf(token)).to.equal(400n)
  })

  it('keep an unlimited allowance unchanged', async () => {
    await send(wallet, token, 'approve', [spender, MaxUint256])
    await send(spender, token, 'transferFrom', [wallet, other, 100n])
    await mine()
    await isExact(token)
  })

  it('include coins that are wrapped and unwrapped without a transfer', async () => {
    await known(wrapper)
    await send(wallet, wrapper, 'deposit', [], '0x64')
    await mine()
    await isExact(wrapper)
    await send(wallet, wrapper, 'withdraw', [40n])
    await mine()
    await isExact(wrapper)
    expect((await known(wrapper)).holding.balanceRaw).to.equal(60n)
  })

  it('go back with a reorganisation', async () => {
    await isExact(token)
    await send(wallet, token, 'approve', [spender, 5n])
    await send(wallet, token, 'transfer', [other, 1n])
    await mine()
    expect((await known(token)).allowanceRaw).to.equal(4n)
    await test.rpc('anvil_reorg', 1, [])
    await mine()
    await isExact(token)
    expect((await known(token)).allowanceRaw).to.equal(MaxUint256)
  })

  it('include pending transactions', async () => {
    const before = (await known(token)).account
    await send(wallet, token, 'transfer', [other, 1n])
    await mine()
    await send(wallet, token, 'transfer', [other, 1n])
    await send(other, token, 'transfer', [spender, 1n])
    const { account } = await known(token)
    expect([account.latest, account.pending]).to.deep.equal([before.latest + 1, before.latest + 1])
    await mine()
  })

  it('miss nothing for a wallet that is added while a block is queried without it', async () => {
    await Promise.all([mine(), known(token, other)])
    for (let round = 0; round < 5; round += 1) {
      await send(wallet, token, 'transfer', [other, 1n])
      await mine()
      expect((await known(token, other)).holding.balanceRaw).to.equal(await balanceOf(token, other))
    }
  })

  describe('replace the simulation of a call', () => {
    const sold = { to: token, data: erc20.encodeFunctionData('transfer', [other, 1n]), value: '0', alike: step.alike }
    const recalled = async (call: EvmIntent = sold, needs = needsOf(token), wish: FeeOverrides = {}) => {
      const { states, head } = await viewOf(token, wallet)
      return test.chain.rail.cachedChecks?.check([call], needs, wallet, wish, states, head)
    }
    const isUnknown = async (...what: Parameters<typeof recalled>) => expect(await recalled(...what)).to.equal(undefined)
    const alike = (change: Partial<GasProfile>) => ({ ...sold, alike: { ...sold.alike, ...change } })
    const check = () => test.chain.rail.check([sold], needsOf(token), wallet, { feeOverrides: {} }, at)

    it('computes the same fees and nonces as a simulation, and a sufficient gas limit', async () => {
      await isUnknown()
      const asked = await check()
      const found = await recalled()
      if (!found || 'missing' in found) expect.fail('It is known.')
      expect(found.synced).to.deep.equal(asked.synced)
      const [one, other] = [asked.prepared[0]?.fees, found.prepared[0]?.fees] as EvmFees[]
      expect({ ...other, gasLimit: '' }).to.deep.equal({ ...one, gasLimit: '' })
      expect(Number(other?.gasLimit) - Number(one?.gasLimit)).to.equal(20_000)
      expect(found.checkFunds(0n)).to.equal(undefined)
      expect(found.checkFunds(10n ** 30n)).to.include({ name: 'INSUFFICIENT_BALANCE' })
    })

    it('adds the gas that the quote asks for', async () => {
      const gasOf = async (units: string) => {
        const found = await recalled(alike({ units }))
        return found && 'prepared' in found ? found.prepared[0]?.gas.gasLimit : undefined
      }
      expect(await gasOf('140000')).to.equal(((await gasOf('100000')) ?? 0n) + 50_000n)
      expect(await gasOf('40000000'), 'more than a block has').to.equal(undefined)
    })

    it('does not check other calls, nor calls that would be refused', async () => {
      await isUnknown(alike({ kind: 'another' }))
      await isUnknown(alike({ through: [...sold.alike.through, 'another pool'] }))
      await isUnknown(sold, needsOf(token), { maxFeePerGasRaw: 1n })
      await isUnknown(sold, needsOf(token), { maxFeePerGasRaw: 10n ** 30n })
      await isUnknown({ ...sold, value: String(10n ** 30n) })
      expect(await recalled(sold, [{ is: 'balance', token, amountRaw: 10n ** 30n }])).to.deep.equal({ missing: [{ index: 1, more: null }] })
      const { cachedChecks } = test.chain.rail
      const atMost: Need = { is: 'allowance-at-most', token, spender, amountRaw: 0n }
      expect(cachedChecks?.basis([sold], [atMost], wallet)).to.equal(undefined)
      expect(cachedChecks?.basis([sold, sold], needsOf(token), wallet)).to.equal(undefined)
      const { states, head } = await viewOf(token, wallet)
      expect(cachedChecks?.check([sold], needsOf(token), wallet, {}, states, { ...head, number: head.number + 1n })).to.equal(undefined)
      expect(cachedChecks?.check([sold], needsOf(token), other, {}, states, head)).to.equal(undefined)
    })

    it('stops after one of them fails on the chain', async () => {
      expect(await recalled()).to.be.an('object')
      const id = String(await send(wallet, token, 'transferFrom', [other, spender, 1n]))
      await mine()
      const open = { id, from: wallet, step: sold, sequence: 0, fees: { gasLimit: '1', maxFeePerGas: '1', maxPriorityFeePerGas: '1' } }
      await test.chain.rail.poll([open], await test.chain.head(at), at)
      await isUnknown()
      await check()
      expect(await recalled()).to.be.an('object')
    })
  })

  it('do not serve a token whose balances change without logs, once a comparison has shown it', async () => {
    await send(wallet, silent, 'mint', [wallet, 1000n])
    await mine()
    await isExact(silent)
    // Its mapping of balances is the fourth of its variables.
    const storageSlot = keccak256(AbiCoder.defaultAbiCoder().encode(['address', 'uint256'], [wallet, 3n]))
    expect(told.filter((each) => each.startsWith('different'))).to.deep.equal([])
    await test.rpc('anvil_setStorageAt', silent, storageSlot, toBeHex(999n, 32))
    await mine()
    await until(() => told.some((each) => each.startsWith('different')), told.join())
    expect(test.chain.rail.cachedChecks?.basis([step], needsOf(silent), wallet)).to.equal(undefined)
    expect(test.chain.rail.cachedChecks?.basis([step], needsOf(token), wallet)).to.have.length(2)
  })
})
