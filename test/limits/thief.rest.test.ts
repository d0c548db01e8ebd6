// What a thief of a certificate with the permissions read and trade can take, by all the ways that we know.
//
// own pools: "sells a listed pair through a pool of its own" · own tokens: "sells for a token that bears a listed symbol" · dust pools: "sells into a pool of its own token"
// listed tokens without pools: "buys a listed token whose pools are all its own"
// pushed pools: "sells through a pool that it pushed", "sandwiches its trades" · orders: "places orders far off the market …", "hides orders …", "fills both sides …", "makes up a book …"
// leverage: "opens positions with leverage …", "closes positions at a price that it pushed …", "turns positions over …" · deposits: "adds liquidity to a pool of its own"
// shares: "adds liquidity and shares at a price that it pushed", "adds shares of one token alone" · wraps: "wraps and unwraps at the highest fees" · cancels: "cancels at the highest fees"
// fees, replacements: "raises the fees of one transaction again and again" · approvals and transferFrom: "approves itself and takes by transferFrom" · any: "asks all connectors …"
// a hundred trades within the bound: "trades again and again within the allowed loss", "trades many times at the same moment" · private relays: "hides a trade from the public in a private relay"
// replays: "replays one request and its signed bytes" · races on two servers, plugins of the thief's: `thief-elsewhere.rest.test.ts`
//
// Each way ends at its limit here, or is tried so often that it would have. `npm run test:limits` goes on after that, and trades a hundred times.
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'chai'
import { Contract, MaxUint256, parseUnits, Wallet } from 'ethers'
import { deployerAddress } from '../../core/devnet/build-state.ts'
import { oasisDevnetMarket } from '../../kits/oasis/devnet.ts'
import type { Answer } from '../../testkit/client.ts'
import { callOf, sendFrom, submitFrom, takeAccount } from '../devnet/accounts.ts'
import { addresses } from '../devnet/addresses.ts'
import { pools, startRobbedWallets, type RobbedWallets, type Stolen } from './robbed-wallets.ts'
import { local, mined, outcome, uniswap } from '../http/shared-server.ts'
import { shownMost } from './shown-losses.ts'

const { WETH, USDC, DAI, WBTC } = addresses.tokens
const ether = parseUnits('1', 18)
/** What a day may cost: 1 ETH, and fees. */
const limits = { maxDailyLoss: '3000', maxDailyGas: '0.05', maxFee: '0.01' }
const mostDollars = 3000 + 0.05 * 3000
const isLong = process.env.SLUICE_LIMITS_TURNS === 'all'
/** Dollars that a wallet has at the exchange of perpetuals. */
const perpetualDollars = 20_000
/** Of ETH: so much pushes the price of the perpetual, and leaves it within what a close may lose. */
const pushing = '600'
/** Of ETH: what is opened in each turn, of which a close may lose 5 % once the limit is used up: less than 5 % of `perpetualDollars`. */
const turned = isLong ? '5' : '6.5'
/** How often something is tried. */
const times = (few: number, many: number): number => (isLong ? many : few)
/** Acts again and again, until two in a row are refused: what is at its limit stays there. `npm run test:limits` goes on. */
async function repeat(most: number, act: (turn: number) => Promise<readonly Answer[]>): Promise<readonly Answer[]> {
  const answers: Answer[] = []
  let refused = 0
  for (let turn = 0; turn < most && (refused < 2 || isLong); turn++) {
    const [first, ...others] = await act(turn)
    if (first) answers.push(first, ...others)
    refused = first?.body.name === 'LIMIT_EXCEEDED' ? refused + 1 : 0
  }
  return answers
}
/** The market is the median of so many minutes, in place of 20, and is read once in each. */
const marketMinutes = 3
/** Of seconds: two readings of three, so that the median is what the thief made of the market meanwhile. */
const mostOfMarket = 120
const oasis = { ...local, connector: 'oasis' } as const
const order = { market: 'WETH-USDC', orderType: 'LIMIT' } as const

interface Way {
  readonly title: string
  /** @returns the answers that it got, of which one that is 200 does not mean that anything was lost */
  take(stolen: Stolen, site: RobbedWallets): Promise<readonly Answer[]>
  /** Some of it may be done: it is within the limits. */
  readonly isPartlyAllowed?: true
  /** Orders and positions of it may stay: what they hold is the wallet's, too. */
  readonly leavesMore?: true
  /** What it pays is what the node suggests next. */
  readonly paysHighFees?: true
  /** In dollars, where closing near the index may take more than the limit of losses: 5 % of what was open when it was used up. */
  readonly most?: number
}

