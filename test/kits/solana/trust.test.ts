import { once } from 'node:events'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { expect } from 'chai'
import { generateKeyPairSigner, signature } from '@solana/kit'
import type { SolanaNetwork } from '../../../kits/solana/index.ts'
import type { Transactions } from '../../../core/transactions/transactions.ts'
import { holdsAll, takesAll } from '../../../tools/solana-node/ledger/leaders.ts'
import type { SolanaNode } from '../../../tools/solana-node/start-solana.ts'
import { healthy, startFaultyProxy, telling, type Fault, type FaultyProxy } from '../../http/trouble/faulty-proxy.ts'
import { overItsLimit } from '../../../tools/solana-node/faults.ts'
import { freshStore, soon, until } from '../../transactions/site.ts'
import { chainOver } from './test-cluster.ts'
import { comesTo, entryOf, looks, orderOf, startSolanaSite, transactionsAt, transfer, type SolanaSite } from './solana-site.ts'

/** Blocks after which every blockhash of now is over, by what is finalized too. */
const lifetime = 190
/** A node that hangs is not given up while a busy machine looks. */
const requestTimeoutSeconds = 60

describe('proving on Solana that a transaction is expired', () => {
  let site: SolanaSite
  let transactions: Transactions | undefined
  const nodes: SolanaNode[] = []
  beforeEach(async () => {
    site = await startSolanaSite()
  })
  afterEach(async () => {
    await transactions?.stop(1000)
    await site?.stop()
    for (const node of nodes.splice(0)) await node.stop()
  })

  const node = async (options: Parameters<typeof site.cluster.addNode>[0]) => {
    const added = await site.cluster.addNode(options)
    nodes.push(added)
    return added
  }
  /** The same wallet by other nodes. */
  const over = async (urls: readonly string[], definition: Partial<SolanaNetwork> = {}) => {
    await site.chain.stop?.()
    const { chain, asked } = chainOver({ rpcUrls: urls, requestTimeoutSeconds }, definition)
    site = { ...site, chain, asked, network: { ...site.network, impl: chain } }
    transactions = await transactionsAt(site)
    return transactions
  }
  const send = async (to = site.cluster.faucet.address) => {
    const sent = await transactions?.submit(orderOf(site, { plan: transfer(site, to, 1_000_000n) }), soon())
    return sent?.txHash ?? ''
  }
  const stateOf = async (txHash: string) => transactions && (await entryOf(transactions, txHash))?.state

  it('does not believe a node that is ahead of all others', async () => {
    const { cluster } = site
    const liar = await node({})
    const mine = await over([liar.url, cluster.url])
    cluster.lead(holdsAll)
    const txHash = await send()
    liar.options.aheadBlocks = 1_000n
    for (let round = 0; round < 3; round += 1) {
      cluster.blocks(25)
      await looks(site)
    }
    expect(await stateOf(txHash)).to.equal('BROADCAST')
    cluster.lead(takesAll)
    liar.options.aheadBlocks = 0n
    await comesTo(site, mine, txHash, 'CONFIRMED')
  })

  it('does not believe a single node when so many slots cannot have passed', async () => {
    const { cluster } = site
    const liar = await node({})
    const mine = await over([liar.url], { leastSlotSeconds: 0.3 })
    cluster.lead(holdsAll)
    const txHash = await send()
    liar.options.aheadBlocks = 1_000n
    for (let round = 0; round < 3; round += 1) {
      cluster.blocks(20)
      await looks(site)
    }
    expect(await stateOf(txHash)).to.equal('BROADCAST')
    cluster.lead(takesAll)
    liar.options.aheadBlocks = 0n
    await comesTo(site, mine, txHash, 'CONFIRMED')
  })

  it('waits for a lagging node', async () => {
    const { cluster } = site
    const late = await node({ lagBlocks: 100 })
    const mine = await over([cluster.url, late.url])
    cluster.lead(holdsAll)
    const txHash = await send()
    cluster.blocks(lifetime)
    await looks(site)
    expect(await stateOf(txHash)).to.equal('BROADCAST')
    late.options.lagBlocks = 0
    await comesTo(site, mine, txHash, 'EXPIRED')
  })

  it('ignores a node that knows it has stalled', async () => {
    const { cluster } = site
    const still = await node({ lagBlocks: 100, slotsBehind: 300 })
    await over([cluster.url, still.url])
    cluster.lead(holdsAll)
    const txHash = await send()
    cluster.blocks(lifetime)
    // No more of them than the other one is behind: that has not come so far.
    let blocks = 0
    await until('it is over', async () => {
      if (blocks < 80) cluster.blocks(1)
      blocks += 1
      return (await stateOf(txHash)) === 'EXPIRED'
    })
  })

  const histories: Readonly<Record<string, (landed: bigint) => Partial<SolanaNode['options']>>> = {
    'whose history begins after it was signed': () => ({ historyBlocks: 100 }),
    'that was away when it landed, and has older blocks all the same': (landed) => ({ missing: [landed - 20n, landed + 20n] }),
  }
  for (const [which, historyOf] of Object.entries(histories))
    it(`does not believe a node ${which}: one with the whole history reports that it landed`, async () => {
      const { cluster, wallet } = site
      const store = await freshStore()
      const to = await generateKeyPairSigner()
      await over([cluster.url])
      transactions = await transactionsAt(site, { store })
      cluster.lead(holdsAll)
      const txHash = await send(to.address)
      await transactions.stop(1000)
      cluster.blocks(40)
      cluster.lead(takesAll)
      cluster.blocks(400)
      const landed = cluster.ledger.find(signature(txHash))?.block.height ?? 0n

      // The server comes back beside a node that was set up anew.
      const short = await node(historyOf(landed))
      const { chain, asked } = chainOver({ rpcUrls: [short.url] })
      site = { ...site, chain, asked, wallet, network: { ...site.network, impl: chain } }
      transactions = await transactionsAt(site, { store })
      cluster.blocks(3)
      await looks(site)
      expect(await stateOf(txHash)).to.equal('BROADCAST')
      Object.assign(short.options, { historyBlocks: Infinity, missing: undefined })
      await comesTo(site, transactions, txHash, 'CONFIRMED')
      await transactions.stop(1000)
      transactions = undefined
      await store.close()
    })

  const limits: Readonly<Record<string, Fault>> = {
    'is over its limit': overItsLimit,
    // As gateways say it, by the code that a node has for being unhealthy.
    'is over the limit of its plan': telling(({ method }) =>
      method === 'getGenesisHash'
        ? undefined
        : { error: { code: -32005, message: "You've exceeded the RPS limit available on the current plan." } },
    ),
    'says nothing of which network it serves': telling(({ method }) => (method === 'getGenesisHash' ? { result: null } : undefined)),
    'has a status of it that cannot be read': telling(({ method, params: [ids] }) =>
      method === 'getSignatureStatuses' && Array.isArray(ids)
        ? { result: { context: { slot: 1e9 }, value: ids.map(() => ({ slot: 1, confirmations: null, err: null })) } }
        : undefined,
    ),
  }
  for (const [how, limit] of Object.entries(limits))
    it(`does not believe that a transaction expired while a node that may have it ${how}`, async () => {
      const { cluster } = site
      const front = await startFaultyProxy()
      front.target = cluster.url
      const away = await node({})
      const mine = await over([away.url, `http://127.0.0.1:${front.port}`])
      try {
        const txHash = await send()
        cluster.blocks(1)
        const landed = cluster.ledger.find(signature(txHash))?.block.height ?? 0n
        // The first comes back without the blocks of then.
        away.options.missing = [landed - 2n, landed + 2n]
        await front.become(limit)
        cluster.blocks(lifetime)
        await looks(site, { times: 5 })
        expect(await stateOf(txHash)).to.equal('BROADCAST')
        await front.become(healthy)
        await comesTo(site, mine, txHash, 'CONFIRMED')
      } finally {
        await front.stop()
      }
    })

  it('goes on looking while a node that is asked for the proof hangs', async () => {
    const { cluster } = site
    const front = await startFaultyProxy()
    front.target = cluster.url
    const mine = await over([cluster.url, `http://127.0.0.1:${front.port}`])
    try {
      cluster.lead(holdsAll)
      const txHash = await send()
      await looks(site)
      const hangs = startHanging()
      await front.become(hangs.fault)
      cluster.blocks(lifetime)
      await until('it is asked', async () => hangs.open() > 0)
      await looks(site, { times: 6 })
      expect(hangs.ended()).to.equal(0)
      expect(await stateOf(txHash)).to.equal('BROADCAST')
      await front.become(healthy)
      await comesTo(site, mine, txHash, 'EXPIRED')
    } finally {
      await front.stop()
    }
  })

  it('keeps a transaction open where no node has history', async () => {
    const { cluster } = site
    const front = await startBare(cluster.url)
    const mine = await over([front.url])
    try {
      await comesTo(site, mine, await send(), 'CONFIRMED')
      cluster.lead(holdsAll)
      const txHash = await send()
      cluster.blocks(lifetime)
      await looks(site, { times: 4 })
      expect(await stateOf(txHash)).to.equal('BROADCAST')
      expect(await site.chain.find('5'.repeat(87), { signal: soon() })).to.equal(undefined)
    } finally {
      await front.stop()
    }
  })
})

