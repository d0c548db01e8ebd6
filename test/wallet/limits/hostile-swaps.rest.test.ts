import { expect } from 'chai'
import { Interface, Signature, Transaction, Wallet, hexlify, toQuantity } from 'ethers'
import { SluiceError } from '../../../core/base/errors.ts'
import type { Token } from '../../../core/contracts/index.ts'
import { saveKey } from '../../../core/keys/keystore.ts'
import { beginCount } from '../../../core/wallet/limits/count-file.ts'
import { startSigner, type Signer } from '../../../core/wallet/signer.ts'
import { randomOf } from '../../../tools/chaos/random.ts'
import { rpcTo } from '../../kits/evm/test-chain.ts'
import { at, tokens, type DevnetFixture } from '../../kits/amm/devnet-fixture.ts'
import { drawing } from '../../kits/amm/walk/any-swap.ts'
import { randomBits } from '../../../testkit/random-bits.ts'
import { changedCall, type Call } from '../calls/changed-calls.ts'
import { approvalsOf, exchangeOn, openExchanges } from '../calls/released-exchanges.ts'
import { exampleFiles } from '../example-files.ts'
import { requestOf, stranger } from '../example-policy.ts'
import { temporaryFolder } from '../temporary-folder.ts'

const passphrase = 'correct horse'
const names = ['uniswap', 'sushiswap', 'quickswap-v4', 'balancer', 'curve']
const requests = Number(process.env['SLUICE_HOSTILE_REQUESTS'] ?? 120)
const seed = process.env['SLUICE_HOSTILE_SEED'] ?? 'swaps'
const ether = 10n ** 18n
const limited = new Wallet(`0x${'c1b2c3d4'.repeat(8)}`)
/** In a day: the other tokens of the devnet are not named. */
const perDay: Readonly<Record<string, bigint>> = {
  [tokens.WETH.address]: 3n * ether,
  [tokens.USDC.address]: 5_000_000_000n,
  [tokens.DAI.address]: 4_000n * ether,
}
const coinPerDay = 2n * ether
const erc20 = new Interface(['function transfer(address, uint256)', 'function approve(address, uint256)', 'function deposit() payable'])
const log = { info() {}, warn() {}, error() {} }
const inAnHour = () => Math.floor(Date.now() / 1000) + 3600