const sell = ({ client, address }: Stolen, fields: object): Promise<Answer> =>
  client.post('/amm/trade', {
    ...uniswap,
    address,
    side: 'SELL',
    base: 'WETH',
    quote: 'USDC',
    amount: '1',
    ...fields,
  })
/** Pools are found beside requests: until then the thief could do nothing with it. */
async function waitForPrice(site: RobbedWallets, fields: object): Promise<void> {
  const query = { ...uniswap, side: 'SELL', base: 'WETH', quote: 'USDC', amount: '0.000001', ...fields }
  for (const until = Date.now() + 180_000; (await site.owner.get('/amm/price', query)).status !== 200; await sleep(100))
    if (Date.now() > until) throw new Error(`No price: ${(await site.owner.get('/amm/price', query)).text}`)
}
const inOrder = (one: string, other: string): [string, string] => (BigInt(one) < BigInt(other) ? [one, other] : [other, one])
const priced = { limitPrice: '0.000000000000000001' }

/** A pool of v3 at a price of the thief's: `price` is of raw amounts, token1 per token0. */
async function openPool(
  site: RobbedWallets,
  [a, b]: [string, string],
  fee: number,
  tick: number,
  amounts: readonly [bigint, bigint],
): Promise<void> {
  const [token0, token1] = inOrder(a, b)
  const sqrt = BigInt(Math.round(1.0001 ** (tick / 2) * 2 ** 48)) << 48n
  await site.send(pools.positionManager, 'createAndInitializePoolIfNecessary(address,address,uint24,uint160)', [token0, token1, fee, sqrt])
  const spacing = fee === 10_000 ? 200 : fee === 500 ? 10 : 60
  const lower = Math.floor(tick / spacing - 5) * spacing
  const position = [token0, token1, fee, lower, lower + 10 * spacing, ...amounts, 0n, 0n, site.thief, 2n ** 40n]
  await site.send(pools.positionManager, 'mint((address,address,uint24,int24,int24,uint256,uint256,uint256,uint256,address,uint256))', [
    position,
  ])
}

/** What is sent meanwhile waits, so that it can be replaced. */
async function withoutMining(site: RobbedWallets, work: () => Promise<readonly Answer[]>): Promise<readonly Answer[]> {
  await site.rpc('evm_setAutomine', false)
  try {
    return await work()
  } finally {
    await site.rpc('evm_mine')
    await site.rpc('evm_setAutomine', true)
  }
}

/** Until what the server pays by itself is no longer what the way before paid: `maxFee` would refuse every trade. */
async function waitForUsualFees(site: RobbedWallets): Promise<void> {
  await site.rpc('evm_mine')
  const query = { ...uniswap, side: 'SELL', base: 'WETH', quote: 'USDC', amount: '1' }
  for (const until = Date.now() + 180_000; ; await sleep(100)) {
    const { body, text } = await site.owner.get('/amm/price', query)
    if (Number(body.gasPrice) < 10) return
    if (Date.now() > until) throw new Error(`Fees stay high: ${text}`)
  }
}

/** So that what was done is final, and counts with what it did. */
async function settled({ rpc }: RobbedWallets): Promise<void> {
  await rpc('anvil_mine', '0x3')
  await sleep(300)
}

