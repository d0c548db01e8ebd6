import { expect } from 'chai'
import { lamports } from '@solana/kit'
import {
  ASSOCIATED_TOKEN_PROGRAM_ADDRESS,
  findAssociatedTokenPda,
  getCreateAssociatedTokenIdempotentInstruction,
} from '@solana-program/token'
import type { Plan } from '../../../core/contracts/index.ts'
import type { Transactions } from '../../../core/transactions/transactions.ts'
import { fromKit, type Solana } from '../../../kits/solana/index.ts'
import { failsAt } from '../../../tools/solana-node/faults.ts'
import { holdsAll, takesAll } from '../../../tools/solana-node/ledger/leaders.ts'
import { healthy, refusing, startFaultyProxy, telling, type Fault, type FaultyProxy } from '../../http/trouble/faulty-proxy.ts'
import { rejection, soon, until } from '../../transactions/site.ts'
import { comesTo, entryOf, orderOf, startSolanaSite, transactionsAt, transfer, type SolanaSite } from './solana-site.ts'
import { chainOver, soon as at } from './test-cluster.ts'

describe('what a node or a block of Solana may refuse', () => {
  let site: SolanaSite
  let proxy: FaultyProxy
  let transactions: Transactions
  let skewMs = 0
  beforeEach(async () => {
    const started = await startSolanaSite()
    proxy = await startFaultyProxy()
    proxy.target = started.cluster.url
    const { chain } = chainOver({ rpcUrls: [`http://127.0.0.1:${proxy.port}`] })
    await started.chain.stop?.()
    site = { ...started, chain, network: { ...started.network, impl: chain } }
    skewMs = 0
    transactions = await transactionsAt(site, { steadyMs: () => performance.now() + skewMs })
    await chain.head({ signal: soon() })
  })
  afterEach(async () => {
    await transactions?.stop(1000)
    await site?.chain.stop?.()
    await site?.stop()
    await proxy?.stop()
  })

  const ownSignatures = () => new Set(site.cluster.sent.flatMap(({ signature }) => signature ?? [])).size

  it('an account that is in use: the same bytes are sent again, and land once', async () => {
    let refused = 0
    const inUse: Fault = async (exchange) => {
      if (!exchange.methods.includes('sendTransaction') || (refused += 1) > 2) return healthy(exchange)
      const error = { code: -32002, message: 'Transaction simulation failed: Account in use', data: { err: 'AccountInUse', logs: [] } }
      const answers = exchange.calls.map((call) => ({ jsonrpc: '2.0', id: Reflect.get(call, 'id'), error }))
      exchange.response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answers[0]))
    }
    await proxy.become(inUse)
    const before = ownSignatures()
    const { txHash } = await transactions.submit(orderOf(site, { plan: transfer(site, site.cluster.faucet.address, 5n) }), soon())
    for (const times of [2, 3]) {
      // It is sent again after two seconds, when a block comes.
      skewMs += 2_100
      site.cluster.blocks(1)
      await until('it is sent again', async () => refused >= times)
    }
    await comesTo(site, transactions, txHash, 'CONFIRMED')
    expect(ownSignatures() - before).to.equal(1)
    expect((await entryOf(transactions, txHash))?.attempts).to.have.length(1)
  })

  it('more compute units than the limit that was simulated: it ends REVERTED with the reason', async () => {
    const { cluster, wallet } = site
    // Several: what one takes more is about as much as the margin of the limit, and differs by address.
    const owned = Object.values(cluster.mints).map(({ address: mint, program: tokenProgram }) => ({
      owner: wallet.address,
      mint,
      tokenProgram,
    }))
    for (const mint of Object.values(cluster.mints)) await cluster.mintTo(wallet.address, mint, 7n)
    cluster.blocks(2)
    const accounts = await Promise.all(owned.map(async (each) => (await findAssociatedTokenPda(each))[0]))
    const instructions = owned.flatMap((each, index) => {
      const ata = accounts[index]
      return ata === undefined ? [] : fromKit(getCreateAssociatedTokenIdempotentInstruction({ ...each, payer: wallet, ata }))
    })
    const plan: Plan<Solana> = {
      steps: [{ payer: wallet.address, instructions, value: '0', rent: '0' }],
      needs: [],
      memo: null,
    }
    cluster.lead(holdsAll)
    const scope = { contracts: [ASSOCIATED_TOKEN_PROGRAM_ADDRESS], valueRaw: 0n }
    const { txHash } = await transactions.submit(orderOf(site, { plan, scope }), soon())
    // They were there in the simulation, and have to be made in the block.
    for (const ata of accounts) {
      const account = cluster.svm.getAccount(ata)
      if (!account.exists) throw new Error('There is no account.')
      cluster.svm.setAccount({ ...account, lamports: lamports(0n), data: new Uint8Array(), space: 0n })
    }
    cluster.lead(takesAll)
    await comesTo(site, transactions, txHash, 'REVERTED')
    expect((await entryOf(transactions, txHash))?.reason).to.match(/exceeded CUs meter|computational budget exceeded/i)
  })

  for (const [what, err, logs, expected] of [
    [
      'more compute units than a transaction may have',
      { InstructionError: [2, 'ComputationalBudgetExceeded'] },
      [],
      /^TRADE_FAILED .*computational budget exceeded/,
    ],
    ['rent that the wallet lacks', { InsufficientFundsForRent: { account_index: 0 } }, [], /^OUT_OF_GAS .*insufficient funds for rent/],
    [
      'rent that somebody else lacks',
      { InsufficientFundsForRent: { account_index: 2 } },
      [],
      /^TRADE_FAILED .*insufficient funds for rent/,
    ],
    ['an account that is in use', 'AccountInUse', [], /^TRADE_FAILED .*account in use/],
    ['a blockhash that it does not know', 'BlockhashNotFound', [], /^TRADE_FAILED .*blockhash not found/],
  ] as const)
    it(`in a simulation, ${what}: the request says so, and nothing is signed`, async () => {
      const { cluster } = site
      const sent = cluster.sent.length
      await proxy.become(
        telling(({ method }) =>
          method === 'simulateTransaction'
            ? { result: { context: { slot: Number(cluster.ledger.tip.slot) }, value: { err, logs, unitsConsumed: 0 } } }
            : undefined,
        ),
      )
      const { name, message } = await rejection(
        transactions.submit(orderOf(site, { plan: transfer(site, cluster.faucet.address, 5n) }), soon()),
      )
      expect(`${name} ${message}`).to.match(expected)
      expect(cluster.sent.length).to.equal(sent)
    })

  const limit = { code: -32007, message: '15/second request limit reached - reduce calls per second or upgrade your account' }
  const answersAll =
    (status: number, error: { code: number; message: string }): Fault =>
    ({ calls, response }) => {
      const answers = calls.map((call) => ({ jsonrpc: '2.0', id: Reflect.get(call, 'id'), error }))
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(calls.length > 1 ? answers : answers[0]))
    }
  for (const [what, fault] of Object.entries({
    'a limit by a code of agave': answersAll(200, limit),
    'HTTP 429 with a body of JSON': answersAll(429, { code: -32003, message: 'not now' }),
    'HTTP 402 with a body of JSON': answersAll(402, { code: -32003, message: 'not now' }),
    'HTTP 503 with the code of a skipped slot': answersAll(503, { code: -32007, message: 'not now' }),
    'no simulateTransaction': refusing(({ method }) => method === 'simulateTransaction', { code: -32601, message: 'Method not found' }),
    'no getRecentPrioritizationFees': refusing(({ method }) => method === 'getRecentPrioritizationFees', {
      code: -32601,
      message: 'Method not found',
    }),
    'no simulateTransaction on its plan': refusing(({ method }) => method === 'simulateTransaction', {
      code: -32600,
      message: 'The method simulateTransaction is not available on your plan',
    }),
  }))
    it(`${what}: the second node is asked, and the trade is sent`, async () => {
      const { chain } = chainOver({ rpcUrls: [`http://127.0.0.1:${proxy.port}`, site.cluster.url] })
      const two = { ...site, chain, network: { ...site.network, impl: chain } }
      const over = await transactionsAt(two)
      try {
        await chain.head({ signal: soon() })
        await proxy.become(fault)
        const { txHash } = await over.submit(orderOf(two, { plan: transfer(two, site.cluster.faucet.address, 5n) }), soon())
        expect((await entryOf(over, txHash))?.state).to.equal('BROADCAST')
        expect(proxy.asked).to.not.deep.equal([])
      } finally {
        await over.stop(1000)
        await chain.stop?.()
      }
    })

  it('a malformed answer after a failover: the message names the node that gave it, and the other one stays in use', async () => {
    const second = await startFaultyProxy()
    second.target = site.cluster.url
    const [first, other] = [`http://127.0.0.1:${proxy.port}`, `http://127.0.0.1:${second.port}`]
    const { chain } = chainOver({ rpcUrls: [first, other] })
    try {
      await chain.head({ signal: soon() })
      await proxy.become(refusing(({ method }) => method === 'getTransaction', { code: -32603, message: 'Internal error' }))
      await second.become(telling(({ method }) => (method === 'getTransaction' ? { result: { slot: 1 } } : undefined)))
      const signature = '5'.repeat(87)
      const { message } = await rejection(chain.find(signature, { signal: soon() }))
      expect(message).to.contain(other).and.to.not.contain(first)
    } finally {
      await chain.stop?.()
      await second.stop()
    }
  })

  it('a method that no node has: the message names it and what to do, and no node is put aside', async () => {
    await proxy.become(refusing(({ method }) => method === 'simulateTransaction', { code: -32601, message: 'Method not found' }))
    const { name, message } = await rejection(
      transactions.submit(orderOf(site, { plan: transfer(site, site.cluster.faucet.address, 5n) }), soon()),
    )
    expect(name).to.equal('NETWORK')
    expect(message).to.match(/refused simulateTransaction: Method not found .*no other one of rpcUrls serves it/)
  })

  it('a slot that it has not reached: another node is asked, and the images are of that slot', async () => {
    const { cluster, wallet } = site
    await proxy.become(failsAt('getMultipleAccounts', { code: -32016, message: 'Minimum context slot has not been reached' }))
    const { chain } = chainOver({ rpcUrls: [`http://127.0.0.1:${proxy.port}`, cluster.url] })
    try {
      cluster.blocks(2)
      const head = await chain.head(at())
      const blocks = await chain.changes?.(head, head, { follow: [wallet.address] }, at())
      if (!blocks || blocks === 'forked') throw new Error('There are no images.')
      expect(blocks.flatMap(({ changes }) => changes.map(({ slot }) => BigInt(slot) >= head.number))).to.deep.equal([true])
      expect(proxy.asked).to.include('getMultipleAccounts')
    } finally {
      await chain.stop?.()
    }
  })
})
