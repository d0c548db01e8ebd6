// What a thief of a certificate that may trade can take by having something wait: what was signed at the prices of before, and is mined when they suit the thief.
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { MaxUint256, parseUnits, toQuantity } from 'ethers'
import { createClient, type Answer } from '../../testkit/client.ts'
import { isPostgresInstalled } from '../store/postgres.ts'
import { sharedPostgres } from '../store/stores.ts'
import { addresses } from '../devnet/addresses.ts'
import { deployerAddress } from '../../core/devnet/build-state.ts'
import { perpDevnetContracts } from '../../kits/perp/devnet.ts'
import { startPrivateRelay, type PrivateRelay } from '../transactions/private-relay.ts'
import { pools, startRobbedWallets, type RobbedWallets, type Stolen } from './robbed-wallets.ts'
import { local, mined, outcome, uniswap } from '../http/shared-server.ts'

/** As of `thief.rest.test.ts`. */
const limits = { maxDailyLoss: '3000', maxDailyGas: '0.05', maxFee: '0.01' }
const walletLimits = {
  native: { perDay: '1' },
  gasCost: { perDay: '1' },
  tokens: {
    [addresses.tokens.WETH.address]: { decimals: 18, perDay: '42' },
    [addresses.tokens.USDC.address]: { decimals: 6, perDay: '100000' },
  },
}
const pair = { ...uniswap, side: 'SELL', base: 'WETH', quote: 'USDC' } as const

/** The first ones are of ways that begin with nothing else; each of the others has its own. */
const walletOf = {
  deposit: 8,
  perpetual: 9,
  order: 10,
  relay: 11,
  stop: 12,
  parked: 13,
  replaced: 14,
  shared: 15,
  unlimited: 16,
  restart: 17,
  fees: 18,
  reorganised: 19,
} as const
/** What each of them may lose. */
const least = { ...limits, maxDailyLoss: '800' }
const ownLimits = new Map<number, object | undefined>([
  ...Object.values(walletOf).map((index) => [index, least] as const),
  [walletOf.parked, { ...least, approveAbove: '1000' }],
  [walletOf.fees, { ...least, maxDailyGas: '0.0035' }],
  [walletOf.unlimited, undefined],
])