const ways: readonly Way[] = [
  {
    title: 'sells into a pool of its own token',
    async take(stolen, site) {
      const token = await site.newToken('OWN')
      await site.send(
        pools.v2Router,
        'addLiquidityETH(address,uint256,uint256,uint256,address,uint256)',
        [token, 1000n * ether, 0n, 0n, site.thief, MaxUint256],
        ether / 100n,
      )
      await waitForPrice(site, { quote: token })
      return [
        await sell(stolen, { quote: token, amount: '200' }),
        await sell(stolen, { base: 'ETH', quote: token, amount: '200', ...priced }),
      ]
    },
  },
  {
    title: 'sells for a token that bears a listed symbol',
    async take(stolen, site) {
      const token = await site.newToken('USDC')
      await openPool(site, [WETH.address, token], 3000, 0, [100n * ether, 100n * ether])
      await waitForPrice(site, { quote: token })
      return [
        await sell(stolen, { quote: token, amount: '90' }),
        await sell(stolen, { quote: token, amount: '90', version: 'v3', ...priced }),
      ]
    },
  },
  {
    title: 'sells a listed pair through a pool of its own',
    async take(stolen, site) {
      await openPool(site, [WBTC.address, DAI.address], 10_000, 0, [10n ** 6n, 10n ** 6n])
      const factory = new Contract(pools.factory, ['function getPool(address,address,uint24) view returns (address)'], site.provider)
      const pool: string = await factory.getFunction('getPool')(WBTC.address, DAI.address, 10_000)
      await waitForPrice(site, { base: 'WBTC', quote: 'DAI', pool, amount: '0.000001' })
      const trade = { base: 'WBTC', quote: 'DAI', pool, ...priced }
      return [await sell(stolen, { ...trade, amount: '4' }), await sell(stolen, { ...trade, amount: '0.000001' })]
    },
  },
  {
    title: 'buys a listed token whose pools are all its own',
    async take(stolen, site) {
      const token = await site.newToken('GRT')
      const listed = await site.owner.post('/network/tokens/add', { ...local, token })
      expect(listed.status, listed.text).to.equal(200)
      // At 100 dollars, where it is worth nothing. Whatever is in these pools stays the thief's.
      const amounts = new Map([
        [token, 10_000n * ether],
        [USDC.address, 10n ** 12n],
      ])
      const [token0, token1] = inOrder(token, USDC.address)
      const tick = token0 === token ? -230_270 : 230_270
      for (const fee of [500, 3000])
        await openPool(site, [token0, token1], fee, tick, [amounts.get(token0) ?? 0n, amounts.get(token1) ?? 0n])
      await waitForPrice(site, { base: 'USDC', quote: token, version: 'v3', amount: '1' })
      const trade = { base: 'USDC', quote: token, version: 'v3', ...priced }
      const answers = [await sell(stolen, { ...trade, amount: '100000' })]
      await site.pass(mostOfMarket)
      for (let turn = 0; turn < 2; turn++) answers.push(await sell(stolen, { ...trade, amount: '100000' }))
      return [...answers, await sell(stolen, { ...trade, base: 'WETH', amount: '30' })]
    },
  },
  {
    title: 'sells through a pool that it pushed',
    async take(stolen, site) {
      const swap = [[WETH.address, USDC.address, 10_000, site.thief, 150n * ether, 0n, 0n]]
      await site.send(pools.router, 'exactInputSingle((address,address,uint24,address,uint256,uint256,uint160))', swap)
      const isPushed = ({ price }: { price: string }) => Number(price) < 2500
      let pushed: { pool: string }[] = []
      for (const until = Date.now() + 180_000; pushed.length === 0 && Date.now() < until; await sleep(50)) {
        const { body } = await site.owner.get('/amm/pools', { ...uniswap, base: 'WETH', quote: 'USDC' })
        pushed = body.pools.filter(isPushed)
      }
      expect(pushed).to.have.length.above(0)
      return Promise.all(pushed.map(({ pool }: { pool: string }) => sell(stolen, { pool, amount: '20', ...priced })))
    },
  },
  {
    title: 'sells more than the pools take',
    take: async (stolen) => [await sell(stolen, { amount: '290' }), await sell(stolen, { base: 'WBTC', amount: '4.9', ...priced })],
    isPartlyAllowed: true,
  },
  {
    title: 'places orders far off the market and takes them',
    async take({ client, address }, site) {
      const place = (fields: object) => client.post('/clob/orders', { ...oasis, ...order, address, ...fields })
      const answers = [
        await place({ side: 'SELL', price: '0.01', amount: '290' }),
        await place({ side: 'BUY', price: '100000', amount: '2.9' }),
        await place({ side: 'SELL', price: '0.5', amount: '4', market: 'WBTC-USDC' }),
      ]
      await site.server.kernel.services.market.read()
      return answers
    },
  },
  {
    title: 'hides orders far off the market in a batch',
    async take({ client, address }) {
      const create = ['0.01', '1', '100', '2000'].map((price) => ({ ...order, side: 'SELL', price, amount: '70' }))
      const batch = await client.post('/clob/batchOrders', { ...oasis, address, create })
      expect(batch.body.created.filter(({ error }: { error?: object }) => !error)).to.have.length(0)
      return [batch]
    },
    isPartlyAllowed: true,
    leavesMore: true,
  },
  {
    title: 'opens positions with leverage, far off the index',
    async take({ client, address }) {
      const perp = { ...local, connector: 'perp', address }
      const deposited = await client.post('/perp/deposit', { ...perp, token: 'USDC', amount: '20000' })
      if (deposited.status === 200) await mined(client, deposited.body.txHash)
      const open = (fields: object) =>
        client.post('/perp/open', { ...perp, base: 'ETH', quote: 'USD', margin: '9000', leverage: '9', limitPrice: '1000000', ...fields })
      const answers = [deposited, await open({ side: 'LONG', amount: '27' })]
      // Each turn costs fees and impact, which the thief's own position on the other side gains.
      for (let turn = 0; turn < times(2, 20); turn++) {
        const closed = await client.post('/perp/close', { ...perp, base: 'ETH', quote: 'USD' })
        if (closed.status === 200) await mined(client, closed.body.txHash)
        const opened = await open({ side: turn % 2 === 0 ? 'SHORT' : 'LONG', amount: '26', limitPrice: undefined })
        if (opened.status === 200) await mined(client, opened.body.txHash)
        answers.push(closed, opened)
      }
      return answers
    },
    isPartlyAllowed: true,
    leavesMore: true,
  },
  {
    title: 'closes positions at a price that it pushed, for a position of its own on the other side',
    async take({ client, address }, site) {
      const market = { base: 'ETH', quote: 'USD' }
      const own = { ...local, connector: 'perp', address, ...market }
      const friend = { ...own, address: site.friend }
      const done = async (answer: Answer) => {
        if (answer.status === 200) await mined(site.owner, answer.body.txHash)
        return answer
      }
      const answers = [
        await done(
          await client.post('/perp/deposit', { ...local, connector: 'perp', address, token: 'USDC', amount: String(perpetualDollars) }),
        ),
      ]
      await done(
        await site.owner.post('/perp/deposit', { ...local, connector: 'perp', address: site.friend, token: 'USDC', amount: '250000' }),
      )
      const turns = await repeat(12, async () => {
        const opened = await done(
          await client.post('/perp/open', {
            ...own,
            side: 'LONG',
            amount: turned,
            margin: '4000',
            leverage: '9',
            allowedSlippage: '1/1000',
          }),
        )
        if (opened.status !== 200) return [opened, await client.post('/perp/close', own)]
        // The friend sells as much as leaves the price within what a close may lose.
        await done(await site.owner.post('/perp/open', { ...friend, side: 'SHORT', amount: pushing, margin: '200000', leverage: '9' }))
        const closed = await done(await client.post('/perp/close', own))
        await done(await site.owner.post('/perp/close', friend))
        await settled(site)
        return [opened, closed]
      })
      return [...answers, ...turns]
    },
    isPartlyAllowed: true,
    leavesMore: true,
    most: mostDollars + 0.05 * perpetualDollars,
  },
  {
    title: 'turns positions over again and again',
    async take({ client, address }, site) {
      const perp = { ...local, connector: 'perp', address }
      const deposited = await client.post('/perp/deposit', { ...perp, token: 'USDC', amount: '20000' })
      if (deposited.status === 200) await mined(client, deposited.body.txHash)
      // What is left is less than what there was, each second time. The other ones are soon more than the leverage that a limit of losses allows.
      const [first, second, third] = isLong ? ['5', '9.5', '9'] : ['6', '11.5', '12.5']
      const answers = [deposited]
      for (let turn = 0; turn < times(4, 30); turn++) {
        const side = turn % 2 === 0 ? 'LONG' : 'SHORT'
        const amount = turn === 0 ? first : turn % 2 === 0 ? third : second
        const turned = await client.post('/perp/open', { ...perp, base: 'ETH', quote: 'USD', side, amount, margin: '4000', leverage: '9' })
        answers.push(turned)
        if (turned.status !== 200) continue
        await mined(client, turned.body.txHash)
        await settled(site)
      }
      expect(answers.map(outcome)).to.include('403 LIMIT_EXCEEDED')
      answers.push(await client.post('/perp/close', { ...perp, base: 'ETH', quote: 'USD' }))
      return answers
    },
    isPartlyAllowed: true,
    leavesMore: true,
  },
  {
    title: 'adds liquidity to a pool of its own',
    async take({ client, address }, site) {
      await openPool(site, [WETH.address, WBTC.address], 10_000, 0, [ether, 10n ** 8n])
      const range = {
        token0: 'WETH',
        token1: 'WBTC',
        amount0: '200',
        amount1: '4',
        lowerPrice: '0.000001',
        upperPrice: '1000000',
        fee: 'HIGH',
      }
      return [await client.post('/amm/liquidity/add', { ...uniswap, address, version: 'v3', ...range })]
    },
  },
  {
    title: 'adds liquidity and shares at a price that it pushed',
    async take({ client, address }, site) {
      const own = site.thief
      await site.send(pools.v2Router, 'swapExactTokensForTokens(uint256,uint256,address[],address,uint256)', [
        8000n * ether,
        0n,
        [WETH.address, DAI.address],
        own,
        MaxUint256,
      ])
      const shares = await client.post('/amm/shares/add', {
        ...uniswap,
        address,
        tokens: ['WETH', 'DAI'],
        amounts: ['200', '90000'],
      })
      return [shares]
    },
  },
  {
    title: 'adds liquidity beside the price, which it pushes in the same block',
    async take({ client, address }, site) {
      const fees = { maxFeePerGas: 10n ** 12n, maxPriorityFeePerGas: 10n ** 10n }
      const isFirst = BigInt(WETH.address) < BigInt(USDC.address)
      const rootOf = (price: number) => BigInt(Math.round(Math.sqrt(isFirst ? price / 1e12 : 1e12 / price) * 2 ** 96))
      /** Until the pool has this price. */
      const swap = ([from, to]: readonly [string, string], price: number) => ({
        ...callOf(pools.router, 'exactInputSingle((address,address,uint24,address,uint256,uint256,uint160))', [
          [from, to, 500, site.thief, 2n ** 100n, 0n, rootOf(price)],
        ]),
        fees,
      })
      const { pools: found } = (await client.get('/amm/pools', { ...uniswap, base: 'WETH', quote: 'USDC', version: 'v3' })).body
      const price = Number(found.find(({ fee }: { fee: string }) => Number(fee) === 0.0005).price)
      const token = { up: [USDC.address, WETH.address], down: [WETH.address, USDC.address] } as const
      return repeat(times(8, 40), async (turn) => {
        // All within the permitted slippage: the one token is needed at this price, and the other one is taken at the pushed price.
        const [push, back, lower, upper, pushed] =
          turn % 2 === 0 ? (['up', 'down', 1.0005, 1.008, 1.009] as const) : (['down', 'up', 0.992, 0.9995, 0.991] as const)
        const range = { lowerPrice: (price * lower).toFixed(6), upperPrice: (price * upper).toFixed(6), amount0: '45', amount1: '136000' }
        const pair = { token0: 'WETH', token1: 'USDC', fee: 'LOW', version: 'v3' }
        const answers = await withoutMining(site, async () => {
          const added = await client.post('/amm/liquidity/add', { ...uniswap, ...pair, ...range, address })
          if (added.status === 200) await submitFrom(site.rpc, site.thief, swap(token[push], price * pushed))
          return [added]
        })
        if (answers[0]?.status !== 200) return answers
        await sendFrom(site.rpc, site.thief, swap(token[back], price))
        await settled(site)
        const { positions } = (await client.get('/amm/liquidity/positions', { ...uniswap, address })).body
        for (const { tokenId } of positions) {
          const all = { version: 'v3', tokenId, decreasePercent: '100', burn: true }
          const removed = await client.post('/amm/liquidity/remove', { ...uniswap, ...all, address })
          expect(removed.status, removed.text).to.equal(200)
        }
        await settled(site)
        return answers
      })
    },
    isPartlyAllowed: true,
    paysHighFees: true,
  },
  {
    title: 'adds shares of one token alone',
    async take({ client, address }) {
      const shares = { ...local, connector: 'balancer', address, tokens: ['WETH', 'USDT'], amounts: ['290', '0'] }
      return [
        await client.post('/amm/shares/add', { ...shares, minShares: '0.000001' }),
        await client.post('/amm/shares/add', { ...shares, amounts: ['150', '0'] }),
      ]
    },
  },
  {
    title: 'wraps and unwraps at the highest fees',
    async take({ client, address }) {
      const fees = { maxFeePerGas: '200', maxPriorityFeePerGas: '200' }
      const act = (turn: number) =>
        client.post(turn % 2 === 0 ? '/evm/wrap' : '/evm/unwrap', { ...local, address, amount: '0.001', ...fees })
      return repeat(times(20, 60), async (turn) => [await act(turn)])
    },
    isPartlyAllowed: true,
    paysHighFees: true,
  },
  {
    title: 'raises the fees of one transaction again and again',
    take: (stolen, site) =>
      withoutMining(site, async () => {
        const { client, address } = stolen
        const answers = [await sell(stolen, { amount: '0.01', maxFeePerGas: '5', maxPriorityFeePerGas: '5' })]
        for (let gwei = 10; gwei < 290; gwei += times(40, 20)) {
          const fees = { maxFeePerGas: String(gwei), maxPriorityFeePerGas: String(gwei) }
          answers.push(await client.post('/evm/speedUp', { ...local, address, ...fees }))
        }
        return answers
      }),
    isPartlyAllowed: true,
    paysHighFees: true,
  },
  {
    title: 'cancels at the highest fees',
    async take(stolen, site) {
      const { client, address } = stolen
      return repeat(times(12, 15), (turn) =>
        withoutMining(site, async () => {
          const sent = await client.post('/evm/wrap', { ...local, address, amount: '0.001', maxFeePerGas: '4', maxPriorityFeePerGas: '4' })
          const answers = [sent]
          const { nonce } = sent.body
          if (sent.status !== 200) return answers
          for (const gwei of turn === 0 || isLong ? ['20', '100', '290'] : ['290'])
            answers.push(await client.post('/evm/cancel', { ...local, address, nonce, maxFeePerGas: gwei, maxPriorityFeePerGas: gwei }))
          return answers
        }),
      )
    },
    isPartlyAllowed: true,
    paysHighFees: true,
  },
  {
    title: 'approves itself and takes by transferFrom',
    async take({ client, address }, site) {
      const spender = site.thief
      const answers: Answer[] = []
      for (const token of ['WETH', 'USDC', 'WBTC'] as const) {
        const approved = await client.post('/evm/approve', { ...local, address, spender, token })
        answers.push(approved)
        if (approved.status === 200) await mined(client, approved.body.txHash)
        await site
          .send(addresses.tokens[token].address, 'transferFrom(address,address,uint256)', [address, spender, 10n ** 6n])
          .catch(() => {})
      }
      return answers
    },
  },
  {
    title: 'sends to itself',
    async take({ client, address }, site) {
      const to = site.thief
      return [
        await client.post('/evm/send', { ...local, address, to, token: 'WETH', amount: '100' }),
        await client.post('/evm/send', { ...local, address, to, token: 'ETH', amount: '100' }),
      ]
    },
  },
  {
    title: 'asks all connectors for the worst trade',
    take: async ({ client, address }) => [
      await client.post('/amm/trade', {
        ...local,
        connector: 'any',
        address,
        side: 'SELL',
        base: 'WETH',
        quote: 'DAI',
        amount: '290',
      }),
      await client.post('/amm/trade', {
        ...local,
        connector: 'any',
        address,
        side: 'BUY',
        base: 'DAI',
        quote: 'WETH',
        amount: '90000',
        limitPrice: '1',
      }),
    ],
    isPartlyAllowed: true,
  },
  {
    title: 'trades again and again within the allowed loss',
    async take(stolen, site) {
      const [answers, count]: [Answer[], number] = [[], times(5, 100)]
      for (let index = 0; index < count; index++) answers.push(await sell(stolen, { amount: String(50 / count) }))
      const done = answers.filter(({ status }) => status === 200)
      for (const { body } of done.slice(-1)) await mined(site.owner, body.txHash)
      return answers
    },
    isPartlyAllowed: true,
  },
  {
    title: 'sandwiches its trades',
    async take(stolen, site) {
      const fees = { maxFeePerGas: 10n ** 12n, maxPriorityFeePerGas: 10n ** 10n }
      const push = (path: string[], amountRaw: bigint) => ({
        ...callOf(pools.v2Router, 'swapExactTokensForTokens(uint256,uint256,address[],address,uint256)', [
          amountRaw,
          0n,
          path,
          site.thief,
          MaxUint256,
        ]),
        fees,
      })
      const answers = await repeat(12, async () => {
        const sold = await withoutMining(site, async () => {
          const answer = await sell(stolen, { amount: '20', version: 'v2' })
          await submitFrom(site.rpc, site.thief, push([WETH.address, USDC.address], 35n * ether))
          return [answer]
        })
        await sendFrom(site.rpc, site.thief, push([USDC.address, WETH.address], 104_000n * 10n ** 6n))
        return sold
      })
      expect(answers.map(outcome)).to.include('200')
      return answers
    },
    isPartlyAllowed: true,
    paysHighFees: true,
  },
  {
    title: 'trades many times at the same moment',
    take: (stolen) => Promise.all(Array.from({ length: times(8, 100) }, () => sell(stolen, { amount: String(290 / times(8, 100)) }))),
    isPartlyAllowed: true,
  },
  {
    title: 'replays one request and its signed bytes',
    async take({ client, address }) {
      const body = { ...uniswap, address, side: 'SELL', base: 'WETH', quote: 'USDC', amount: '5', allowedSlippage: '1/100' }
      const answers = await Promise.all(
        Array.from({ length: times(5, 20) }, () => client.post('/amm/trade', body, { headers: { 'Idempotency-Key': 'the-same-request' } })),
      )
      const hashes = new Set(answers.flatMap(({ status, body: { txHash } }) => (status === 200 ? [String(txHash)] : [])))
      expect(hashes.size, answers[0]?.text).to.equal(1)
      return answers
    },
    isPartlyAllowed: true,
  },
  {
    title: 'fills its orders later at their worst price, one after another',
    async take({ client, address }, site) {
      const market = oasisDevnetMarket(deployerAddress('oasis'))
      await site.send(USDC.address, 'approve(address,uint256)', [market, MaxUint256])
      const amount = isLong ? '15' : '30'
      return repeat(8, async () => {
        // Once the book has no better bid, nothing is filled as it is placed.
        const placed = await client.post('/clob/orders', { ...oasis, ...order, address, side: 'SELL', price: '2905', amount })
        if (placed.status !== 200) return [placed]
        await mined(client, placed.body.txHash)
        await settled(site)
        const { body } = await client.get('/clob/orders', { ...oasis, address, market: order.market })
        const open = body.orders.find(({ clientOrderId }: { clientOrderId?: string }) => clientOrderId === placed.body.clientOrderId)
        if (!open?.orderId) return [placed]
        await site.send(market, 'buy(uint256,uint256)', [BigInt(open.orderId), 9n * ether])
        // What is left is cancelled, in the hope that it frees all of the loss.
        const left = new URLSearchParams({ ...oasis, address, market: order.market, orderId: String(open.orderId) })
        const cancelled = await client.request('DELETE', `/clob/orders?${left.toString()}`)
        await settled(site)
        return [placed, cancelled]
      })
    },
    isPartlyAllowed: true,
    leavesMore: true,
  },
  {
    title: 'routes over two pools of its own, by all connectors',
    async take(stolen, site) {
      const { USDT } = addresses.tokens
      // One USDT buys a thousandth of what it should of DAI.
      await openPool(site, [USDT.address, DAI.address], 10_000, BigInt(USDT.address) < BigInt(DAI.address) ? 207_000 : -207_000, [
        10n ** 12n,
        10n ** 22n,
      ])
      await openPool(site, [WETH.address, USDT.address], 10_000, BigInt(WETH.address) < BigInt(USDT.address) ? -260_000 : 260_000, [
        100n * ether,
        10n ** 12n,
      ])
      const trade = { connector: 'any', quote: 'DAI', ...priced }
      await site.pass(mostOfMarket)
      return [
        await sell(stolen, { ...trade, amount: '100' }),
        await sell(stolen, { ...trade, amount: '20' }),
        await sell(stolen, { ...trade, base: 'USDC', amount: '200000' }),
      ]
    },
    isPartlyAllowed: true,
  },
  {
    title: 'hides a trade from the public in a private relay',
    take: async (stolen) => [await sell(stolen, { amount: '200', privateOnly: true })],
  },
  {
    title: 'fills both sides of a book itself',
    async take({ client, address }, site) {
      const place = (fields: object) => client.post('/clob/orders', { ...oasis, ...order, address, market: 'WETH-DAI', ...fields })
      const own = [await place({ side: 'SELL', price: '3010', amount: '40' }), await place({ side: 'BUY', price: '2990', amount: '30' })]
      await site.pass(mostOfMarket)
      return [
        ...own,
        await place({ side: 'SELL', price: '1500', amount: '100' }),
        await sell({ client, address }, { quote: 'DAI', amount: '150', ...priced }),
      ]
    },
    isPartlyAllowed: true,
    leavesMore: true,
  },
  {
    title: 'makes up a book with two makers beside a pool that it pushed',
    async take(stolen, site) {
      const second = Wallet.createRandom().address
      await takeAccount(site.rpc, second, 100n * ether)
      const asMaker = (maker: string, to: string, signature: string, args: readonly unknown[]) =>
        sendFrom(site.rpc, maker, callOf(to, signature, args))
      const [wbtc, usdc] = [10n ** 8n, 10n ** 6n]
      await site.send(WBTC.address, 'transfer(address,uint256)', [second, 100n * wbtc])
      await site.send(USDC.address, 'transfer(address,uint256)', [second, 1_000_000n * usdc])
      const market = oasisDevnetMarket(deployerAddress('oasis'))
      // At half of the price: what is there on the other side is taken first, and the second maker trades with the first.
      for (const maker of [site.thief, second]) {
        for (const { address } of [WBTC, USDC]) await asMaker(maker, address, 'approve(address,uint256)', [market, MaxUint256])
        const offer = 'offer(uint256,address,uint256,address,uint256,bool)'
        await asMaker(maker, market, offer, [10n * wbtc, WBTC.address, 301_000n * usdc, USDC.address, 0n, false])
        await asMaker(maker, market, offer, [299_000n * usdc, USDC.address, 10n * wbtc, WBTC.address, 0n, false])
      }
      await asMaker(second, market, 'buyAllAmount(address,uint256,address,uint256)', [WBTC.address, wbtc / 100n, USDC.address, 400n * usdc])
      const swap = [[WBTC.address, USDC.address, 3000, site.thief, 100n * wbtc, 0n, 0n]]
      await site.send(pools.router, 'exactInputSingle((address,address,uint24,address,uint256,uint256,uint160))', swap)
      await site.pass(mostOfMarket)
      const { client, address } = stolen
      const place = (fields: object) => client.post('/clob/orders', { ...oasis, ...order, address, market: 'WBTC-USDC', ...fields })
      return [
        await place({ side: 'SELL', price: '29000', amount: '4' }),
        await client.post('/clob/orders', {
          ...oasis,
          address,
          market: 'WBTC-USDC',
          orderType: 'MARKET',
          side: 'SELL',
          limitPrice: '29000',
          amount: '4',
        }),
        await sell(stolen, { base: 'WBTC', version: 'v3', amount: '4', ...priced }),
      ]
    },
  },
]

