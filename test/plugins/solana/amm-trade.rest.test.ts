import { Ajv } from 'ajv'
import { expect } from 'chai'
import { getBase58Encoder, lamports, type Address } from '@solana/kit'
import { ASSOCIATED_TOKEN_PROGRAM_ADDRESS } from '@solana-program/token'
import { endpoints } from '../../../core/api/index.ts'
import { associatedAddress } from '../../../kits/solana/index.ts'
import type { Answer, Client } from '../../../testkit/client.ts'
import { healthy } from '../../http/trouble/faulty-proxy.ts'
import { failsAt } from '../../../tools/solana-node/faults.ts'
import { dropsAll, holdsAll, takesAll } from '../../../tools/solana-node/ledger/leaders.ts'
import { until } from '../../transactions/site.ts'
import { here, pair, startAmmSite, venue, type AmmSite } from './amm-site.ts'

const outcome = ({ status, body }: Answer): string => (status === 200 ? '200' : `${status} ${body?.name}`)
const raw = (padded: string) => BigInt(padded.replace('.', ''))
const stranger = 'HLnpSz9h2S4hiLQ43rnSD9XkcUThA7B8hQMKmDaiTLcC'
const somebody = getBase58Encoder().encode(stranger)
const confirmed = { txState: 'CONFIRMED', txStatus: 1 }