describe(`the signer, asked by a hostile server for ${requests} swaps by real routers (SLUICE_HOSTILE_SEED ${seed})`, function () {
  this.timeout(600_000 + requests * 1000)
  const dataDir = temporaryFolder()
  const random = randomOf(seed)
  const all: readonly Token[] = Object.values(tokens)
  let fixture: DevnetFixture
  let rpc: ReturnType<typeof rpcTo>
  let signer: Signer
  const calls: Call[] = []

  const start = async (): Promise<Signer> => {
    const rowOf = ({ address, decimals }: Token) => [
      address,
      { decimals, perDay: ((perDay[address] ?? 0n) / 10n ** BigInt(decimals)).toString() },
    ]
    const limits = {
      native: { perDay: '2' },
      gasCost: { perDay: '50' },
      tokens: Object.fromEntries(all.filter(({ address }) => perDay[address] !== undefined).map(rowOf)),
    }
    const conf = { 'limits.yml': { wallets: { [limited.address]: { 'ethereum/local': limits } } } }
    const files = await exampleFiles(dataDir, { passphrase, records: {}, conf })
    return startSigner({ dataDir, passphrase, devnet: false, files: { ...files, plugins: ['ethereum', ...names] }, log })
  }

  before(async () => {
    await saveKey({ dataDir, chain: 'ethereum', privateKey: limited.privateKey, passphrase, scryptN: 1024 })
    await beginCount(dataDir)
    fixture = await openExchanges(names)
    rpc = rpcTo(fixture.devnet.rpcUrl)
    await rpc('anvil_setBalance', limited.address, toQuantity(1000n * ether))
    await rpc('anvil_impersonateAccount', limited.address)
    const byWallet = async ({ to, data, value = 0n }: { to: string; data: string; value?: bigint }) =>
      fixture.mined(String(await rpc('eth_sendTransaction', { from: limited.address, to, data, value: toQuantity(value) })))
    await byWallet({ to: tokens.WETH.address, data: erc20.encodeFunctionData('deposit'), value: 500n * ether })
    for (const { address, decimals } of all.filter((each) => each !== tokens.WETH))
      await (
        await fixture.trader.sendTransaction({
          to: address,
          data: erc20.encodeFunctionData('transfer', [limited.address, 100n * 10n ** BigInt(decimals)]),
        })
      ).wait()
    // What the routers may take was without end long before there were limits.
    for (const name of names) {
      const exchange = await exchangeOn(fixture, name)
      for (const call of approvalsOf(exchange)) await byWallet(call)
      const { anySwap, pick } = drawing([...all, fixture.chain.nativeCurrency], tokens.WETH.address, randomBits(11))
      for (let found = 0, tries = 0; found < 12 && tries < 400; tries += 1) {
        const swap = anySwap(-2)
        const version = pick(['', ...exchange.AMM.versions])
        const quote = await exchange.AMM.quote(swap, version === '' ? {} : { version }, at()).catch((error: unknown) => {
          if (error instanceof SluiceError) return undefined
          throw error
        })
        if (!quote || quote.amountRaw === 0n) continue
        const boundRaw = swap.exact === 'in' ? 0n : quote.amountRaw * 2n
        const [step] = exchange.AMM.swap(quote, { recipient: limited.address, boundRaw, deadline: inAnHour() }).steps
        if (step) calls.push({ to: step.to, data: step.data.toLowerCase(), valueRaw: BigInt(step.value) })
        found += 1
      }
      const spender = Object.values(exchange.spenders ?? {})[0] ?? ''
      for (const [to, holder] of [
        [tokens.USDT.address, spender],
        [tokens.USDC.address, stranger],
      ] as const)
        calls.push({ to, data: erc20.encodeFunctionData('approve', [holder, 10n ** 9n]).toLowerCase(), valueRaw: 0n })
    }
    signer = await start()
  })
  after(async () => {
    await signer.stop()
    await fixture.close()
  })

  const balances = () => Promise.all([...all, fixture.chain.nativeCurrency].map((token) => fixture.balance(token, limited.address)))

  /** What left the wallet of each token, and at the end of the coin, by this transaction. Undefined: it was not signed. */
  async function tryOn({ to, data, valueRaw }: Call): Promise<{ left: readonly bigint[]; isDone: boolean } | undefined> {
    const nonce = Number(await rpc('eth_getTransactionCount', limited.address, 'latest'))
    const fees = { gasLimit: 1_000_000n, maxFeePerGas: 2_000_000_000n, maxPriorityFeePerGas: 1n }
    const tx = Transaction.from({ type: 2, chainId: 31337, nonce, to, data, value: valueRaw, ...fees })
    let bytes: Uint8Array
    try {
      bytes = await signer.sign(requestOf(limited.address, tx))
    } catch (error) {
      if (error instanceof SluiceError && ['LIMIT_EXCEEDED', 'FORBIDDEN'].includes(error.name)) return undefined
      throw error
    }
    tx.signature = Signature.from({
      r: hexlify(bytes.subarray(0, 32)),
      s: hexlify(bytes.subarray(32, 64)),
      yParity: bytes[64] === 1 ? 1 : 0,
    })
    const before = await balances()
    const { status, gasUsed, effectiveGasPrice } = await fixture.mined(String(await rpc('eth_sendRawTransaction', tx.serialized)))
    const after = await balances()
    const gasRaw = BigInt(gasUsed) * BigInt(effectiveGasPrice)
    const left = before.map((each, index) => each - (after[index] ?? 0n) - (index === all.length ? gasRaw : 0n))
    return { left: left.map((each) => (each > 0n ? each : 0n)), isDone: status === 1 }
  }

  it('lets no more leave the wallet than its limits, whatever was approved before, by what the chain shows', async () => {
    const left = [...all, undefined].map(() => 0n)
    const counted = { refused: 0, done: 0, reverted: 0 }
    const addresses = [stranger, limited.address, fixture.trader.address, ...all.map(({ address }) => address)]
    for (let asked = 0; asked < requests; asked += 1) {
      if (asked === Math.floor(requests / 2)) {
        await signer.stop()
        signer = await start()
      }
      const call = random.pick(calls)
      const found = await tryOn(random.chance(0.4) ? call : changedCall(call, random, { addresses }))
      if (!found) counted.refused += 1
      else counted[found.isDone ? 'done' : 'reverted'] += 1
      for (const [index, each] of (found?.left ?? []).entries()) left[index] = (left[index] ?? 0n) + each
    }
    if (process.env['SLUICE_HOSTILE_REQUESTS']) console.log(`      ${JSON.stringify(counted)}`)
    for (const [index, { symbol, address }] of all.entries())
      expect((left[index] ?? 0n) <= (perDay[address] ?? 0n), `${left[index]} ${symbol} left the wallet`).to.equal(true)
    expect((left.at(-1) ?? 0n) <= coinPerDay, `${left.at(-1)} wei left the wallet`).to.equal(true)
    for (const { address } of all) expect(await fixture.balance({ symbol: '', address, decimals: 0 }, stranger)).to.equal(0n)
    expect(counted.done, 'swaps that were made').to.be.above(5)
    expect(counted.refused).to.be.above(20)
  })
})