describe('a thief of a certificate that may trade', function () {
  this.timeout(400_000)
  let site: RobbedWallets
  /** One wallet for all ways that are refused, as nothing of it is used up; and one for each of the others. */
  const partlyAllowed = ways.filter(({ isPartlyAllowed }) => isPartlyAllowed)

  before(async () => {
    site = await startRobbedWallets(1 + partlyAllowed.length, limits, { marketMinutes })
    // So that the market is known for each token before the thief comes.
    for (const quote of ['USDC', 'DAI', 'WBTC', 'USDT'])
      await site.owner.get('/amm/price', { ...uniswap, base: 'WETH', quote, amount: '1', side: 'SELL' })
    const [first] = site.stolen
    if (first) await sell(first, {})
    await site.pass(1.25 * marketMinutes * 60)
    // What is refused later is refused by limits, and not for want of an allowance.
    for (const version of first ? ['v2', 'v3', 'v4'] : []) {
      const { status, text } = await sell(first ?? expect.fail(), { version, amount: '0.001' })
      expect(status, `${version}: ${text}`).to.equal(200)
    }
    await site.age(2)
    // From then on there are blocks with transactions, and those that somebody asks for.
    await site.rpc('evm_setIntervalMining', 0)
    await site.rpc('evm_setAutomine', true)
  })
  after(() => site?.stop())

  it('leaves the limit of who adds liquidity that nobody pushes: that counts what it may lose while it waits, and then what it lost', async () => {
    const { client, address } = site.stolen[0] ?? expect.fail()
    await waitForUsualFees(site)
    const used = async () =>
      Number((await client.get('/limits')).body.limits.find(({ limit }: { limit: string }) => limit === 'maxDailyLoss').used)
    const before = await used()
    const { pools: found } = (await client.get('/amm/pools', { ...uniswap, base: 'WETH', quote: 'USDC', version: 'v3' })).body
    const price = Number(found.find(({ fee }: { fee: string }) => Number(fee) === 0.0005).price)
    const range = { lowerPrice: (price * 1.0005).toFixed(6), upperPrice: (price * 1.008).toFixed(6), amount0: '45', amount1: '136000' }
    const held = await withoutMining(site, async () => {
      const added = await client.post('/amm/liquidity/add', {
        ...uniswap,
        token0: 'WETH',
        token1: 'USDC',
        fee: 'LOW',
        version: 'v3',
        ...range,
        address,
      })
      expect(added.status, added.text).to.equal(200)
      return [added, await client.get('/limits')]
    })
    const lossIn = (answer?: Answer) => Number(answer?.body.limits.find(({ limit }: { limit: string }) => limit === 'maxDailyLoss').used)
    const whole = lossIn(held[1])
    expect(whole - before).to.be.above(500)
    await site.mineAll(address)
    await settled(site)
    for (const until = Date.now() + 180_000; whole - (await used()) < 400; await sleep(100))
      expect(Date.now(), `${await used()} of ${whole}`).to.be.below(until)
  })

  for (const way of ways)
    it(`takes no more than its limit: ${way.title}`, async () => {
      const { title, take, isPartlyAllowed, leavesMore, most = mostDollars } = way
      const stolen = site.stolen[1 + partlyAllowed.indexOf(way)]
      if (!stolen) throw new Error('There are fewer wallets than ways.')
      // It has nothing elsewhere yet.
      const before = await site.held(stolen.address)
      if (ways[ways.indexOf(way) - 1]?.paysHighFees) await waitForUsualFees(site)
      const answers = await take(stolen, site)
      const outcomes = new Set(answers.map(outcome))
      if (!isPartlyAllowed) expect(outcomes, [...outcomes].join(', ')).not.to.include('200')
      expect(outcomes, answers.find(({ status }) => status === 400)?.text).not.to.include('400 INCOMPLETE_PARAMS')
      for (const each of outcomes) expect(each).to.match(/^(200|4\d\d [A-Z_]+|501 UNSUPPORTED)$/)
      if (isPartlyAllowed) await site.mineAll(stolen.address)
      const lost = before - (await (leavesMore ? site.worth : site.held)(stolen.address))
      expect(lost, [...outcomes].join(', ')).to.be.at.most(Math.min(shownMost(title), most))
    })

  it('still sells a little with the wallet of which all was refused, so that nothing was for want of anything', async () => {
    const { status, text } = await sell(site.stolen[0] ?? expect.fail(), { amount: '0.001' })
    expect(status, text).to.equal(200)
  })
})