describe('/amm/trade of an exchange on Solana', () => {
  let site: AmmSite
  let client: Client
  let held: { base: string; quote: string }
  before(async () => {
    site = await startAmmSite({ network: { refuseWarnings: ['permanent-delegate', 'freeze-authority', 'account-delegate'] } })
    client = site.client
    const account = ({ address, program }: { address: string; program: string }) => associatedAddress(site.wallets[0], address, program)
    held = { base: await account(site.base), quote: await account(site.solana.mints.USDC) }
  })
  afterEach(() => site?.solana.lead(takesAll))
  after(() => site?.stop())

  const price = async (fields: object = {}) => (await client.post('/amm/price', { ...pair, amount: '2', side: 'SELL', ...fields })).body
  const trade = (fields: object = {}, headers: Record<string, string> = {}) =>
    client.post('/amm/trade', { ...pair, address: site.wallets[0], amount: '2', side: 'SELL', ...fields }, { headers })
  const sent = async (fields: object = {}) => {
    const answer = await trade(fields)
    expect(outcome(answer), answer.text).to.equal('200')
    return answer.body
  }
  const balances = () => ({ base: site.heldRaw(held.base), quote: site.heldRaw(held.quote) })
  const signatures = () => new Set(site.solana.sent.map(({ signature }) => signature as string)).size
  /** Whatever is refused before signing leaves no signature and moves nothing. */
  const refused = async (fields: object) => {
    const [before, count] = [balances(), signatures()]
    const answer = await trade(fields)
    site.solana.blocks(2)
    expect(signatures(), answer.text).to.equal(count)
    expect(balances()).to.deep.equal(before)
    return answer
  }
  const sells = { pays: 0, exact: 'paid', amountRaw: 40_000_000_000n, limitRaw: 1n } as const
  const buys = { pays: 1, exact: 'paid', amountRaw: 4_000_000_000n, limitRaw: 1n } as const

  for (const side of ['SELL', 'BUY'] as const)
    it(`carries out a ${side} as quoted, to the unit, and is followed until it is final`, async () => {
      const before = balances()
      const quoted = await price({ side })
      const body = await sent({ side, limitPrice: quoted.price })
      const valid = new Ajv({ strict: false }).compile(endpoints.find(({ name }) => name === 'AMMTrade')?.response ?? false)
      expect(valid(body), JSON.stringify(valid.errors)).to.equal(true)
      expect(body).to.include({ expectedAmount: quoted.expectedAmount, limitPrice: quoted.price, price: quoted.price })
      const { fill, txReceipt, confirmations } = await site.polled(body.txHash, confirmed)
      expect(confirmations).to.be.at.least(32)
      const [paid, got] = side === 'BUY' ? [body.expectedAmount, body.amount] : [body.amount, body.expectedAmount]
      expect(fill).to.deep.equal({ amountIn: paid, amountOut: got, price: body.price })
      expect(txReceipt.fee).to.match(/^50\d\d$/)
      const [base, quote] = side === 'BUY' ? [raw(got), -raw(paid)] : [-raw(paid), raw(got)]
      expect(balances()).to.deep.equal({ base: before.base + base, quote: before.quote + quote })
    })

  it('names no deadline, for the program knows none: the life of the blockhash bounds its time', async () => {
    const body = await sent()
    expect(body).to.not.have.property('deadline')
    await site.polled(body.txHash, confirmed)
  })

  it('refuses before signing where the price is past limitPrice', async () => {
    const [buy, sell] = [await price({ side: 'BUY' }), await price()]
    const below = await refused({ side: 'BUY', limitPrice: String(Number(buy.price) * 0.9999) })
    expect([outcome(below), below.body.errorCode]).to.deep.equal(['422 SWAP_PRICE_EXCEEDS_LIMIT_PRICE', 1008])
    const above = await refused({ limitPrice: String(Number(sell.price) * 1.0001) })
    expect([outcome(above), above.body.errorCode]).to.deep.equal(['422 SWAP_PRICE_LOWER_THAN_LIMIT_PRICE', 1009])
  })

  /** Changes bytes of an account behind everybody's back, until the work is done. */
  const withChanged = async (account: string, change: (data: Uint8Array) => void, work: () => Promise<void>) => {
    const before = site.solana.svm.getAccount(account as Address)
    if (!before.exists) throw new Error(`There is no account ${account}.`)
    const data = Uint8Array.from(before.data)
    change(data)
    site.solana.svm.setAccount({ ...before, data })
    site.solana.blocks(1)
    try {
      await work()
    } finally {
      const { data: now } = site.solana.svm.getAccount(account as Address) as typeof before
      // What it holds changes meanwhile.
      const restored = Uint8Array.from(before.data)
      if (restored.length === 165) restored.set(now.subarray(64, 72), 64)
      site.solana.svm.setAccount({ ...before, data: restored })
      site.solana.blocks(1)
    }
  }

  it('buys no token whose accounts somebody may freeze, where the operator refuses that, says so, and lets it be sold', async () => {
    const address = site.wallets[0]
    expect(await price({ address })).to.not.have.property('warnings')
    const freezes = (data: Uint8Array) => data.set([1, 0, 0, 0, ...somebody], 46)
    await withChanged(site.base.address, freezes, async () => {
      const warning = `freeze-authority: BASE at ${site.base.address}: ${stranger} may freeze accounts of it, out of which nothing moves then`
      expect((await price({ address })).warnings).to.deep.equal([warning])
      expect((await client.get('/network/token', { ...here, token: site.base.address })).body.warnings).to.deep.equal([warning])
      const answer = await refused({ side: 'BUY' })
      expect([outcome(answer), answer.body.details]).to.deep.equal(['404 TOKEN_NOT_SUPPORTED', { warnings: [warning] }])
      expect(answer.body.message).to.contain('refuseWarnings of solana/local')
      await site.polled((await sent()).txHash, confirmed)
    })
  })

  it('buys nothing into an account of the wallet that a delegate may take from, and sells out of it', async () => {
    const delegated = (data: Uint8Array) => {
      data.set([1, 0, 0, 0, ...somebody], 72)
      data.set([64, 66, 15], 121)
    }
    await withChanged(held.quote, delegated, async () => {
      const { warnings } = await price({ address: site.wallets[0] })
      expect(warnings).to.have.length(1)
      expect(warnings[0])
        .to.match(/^account-delegate: USDC at /)
        .and.to.contain('may take up to 1 out of')
      expect(outcome(await refused({ side: 'SELL' }))).to.equal('404 TOKEN_NOT_SUPPORTED')
      await site.polled((await sent({ side: 'BUY' })).txHash, confirmed)
    })
  })

  for (const [side, move] of [
    ['SELL', sells],
    ['BUY', buys],
  ] as const)
    it(`holds a ${side} to its limit on chain when the market moves before its block, and moves nothing`, async () => {
      const { price: limitPrice } = await price({ side })
      site.solana.lead(holdsAll)
      const { txHash } = await sent({ side, limitPrice })
      await site.moves(move)
      const before = balances()
      site.solana.lead(takesAll)
      const { txReceipt, fill, cause } = await site.polled(txHash, { txState: 'REVERTED', txStatus: 1 })
      expect(cause).to.equal('slippage')
      expect(txReceipt).to.deep.include({ status: 0, err: { InstructionError: [2, { Custom: 6005 }] } })
      expect(fill).to.equal(undefined)
      expect(balances()).to.deep.equal(before)
      // Back to about where it was.
      await site.moves(side === 'SELL' ? { ...buys, amountRaw: 6_000_000_000n } : { ...sells, amountRaw: 26_000_000_000n })
    })

  it('goes through within the slippage, and the fill says what it really gave', async () => {
    site.solana.lead(holdsAll)
    const body = await sent()
    await site.moves({ ...sells, amountRaw: 1_000_000_000n })
    site.solana.lead(takesAll)
    const before = balances()
    const { fill } = await site.polled(body.txHash, confirmed)
    expect(raw(fill.amountOut) < raw(body.expectedAmount)).to.equal(true)
    expect(Number(fill.price)).to.be.within(Number(body.limitPrice), Number(body.price))
    expect(balances().quote - before.quote).to.equal(raw(fill.amountOut))
  })

  it('trades at the price of now where the market has moved since it was asked for', async () => {
    const asked = await price()
    await site.moves({ ...sells, amountRaw: 3_000_000_000n })
    // Not asked of the server, which would remember it.
    const ask = (pays: 0 | 1, index: 0 | 1) =>
      site.asks({ pays, exact: 'paid', amountRaw: 2_000_000_000n, limitRaw: 1n }, site.pools[index])
    const [first, second] = [await ask(0, 0), await ask(1, 1)].map((done) => done?.gotRaw ?? 0n)
    const nowRaw = (first ?? 0n) > (second ?? 0n) ? first : second
    const body = await sent()
    expect(raw(body.expectedAmount) < raw(asked.expectedAmount)).to.equal(true)
    expect(raw(body.expectedAmount)).to.equal(nowRaw)
    expect((await site.polled(body.txHash, confirmed)).fill.price).to.equal(body.price)
  })

  it('keeps to a tighter slippage where the request says so', async () => {
    const { expectedAmount, limitPrice, txHash } = await sent({ allowedSlippage: '0/1' })
    expect(Number(limitPrice) * 2).to.be.closeTo(Number(expectedAmount), 0.000001)
    await site.polled(txHash, confirmed)
  })

  it('refuses with the reason, in words, where the market moves between the quote and the check', async () => {
    let moves = 0
    await site.proxy.become(async (exchange) => {
      // Once more where the price is asked for again.
      if (exchange.methods.includes('simulateTransaction')) {
        await site.moves(sells)
        await site.moves({ ...sells, pays: 1, amountRaw: 400_000_000n }, site.pools[1])
        moves += 2
      }
      await healthy(exchange)
    })
    const count = signatures()
    const answer = await trade({ allowedSlippage: '1/1000' })
    await site.proxy.become(healthy)
    expect(outcome(answer)).to.equal('422 TRADE_FAILED')
    expect(answer.body.message).to.contain('the price has moved past the limit')
    expect(answer.body.details.reason).to.equal(`${site.pools[0].program}: custom program error: 0x1775`)
    // The mover's own.
    expect([moves, signatures()]).to.deep.equal([4, count + moves])
  })

  it('refuses where the wallet has too little, and names the token as the list calls it', async () => {
    const answer = await refused({ address: site.wallets[2], side: 'BUY' })
    expect(outcome(answer)).to.equal('422 INSUFFICIENT_BALANCE')
    expect(answer.body.details).to.deep.include({ token: 'USDC', tokenAddress: site.solana.mints.USDC.address, current: '0.000000' })
    expect(answer.body.message).to.match(/^The wallet holds 0\.000000 USDC and needs /)
  })

  it('makes the account for what is bought where the wallet has none, in the transaction of the trade', async () => {
    const address = site.wallets[2]
    await site.solana.mintTo(address as Address, site.base, 5_000_000_000n)
    site.solana.blocks(1)
    const account = await associatedAddress(address, site.solana.mints.USDC.address, site.solana.mints.USDC.program)
    expect(site.solana.svm.getAccount(account as Address).exists).to.equal(false)
    // Of an account of 165 bytes: (165 + 128) × 6,960 lamports.
    const rent = '0.002039280'
    const lamportsOf = () => site.solana.svm.getBalance(address as Address) ?? 0n
    const hadRaw = lamportsOf()
    const quoted = await price({ address })
    expect(quoted.rent).to.equal(rent)
    const { txHash, expectedAmount, rent: said } = await sent({ address })
    expect(said).to.equal(rent)
    const { fill, txReceipt } = await site.polled(txHash, confirmed)
    expect(fill.amountOut).to.equal(expectedAmount)
    expect(site.heldRaw(account)).to.equal(raw(expectedAmount))
    expect(Number(txReceipt.computeUnitsConsumed)).to.be.at.most(quoted.gasLimit)
    expect(hadRaw - lamportsOf()).to.equal(BigInt(txReceipt.fee) + raw(rent))
    const { transactions } = (await client.get('/transactions', { ...here, txHash })).body
    expect(transactions[0].cost).to.include({ rawFee: String(txReceipt.fee), rent })
    expect(transactions[0].planned.rent).to.equal(rent)
    expect((await price({ address })).rent).to.equal('0.000000000')
  })

  it('says of the rent that a wallet with an account of too little coin lacks', async () => {
    const address = site.wallets[2]
    const found = site.solana.svm.getAccount(address as Address)
    if (!found.exists) throw new Error('The wallet is not there.')
    const bought = { address, base: 'USDC', quote: 'BASE', side: 'SELL', amount: '0.01' }
    const account = (await associatedAddress(address, site.base.address, site.base.program)) as Address
    const held = site.solana.svm.getAccount(account)
    if (!held.exists) throw new Error('The account is not there.')
    site.solana.svm.setAccount({ ...held, lamports: lamports(0n), data: new Uint8Array(), space: 0n })
    site.solana.svm.setAccount({ ...found, lamports: lamports(2_000_000n) })
    site.solana.blocks(2)
    const answer = await refused(bought)
    site.solana.svm.setAccount(held)
    site.solana.svm.setAccount(found)
    site.solana.blocks(2)
    expect(outcome(answer)).to.equal('422 INSUFFICIENT_BALANCE')
    expect(answer.body.details).to.include({ token: 'SOL', needed: '0.002039280', rent: '0.002039280' })
    expect(answer.body.message).to.contain('0.002039280 SOL of that is rent')
  })

  it('reads the accounts of a swap once: the next one of the same tokens has one call less before it is sent', async () => {
    const calls = async () => {
      site.proxy.asked.length = 0
      await sent({ base: 'USDC', quote: 'BASE', amount: '1', address: site.wallets[1] })
      return site.proxy.asked.filter((method) => method !== 'getAccountInfo')
    }
    // The pools of the newest slot are read: no request for them comes in between.
    await site.priceAtTip({ base: 'USDC', quote: 'BASE' })
    const [first, second] = [await calls(), await calls()]
    // Limits of wallets count rent for each creation: it has none of an account that is there.
    expect(site.solana.sent.at(-1)?.message.staticAccounts).to.not.include(ASSOCIATED_TOKEN_PROGRAM_ADDRESS)
    const reads = (methods: readonly string[]) => methods.filter((method) => method === 'getMultipleAccounts').length
    expect(reads(first)).to.equal(reads(second) + 1)
    site.solana.blocks(2)
  })

  it('reads the accounts of a swap again where its simulation refuses it: one that was closed meanwhile is made again', async () => {
    const address = site.wallets[2]
    const { USDC } = site.solana.mints
    const { txHash } = await sent({ address, amount: '1' })
    await site.polled(txHash, confirmed)
    const account = (await associatedAddress(address, USDC.address, USDC.program)) as Address
    const found = site.solana.svm.getAccount(account)
    if (!found.exists) throw new Error('The account is not there.')
    site.solana.svm.setAccount({ ...found, lamports: lamports(0n), data: new Uint8Array(), space: 0n })
    site.solana.blocks(2)
    const again = await sent({ address, amount: '1' })
    const { fill } = await site.polled(again.txHash, confirmed)
    expect(site.heldRaw(account)).to.equal(raw(fill.amountOut))
  })

  it('pays into no account that was given to somebody else since the last swap, and signs nothing', async () => {
    const address = site.wallets[2]
    const { svm, mints } = site.solana
    const account = (await associatedAddress(address, mints.USDC.address, mints.USDC.program)) as Address
    await site.polled((await sent({ address, amount: '0.1' })).txHash, confirmed)
    const own = svm.getAccount(account)
    if (!own.exists) throw new Error('The wallet has no account of what it bought.')
    // Of an account of a token, the owner stands behind the mint.
    const given = Uint8Array.from(own.data)
    given.set(getBase58Encoder().encode(site.wallets[0]), 32)
    svm.setAccount({ ...own, data: given })
    site.solana.blocks(1)
    const count = signatures()
    const answer = await trade({ address, amount: '0.1' })
    svm.setAccount(own)
    site.solana.blocks(1)
    expect(outcome(answer), answer.text).to.equal('422 TRADE_FAILED')
    expect(signatures()).to.equal(count)
  })

  it('says that its fill is missing where no node has its receipt, and has it once one does', async () => {
    const body = await sent()
    await site.proxy.become(failsAt('getTransaction', { code: -32011, message: 'Transaction history is not available from this node' }))
    const final = await site.polled(body.txHash, confirmed)
    expect(final.fill).to.equal(undefined)
    expect(final.fillMissing).to.contain('No node has the receipt')
    await site.proxy.become(healthy)
    const { fill, fillMissing } = (await client.post('/network/poll', { ...here, txHash: body.txHash })).body
    expect(fill).to.include({ amountIn: body.amount, amountOut: body.expectedAmount })
    expect(fillMissing).to.equal(undefined)
  })

  it('refuses a request for what there is not', async () => {
    const problem = async (fields: object) => {
      const answer = await refused(fields)
      return `${outcome(answer)}: ${answer.body.message}`
    }
    expect(await problem({ address: site.pools[0].address })).to.match(/^404 LOAD_WALLET/)
    expect(await problem({ address: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266' })).to.match(/^400 INCOMPLETE_PARAMS: address/)
    expect(await problem({ maxFeePerGas: '1' })).to.match(/^400 INCOMPLETE_PARAMS: maxFeePerGas: is for EVM chains/)
    expect(await problem({ maxPriorityFeePerGas: '0.1' })).to.match(/^400 INCOMPLETE_PARAMS: maxPriorityFeePerGas/)
    expect(await problem({ nonce: 0 })).to.match(/^400 INCOMPLETE_PARAMS: nonce: is the index of one of the wallet's durable nonce/)
    expect(await problem({ base: 'SOL' })).to.match(/^404 PAIR_NOT_FOUND/)
    expect(await problem({ amount: '2000', side: 'BUY' })).to.match(/^422 PRICE_FAILED/)
    expect(await problem({ chain: 'ethereum' })).to.match(/^404 UNKNOWN_CHAIN_ERROR/)
  })

  it('has one effect under one Idempotency-Key', async () => {
    const [before, count] = [balances(), signatures()]
    const key = { 'idempotency-key': 'once' }
    const [first, again] = [await trade({}, key), await trade({}, key)]
    expect(outcome(first)).to.equal('200')
    expect(again.text).to.equal(first.text)
    expect(outcome(await trade({ amount: '3' }, key))).to.equal('422 IDEMPOTENCY_CONFLICT')
    await site.polled(first.body.txHash, confirmed)
    expect((await trade({}, key)).text).to.equal(first.text)
    expect(signatures()).to.equal(count + 1)
    expect(before.base - balances().base).to.equal(2_000_000_000n)
  })

  it('does each of many at once, once', async () => {
    const before = balances()
    const bodies = await Promise.all(Array.from({ length: 6 }, () => sent({ amount: '0.5', side: 'BUY' })))
    expect(new Set(bodies.map(({ txHash }) => txHash)).size).to.equal(6)
    const fills = []
    for (const { txHash } of bodies) fills.push((await site.polled(txHash, confirmed)).fill)
    expect(balances().base - before.base).to.equal(3_000_000_000n)
    expect(before.quote - balances().quote).to.equal(fills.reduce((sum, { amountIn }) => sum + raw(amountIn), 0n))
  })

  it('ends when no leader took it while its blockhash lived: nothing moved, and there was one signature', async () => {
    const [before, count] = [balances(), signatures()]
    site.solana.lead(dropsAll)
    const { txHash } = await sent()
    const { fill, txReceipt } = await site.polled(txHash, { txState: 'EXPIRED', txStatus: -1 })
    expect([fill, txReceipt]).to.deep.equal([undefined, null])
    site.solana.lead(takesAll)
    site.solana.blocks(5)
    expect(balances()).to.deep.equal(before)
    expect(signatures()).to.equal(count + 1)
  })

  it('tells the fill of the block that stays, where an earlier one was taken back', async () => {
    const { txHash } = await sent()
    const first = await site.polled(txHash, { txStatus: 1, txState: 'MINED' })
    site.solana.lead(holdsAll)
    while (site.solana.ledger.find(txHash)) site.solana.reorganise(1, 'lost')
    await site.moves({ ...sells, amountRaw: 500_000_000n })
    let looks = 0
    await until('it is sent again', async () => {
      looks += 1
      // Seldom enough that its blockhash lives.
      if (looks % 10 === 0) site.solana.blocks(1)
      return site.solana.ledger.waiting.some(({ wire }) => wire.signature === txHash)
    })
    site.solana.lead(takesAll)
    const last = await site.polled(txHash, confirmed)
    expect(last.txBlock).to.be.above(first.txBlock)
    expect(raw(last.fill.amountOut) < raw(first.fill.amountOut)).to.equal(true)
  })

  it('appears in the list with its outcome, and other venues do not know it', async () => {
    const { body } = await client.get('/transactions', { ...here, state: 'CONFIRMED', limit: '1' })
    expect(body.transactions[0]).to.include({ ...here, kind: 'trade', connector: 'poolswap', txState: 'CONFIRMED' })
    expect(outcome(await client.post('/perpAMM/open', { ...venue, address: site.wallets[0] }))).to.match(/^400|501/)
  })
})