describe('a thief who has something wait', function () {
  this.timeout(400_000)
  let site: RobbedWallets
  let left: Stolen[]
  let relay: PrivateRelay
  before(async () => {
    relay = await startPrivateRelay((method, ...params) => site.rpc(method, ...params))
    // It is the thief's: a cancel withdraws nothing there, and takes the place of what it cancels.
    relay.ways.withdraws = false
    const storeUrl = isPostgresInstalled ? await (await sharedPostgres()).database() : undefined
    site = await startRobbedWallets(20, limits, {
      marketMinutes: 3,
      privateUrls: [relay.url],
      limitsOf: (index) => (ownLimits.has(index) ? ownLimits.get(index) : limits),
      more: (wallets) => ({
        clients: { second: { permissions: ['read', 'trade'], wallets: [wallets[walletOf.shared]], limits: least } },
        conf: { 'limits.yml': { wallets: { [wallets[walletOf.shared] ?? '']: { 'ethereum/local': walletLimits } } } },
      }),
      settings: { 'server.requestTimeoutSeconds': 15, 'limits.minDailyLoss': 800 },
      ...(storeUrl !== undefined && { storeUrl }),
    })
    left = site.stolen.slice(0, walletOf.deposit)
    await site.owner.get('/amm/price', { ...pair, amount: '1' })
    for (const each of [left[0]?.client, left[0]?.elsewhere])
      await each?.post('/amm/trade', { ...pair, address: left[0]?.address, amount: '1' })
    await site.pass(230)
    await site.rpc('evm_setIntervalMining', 0)
    await site.rpc('evm_setAutomine', true)
  })
  after(async () => {
    await site?.stop()
    await relay?.stop()
  })

  const fresh = (): Stolen => left.shift() ?? expect.fail('There are fewer wallets than ways.')
  const nextNonce = async (address: string): Promise<number> => (await site.owner.get('/evm/nonce', { ...local, address })).body.nonce
  const signedFor = async (address: string): Promise<number> =>
    (await site.owner.get('/transactions', { ...local, address })).body.transactions.length

  /** Others sell into all deep pools of the pair. */
  const sellOthers = async (amount: string) => {
    for (const version of ['v2', 'v3']) {
      const sold = await site.owner.post('/amm/trade', { ...pair, address: site.friend, version, amount, limitPrice: '1' })
      expect(sold.status, sold.text).to.equal(200)
      await mined(site.owner, sold.body.txHash)
    }
  }

  /** Less than any block takes from now on, until the base fee falls. */
  const lowFees = { maxFeePerGas: '3', maxPriorityFeePerGas: '0.000001' }
  const feeOf = (gwei: number) => site.rpc('anvil_setNextBlockBaseFeePerGas', toQuantity(parseUnits(String(gwei), 9)))
  const mineAt = async (gwei: number, seconds = 1) => {
    await site.rpc('evm_increaseTime', seconds)
    await feeOf(gwei)
    await site.rpc('evm_mine')
  }
  const shown = async (txHash: string) => (await site.owner.get('/transactions', { ...local, txHash })).body.transactions[0]
  const usedOf = async ({ client }: Stolen): Promise<number> =>
    Number((await client.get('/limits')).body.limits.find(({ limit }: { limit: string }) => limit === 'maxDailyLoss')?.used)
  /** In all deep pools of the pair: more at once, and they are deep no more. */
  const raisePrices = async (gwei: number) => {
    const { USDC, WETH } = addresses.tokens
    const paid = parseUnits('400000', 6)
    for (const fee of [500, 3000, 10_000]) {
      await feeOf(gwei)
      const swap = [USDC.address, WETH.address, fee, site.thief, paid, 0n, 0n]
      await site.send(pools.router, 'exactInputSingle((address,address,uint24,address,uint256,uint256,uint160))', [swap])
    }
    await feeOf(gwei)
    const swap = [paid, 0n, [USDC.address, WETH.address], site.thief, MaxUint256]
    await site.send(pools.v2Router, 'swapExactTokensForTokens(uint256,uint256,address[],address,uint256)', swap)
    await feeOf(gwei)
    const buys = { ...pair, side: 'BUY', address: site.friend, version: 'v4', amount: '45', limitPrice: '1000000' }
    const bought = await site.owner.post('/amm/trade', buys)
    expect(bought.status, bought.text).to.equal(200)
    await mined(site.owner, bought.body.txHash)
  }

  it('does not delay a bot that counts nonces itself, whose requests come in any order, on two servers', async () => {
    const { client, elsewhere = client, address } = fresh()
    const nonce = await nextNonce(address)
    const order = [4, 1, 5, 0, 3, 2]
    const answers = await Promise.all(
      order.map((ahead, index) =>
        (index % 2 === 0 ? client : elsewhere).post(
          '/amm/trade',
          { ...pair, address, amount: '0.01', nonce: nonce + ahead },
          { headers: { 'idempotency-key': `ahead-${ahead}` } },
        ),
      ),
    )
    expect(answers.map(({ status, body, text }) => (status === 200 ? body.nonce - nonce : text))).to.deep.equal(order)
    for (const { body } of answers) expect((await mined(site.owner, body.txHash)).body.txReceipt.status).to.equal(1)
  })

  describe('until the market has moved', () => {
    /** Gwei, of which no block takes `lowFees`. */
    const high = 60
    const sale = { ...pair, amount: '20' }
    const of = (name: keyof typeof walletOf): Stolen => site.stolen[walletOf[name]] ?? expect.fail('There are fewer wallets than ways.')
    const heldBefore = new Map<string, number>()
    const hashes = new Map<string, string[]>()
    const statesOf = async (name: keyof typeof walletOf) =>
      Promise.all((hashes.get(name) ?? []).map(async (txHash) => (await shown(txHash)).txState))
    async function until(gwei: number, what: string, holds: () => Promise<boolean>): Promise<void> {
      for (const end = Date.now() + 180_000; !(await holds()); await sleep(50)) {
        if (Date.now() > end) {
          const states = [...hashes].map(async ([name, own]) => {
            const all = await Promise.all(own.map(shown))
            return `${name}: ${all.map(({ txState, reason, replacedBy }) => `${txState} ${reason ?? ''} ${replacedBy?.slice(0, 6) ?? ''}`).join(', ')}`
          })
          throw new Error(`It did not come to pass: ${what}. ${(await Promise.all(states)).join('; ')}`)
        }
        await mineAt(gwei)
      }
    }
    /** The transaction waits: its fees are too low, or nobody but the thief's relay has it. */
    async function begin(name: keyof typeof walletOf, ...answers: readonly Answer[]): Promise<void> {
      for (const { status, text } of answers) expect(status, `${name}: ${text}`).to.equal(200)
      hashes.set(name, [...(hashes.get(name) ?? []), ...answers.map(({ body }) => String(body.txHash))])
    }
    const sell = (name: keyof typeof walletOf, fields: object = lowFees, client = of(name).client): Promise<Answer> =>
      client.post('/amm/trade', { ...sale, address: of(name).address, ...fields })

    let parked: Answer
    /** Of the maxDailyLoss of who placed the order. */
    const held = { signed: 0, most: 0 }
    let faster: Answer
    before(async function () {
      await site.pass(230)
      const perp = { ...local, connector: 'perp', address: of('perpetual').address }
      const collateral = await of('perpetual').client.post('/perp/deposit', { ...perp, token: 'USDC', amount: '20000' })
      await mined(site.owner, collateral.body.txHash)
      for (const { address } of site.stolen) heldBefore.set(address, await site.held(address))

      await site.rpc('evm_setAutomine', false)
      await mineAt(2)
      // A block has it, and is taken back.
      const reorganised = await sell('reorganised', {})
      await begin('reorganised', reorganised)
      await mineAt(2)
      for (const end = Date.now() + 180_000; (await shown(reorganised.body.txHash)).txState !== 'MINED'; await sleep(50))
        expect(Date.now()).to.be.below(end)
      await site.rpc('anvil_reorg', 1, [])

      const { body: now } = await site.owner.get('/amm/price', { ...pair, amount: '1' })
      const amounts = { tokens: ['WETH', 'USDC'], amounts: ['40', '200000'] }
      await begin(
        'deposit',
        await of('deposit').client.post('/amm/shares/add', { ...uniswap, ...amounts, address: of('deposit').address, ...lowFees }),
      )
      const long = { base: 'ETH', quote: 'USD', side: 'LONG', amount: '6', margin: '19000', leverage: '1', ...lowFees }
      await begin('perpetual', await of('perpetual').client.post('/perp/open', { ...perp, ...long }))
      const order = { ...local, connector: 'oasis', market: 'WETH-USDC', orderType: 'LIMIT', side: 'SELL', amount: '40', ...lowFees }
      const price = Number(now.price).toFixed(0)
      await begin('order', await of('order').client.post('/clob/orders', { ...order, address: of('order').address, price }))
      await begin('fees', ...(await Promise.all(['v2', 'v3', 'v4'].map((version) => sell('fees', { ...lowFees, amount: '4', version })))))
      const { elsewhere } = of('restart')
      await begin('restart', await sell('restart', lowFees, elsewhere))
      await begin('relay', await sell('relay', { privateOnly: true }))
      await begin('stop', await sell('stop'))
      parked = await sell('parked', {})
      expect(outcome(parked), parked.text).to.equal('202 PENDING_APPROVAL')
      const first = await sell('replaced')
      const raised = { maxFeePerGas: '3.5', maxPriorityFeePerGas: '0.0000012', nonce: first.body.nonce }
      await begin('replaced', first, await sell('replaced', { ...raised, amount: '21', version: 'v3' }))
      const second = createClient(site.server.url, site.server.certsDir, 'second')
      await begin('shared', await sell('shared'), await sell('shared', lowFees, second))
      const third = await sell('shared', lowFees, second)
      second.close()
      expect(outcome(third), third.text).to.equal('403 LIMIT_EXCEEDED')
      await begin('unlimited', await sell('unlimited'))
      expect(outcome(await site.owner.post('/stops', { mode: 'stop', client: `bot-${walletOf.stop}` }))).to.equal('200')
      await site.stopOther()
      await mineAt(high)

      held.signed = await usedOf(of('order'))
      // The market rises, and the index of the perpetual falls.
      await site.rpc('evm_setAutomine', true)
      await raisePrices(high)
      const { aggregator, dispatcher } = perpDevnetContracts(deployerAddress('perp')).market(0)
      await feeOf(high)
      await site.send(aggregator.address, 'set(int256)', [parseUnits('2200', 8)])
      await feeOf(high)
      await site.send(dispatcher.address, 'dispatchPrice(uint256)', [30n])
      await site.rpc('evm_setAutomine', false)
      await site.pass(130)
      await until(high, 'the perpetual and all of the market has its cancel', async () => {
        const names = ['deposit', 'perpetual', 'order', 'relay', 'replaced', 'shared', 'restart', 'reorganised'] as const
        const all = await Promise.all(names.flatMap((name) => hashes.get(name) ?? []).map(shown))
        held.most = Math.max(held.most, await usedOf(of('order')))
        return all.every(({ replacedBy, txState }) => replacedBy !== undefined || txState === 'OVERTAKEN')
      })
      const { nonce } = await shown(hashes.get('order')?.[0] ?? '')
      faster = await of('order').client.post('/evm/speedUp', { ...local, address: of('order').address, nonce })
      expect(outcome(await site.owner.request('DELETE', `/stops?client=bot-${walletOf.stop}`))).to.equal('200')
      await mineAt(high, 320)
      await until(high, 'what its time ends has its cancel', async () => {
        const all = await Promise.all([...hashes.values()].flat().map(shown))
        return all.every(({ replacedBy }) => replacedBy !== undefined)
      })
      await until(2, 'all are final', async () => {
        await relay.include()
        const all = await Promise.all([...hashes.values()].flat().map(shown))
        return all.every(({ txState }) => !['QUEUED', 'SIGNED', 'BROADCAST', 'MINED'].includes(txState))
      })
      const approved = await site.owner.post('/approvals/approve', { id: parked.body.details.id })
      expect(approved.status, approved.text).to.equal(200)
      await until(2, 'nothing is left to mine', async () => {
        const { body } = await site.owner.get('/transactions', { ...local, address: of('parked').address })
        return body.transactions.every(({ txState }: { txState: string }) => txState === 'CONFIRMED')
      })
      await site.rpc('evm_setAutomine', true)
    })

    const ways: readonly (readonly [keyof typeof walletOf, string, number])[] = [
      ['deposit', 'puts liquidity into a pool at a price of before', 1],
      ['perpetual', 'opens a perpetual whose index has fallen', 1],
      ['order', 'places an order at a price of before', 1],
      ['relay', 'has a relay of its own keep a trade', 1],
      ['stop', 'is stopped, and the stop is lifted', 1],
      ['parked', 'has a request approved once the market has moved', 0],
      ['replaced', 'replaces a trade by another on its nonce', 2],
      ['shared', 'has two certificates for one wallet, which has limits', 2],
      ['unlimited', 'has a certificate with the defaults of the server alone', 1],
      ['restart', 'has its server end meanwhile', 1],
      ['fees', 'uses up the fees of its cancels', 3],
      ['reorganised', 'has a block taken back that had its trade', 1],
    ]
    for (const [name, what, count] of ways)
      it(`loses no more than its limit where it ${what}`, async () => {
        const states = await statesOf(name)
        expect(states).to.have.length(count)
        expect(states.filter((each) => each !== 'CANCELLED' && each !== 'REPLACED')).to.deep.equal([])
        const { address } = of(name)
        const lost = (heldBefore.get(address) ?? 0) - (await site.held(address))
        expect(lost).to.be.below(800 + 0.05 * 3_000)
      })

    it('has the greater loss held until the cancel is final, and signs nothing but the cancel', async () => {
      const { reason, attempts } = await shown(hashes.get('order')?.[0] ?? '')
      expect(reason).to.match(/^By the market of now /)
      expect(attempts, outcome(faster)).to.have.length(1)
      expect(held.most).to.be.above(held.signed)
      expect(await usedOf(of('order'))).to.equal(0)
    })

    it('gets out of a pool what it has put in, with nothing left of the limits of its wallet', async () => {
      await site.pass(230)
      const { client, address } = of('shared')
      const pool = { ...uniswap, address, tokens: ['WETH', 'USDC'] }
      const act = async (path: string, fields: object) => {
        const answer = await client.post(path, fields)
        expect(answer.status, `${path}: ${answer.text}`).to.equal(200)
        await mined(site.owner, answer.body.txHash)
      }
      await act('/amm/shares/add', { ...pool, amounts: ['2', '100000'] })
      const more = await client.post('/amm/trade', { ...pair, address, amount: '1' })
      expect([outcome(more), more.body.details?.file], more.text).to.deep.equal(['403 LIMIT_EXCEEDED', 'conf/limits.yml'])
      const { shareToken, shares } = (await site.owner.get('/amm/shares/position', pool)).body
      await act('/evm/approve', { ...local, address, token: shareToken, spender: 'uniswap', amount: shares })
      await act('/amm/shares/remove', pool)
      expect((await site.owner.get('/amm/shares/position', pool)).body.shares).to.match(/^[0.]+$/)
    })
  })

  describe('for a nonce that it holds back', () => {
    it('has nothing signed until its turn comes, and then by the price of then', async () => {
      const { client, address } = fresh()
      const nonce = await nextNonce(address)
      const { body: quoted } = await client.get('/amm/price', { ...pair, amount: '5' })
      const ahead = client.post('/amm/trade', { ...pair, address, amount: '5', nonce: nonce + 1 })
      const bounded = client.post('/amm/trade', {
        ...pair,
        address,
        amount: '5',
        nonce: nonce + 2,
        limitPrice: quoted.limitPrice ?? quoted.price,
      })
      await sellOthers('100')
      expect(await signedFor(address), 'nothing is signed meanwhile').to.equal(0)
      const filled = await client.post('/evm/wrap', { ...local, address, amount: '0.01', nonce })
      expect(filled.status, filled.text).to.equal(200)
      const sold = await ahead
      expect(sold.status, sold.text).to.equal(200)
      expect(sold.body.nonce).to.equal(nonce + 1)
      expect(Number(sold.body.price)).to.be.below(Number(quoted.price) * 0.999)
      expect(outcome(await bounded)).to.equal('422 SWAP_PRICE_LOWER_THAN_LIMIT_PRICE')
      await mined(site.owner, sold.body.txHash)
      expect(await signedFor(address)).to.equal(2)
    })

    it('is refused where the request has no more time, and a nonce too far ahead at once', async () => {
      const { client, address } = fresh()
      const nonce = await nextNonce(address)
      const wrap = (fields: object): Promise<Answer> => client.post('/evm/wrap', { ...local, address, amount: '0.01', ...fields })
      const far = await wrap({ nonce: nonce + 1_000 })
      expect([outcome(far), far.body.details]).to.deep.equal(['409 INVALID_NONCE', { nonce: nonce + 1_000, next: nonce }])
      const waited = await wrap({ nonce: nonce + 1 })
      expect([outcome(waited), waited.body.details]).to.deep.equal(['409 INVALID_NONCE', { nonce: nonce + 1, next: nonce }])
      expect(await signedFor(address)).to.equal(0)
    })
  })

  describe('for fees that are too low', () => {
    const becomes = async (txHash: string, what: (tx: { txState: string; replacedBy?: string }) => boolean) => {
      for (const until = Date.now() + 180_000; ; await sleep(50)) {
        const tx = await shown(txHash)
        if (what(tx)) return tx
        if (Date.now() > until) throw new Error(`It did not come to pass: ${JSON.stringify(tx)}`)
      }
    }
    beforeEach(async () => {
      await site.rpc('evm_setAutomine', false)
      await mineAt(2)
    })
    afterEach(async () => {
      await site.rpc('evm_setAutomine', true)
      await mineAt(0)
    })

    it('has its order cancelled after the ttl, at fees of the network, which count in its limits', async () => {
      const stolen = fresh()
      const { client, address } = stolen
      const before = await site.held(address)
      const order = {
        ...local,
        connector: 'oasis',
        address,
        market: 'WETH-USDC',
        orderType: 'LIMIT',
        side: 'BUY',
        amount: '30',
        price: '2960',
      }
      const placed = await client.post('/clob/orders', { ...order, ...lowFees })
      expect(placed.status, placed.text).to.equal(200)
      const behind = await client.post('/evm/wrap', { ...local, address, amount: '0.01', ...lowFees })
      expect(behind.status, behind.text).to.equal(200)
      await mineAt(20, 295)
      await mineAt(20)
      expect(await shown(placed.body.txHash)).to.not.have.property('replacedBy')
      await mineAt(20, 320)
      for (const { body } of [placed, behind]) {
        const { replacedBy } = await becomes(body.txHash, (tx) => tx.replacedBy !== undefined)
        expect(await shown(String(replacedBy))).to.include({ kind: 'cancel', client: 'sluice' })
      }
      await becomes(placed.body.txHash, ({ txState }) => {
        void mineAt(2)
        return txState === 'CANCELLED'
      })
      await becomes(behind.body.txHash, ({ txState }) => {
        void mineAt(2)
        return txState === 'CANCELLED'
      })
      expect(before - (await site.held(address)), 'the fees of two cancels').to.be.within(0.001, 30)
      const { limits: all } = (await client.get('/limits')).body
      expect(Number(all.find(({ limit }: { limit: string }) => limit === 'maxDailyGas').used)).to.be.above(0)
    })
  })
})