describe('believing on Solana that a transaction is final', () => {
  let site: SolanaSite
  let front: FaultyProxy
  let transactions: Transactions
  beforeEach(async () => {
    site = await startSolanaSite()
    front = await startFaultyProxy()
    front.target = site.cluster.url
  })
  afterEach(async () => {
    await transactions?.stop(1000)
    await site?.stop()
    await front?.stop()
  })

  /** Sends one, which no leader takes, by way of a node in front of others. */
  const sendBy = async (others: readonly string[] = []) => {
    await site.chain.stop?.()
    const { chain, asked } = chainOver({ rpcUrls: [`http://127.0.0.1:${front.port}`, ...others], requestTimeoutSeconds })
    site = { ...site, chain, asked, network: { ...site.network, impl: chain } }
    transactions = await transactionsAt(site)
    site.cluster.lead(holdsAll)
    const { txHash } = await transactions.submit(orderOf(site, { plan: transfer(site, site.cluster.faucet.address, 5n) }), soon())
    return txHash
  }
  const entry = async (txHash: string) => entryOf(transactions, txHash)

  /** It says that the transaction is final, in a block of now, and failed or not. */
  const claims = (txHash: string, err: object | null): Fault => {
    const { blocks, tip } = site.cluster.ledger
    const slot = Number(blocks.at(-40)?.slot)
    const status = { slot, confirmations: null, err, status: err ? { Err: err } : { Ok: null }, confirmationStatus: 'finalized' }
    const meta = { err, fee: 5_000, logMessages: [], preBalances: [], postBalances: [], preTokenBalances: [], postTokenBalances: [] }
    const message = { accountKeys: [site.wallet.address], instructions: [] }
    return telling(({ method }) => {
      if (method === 'getSignatureStatuses') return { result: { context: { slot: Number(tip.slot) }, value: [status] } }
      if (method !== 'getTransaction') return undefined
      return { result: { slot, blockTime: null, version: 0, meta, transaction: { signatures: [txHash], message } } }
    })
  }
  const failure = { InstructionError: [0, { Custom: 1 }] }

  for (const [how, err] of Object.entries({ 'has failed': failure, 'is done': null }))
    it(`takes no word of one node that a transaction ${how}, which another has in no block`, async () => {
      const { cluster } = site
      const txHash = await sendBy([cluster.url])
      cluster.blocks(45)
      await front.become(claims(txHash, err))
      await looks(site, { times: 14 })
      expect((await entry(txHash))?.state).to.be.oneOf(['BROADCAST', 'MINED'])
      await front.become(healthy)
      cluster.lead(takesAll)
      await comesTo(site, transactions, txHash, 'CONFIRMED')
    })

  it('asks every other node once, and then no more', async () => {
    const { cluster } = site
    const other = await startFaultyProxy()
    other.target = cluster.url
    try {
      const txHash = await sendBy([`http://127.0.0.1:${other.port}`])
      cluster.lead(takesAll)
      await comesTo(site, transactions, txHash, 'CONFIRMED')
      expect(other.asked.filter((method) => method === 'getSignatureStatuses')).to.have.length(1)
    } finally {
      await other.stop()
    }
  })

  it('goes on without a node that does not answer, after some polls', async () => {
    const txHash = await sendBy(['http://127.0.0.1:1'])
    site.cluster.lead(takesAll)
    await comesTo(site, transactions, txHash, 'CONFIRMED')
  })

  it('goes on looking while a node that is asked for its word hangs', async () => {
    const { cluster } = site
    const other = await startFaultyProxy()
    other.target = cluster.url
    try {
      const txHash = await sendBy([`http://127.0.0.1:${other.port}`])
      await looks(site)
      const hangs = startHanging()
      await other.become(hangs.fault)
      cluster.lead(takesAll)
      cluster.blocks(45)
      await until('it is asked', async () => hangs.open() > 0)
      await looks(site, { times: 6 })
      expect(hangs.ended()).to.equal(0)
      expect((await entry(txHash))?.state).to.equal('MINED')
      await other.become(healthy)
      await comesTo(site, transactions, txHash, 'CONFIRMED')
    } finally {
      await other.stop()
    }
  })

  it('takes a receipt without an error as one of success', async () => {
    const txHash = await sendBy()
    await front.become(async ({ response, answer }) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end((await answer()).replaceAll('"err":null,', '')),
    )
    site.cluster.lead(takesAll)
    await comesTo(site, transactions, txHash, 'CONFIRMED')
    expect(Number(Object((await entry(txHash))?.landed?.receipt).fee)).to.be.above(5_000)
  })

  it('leaves out a receipt that contradicts the status', async () => {
    const { cluster } = site
    const txHash = await sendBy()
    cluster.lead(takesAll)
    cluster.blocks(1)
    await front.become(async ({ calls, response, answer }) => {
      const answers: unknown[] = [JSON.parse(await answer())].flat()
      for (const [index, { method }] of calls.entries()) {
        const meta = Object(Reflect.get(Object(answers[index]), 'result')).meta
        if (method === 'getTransaction' && meta) meta.err = failure
      }
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(calls.length > 1 ? answers : answers))
    })
    await comesTo(site, transactions, txHash, 'CONFIRMED')
    expect(Object((await entry(txHash))?.landed?.receipt).fee).to.equal(null)
  })
})

/** A node that takes questions about signatures and answers none of them, and how many are open and given up. */
function startHanging() {
  let [asked, ended] = [0, 0]
  const fault: Fault = (exchange) => {
    if (!exchange.methods.includes('getSignatureStatuses')) return healthy(exchange)
    asked += 1
    return exchange.response.on('close', () => (ended += 1))
  }
  return { fault, open: () => asked - ended, ended: () => ended }
}

/** A node with `--no-enable-rpc-transaction-history`, as agave answers then. */
async function startBare(target: string): Promise<{ url: string; stop(): Promise<void> }> {
  const noHistory = { code: -32011, message: 'Transaction history is not available from this node' }
  const isAboutHistory = ({ method, params }: { method: string; params: [unknown, { searchTransactionHistory?: boolean }] }) =>
    method === 'getTransaction' || (method === 'getSignatureStatuses' && params[1].searchTransactionHistory === true)
  const server = createServer((request, response) => {
    void (async () => {
      const asked = JSON.parse(await text(request))
      const answer = await fetch(target, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(asked) })
      const calls = [asked].flat()
      const told = [JSON.parse(await answer.text())]
        .flat()
        .map((each, index) => (isAboutHistory(calls[index]) ? { jsonrpc: '2.0', id: each.id, error: noHistory } : each))
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(Array.isArray(asked) ? told : told[0]))
    })()
  })
  // Whoever asks closes what is idle: a request that comes as the server does would be lost.
  server.keepAliveTimeout = 0
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('It has no port.')
  return {
    url: `http://127.0.0.1:${address.port}`,
    async stop() {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    },
  }
}
