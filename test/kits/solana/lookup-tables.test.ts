import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect } from 'chai'
import { generateKeyPairSigner, type Address } from '@solana/kit'
import type { Plan, Json } from '../../../core/contracts/index.ts'
import type { Transactions } from '../../../core/transactions/transactions.ts'
import { addressBytes, fromKit, readLookupTable, tokenAccountOf, type Solana, type SolanaIntent } from '../../../kits/solana/index.ts'
import { movedIn } from '../../../kits/solana/movements.ts'
import type { SolanaReceipt } from '../../../kits/solana/index.ts'
import { createPool, swapInstruction, type Pool } from '../../../tools/solana-node/programs/pool.ts'
import { soon } from '../../transactions/site.ts'
import { comesTo, entryOf, orderOf, signChecked, startSolanaSite, transactionsAt, type SolanaSite } from './solana-site.ts'
import { chainOver, soon as at } from './test-cluster.ts'

const reserves = [1_000_000_000_000n, 150_000_000_000n] as const

/** A node in front of another one, which has other addresses in the tables. */
function lyingNode(url: string, addresses: readonly string[], instead: readonly string[]) {
  const bytesOf = (all: readonly string[]) => Buffer.concat(all.map((each) => addressBytes(each)))
  return changingNode(url, (body) =>
    JSON.stringify(body, (_, each: unknown) => {
      const bytes = Buffer.from(typeof each === 'string' ? each : '', 'base64')
      const start = bytes.indexOf(bytesOf(addresses))
      return start < 0 ? each : Buffer.concat([bytes.subarray(0, start), bytesOf(instead)]).toString('base64')
    }),
  )
}

/** A node in front of another one, whose answers it changes. */
async function changingNode(url: string, change: (body: unknown) => string) {
  const headers = { 'content-type': 'application/json' }
  const answerTo = async (body: string) => change(await (await fetch(url, { method: 'POST', headers, body })).json())
  const server = createServer((request, response) => {
    const answered = text(request).then(answerTo)
    void answered.then((body) => response.writeHead(200, headers).end(body))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const stop = async () => {
    server.close()
    server.closeAllConnections()
  }
  return { url: `http://127.0.0.1:${port}`, stop }
}

describe('a swap on Solana that is short enough with a lookup table alone', () => {
  let site: SolanaSite
  let transactions: Transactions
  let pools: readonly Pool[]
  let table: Address
  before(async () => {
    site = await startSolanaSite()
    const { cluster, wallet } = site
    const { BASE, USDC } = cluster.mints
    const made: Pool[] = []
    await cluster.mintTo(wallet.address, BASE, 1_000_000_000n)
    for (const symbol of ['USDC', 'ONE', 'TWO', 'TREE', 'FOUR', 'FIVE']) {
      const mint = symbol === 'USDC' ? USDC : await cluster.createMint({ symbol, decimals: 6 })
      made.push(await createPool(cluster, [BASE, mint], reserves, 30n))
      await cluster.mintTo(wallet.address, mint, 1n)
    }
    pools = made
    cluster.blocks(1)
    transactions = await transactionsAt(site, { sign: signChecked(site.wallet, declared) })
    table = (await generateKeyPairSigner()).address
  })
  after(async () => {
    await transactions?.stop(1000)
    await site?.stop()
  })

  const declared = () => pools.slice(0, 1).map(({ program }) => program)
  const entries = () => pools.flatMap((pool) => [pool.address, pool.authority, ...pool.vaults])

  /** Of BASE, in as many pools at once as one transaction has room for with a table. */
  async function swap(amountRaw = 5_000_000n, of = pools): Promise<Plan<Solana>> {
    const swaps = of.map((pool) => swapInstruction(pool, site.wallet, { pays: 0, exact: 'paid', amountRaw, limitRaw: 1n }))
    const step: SolanaIntent = {
      payer: site.wallet.address,
      instructions: (await Promise.all(swaps)).map(fromKit),
      value: '0',
      rent: '0',
      tables: [{ address: table, addresses: entries() }],
    }
    return { steps: [step], needs: [], memo: null }
  }
  /** Of a product that stays constant, with 30 basis points of what is paid: programs/pool.c. */
  const gotFor = (paidRaw: bigint) => (reserves[1] * paidRaw * 9_970n) / (reserves[0] * 10_000n + paidRaw * 9_970n)
  const submit = async (plan: Plan<Solana>) =>
    transactions.submit(orderOf(site, { plan, kind: 'trade', scope: { contracts: declared(), valueRaw: 0n } }), soon())
  const refusal = async (plan: Plan<Solana>) =>
    submit(plan).then(
      () => 'sent',
      ({ name, message }: Error) => `${name} ${message}`,
    )

  it('is signed, sent and found, and its receipt says what it moved', async () => {
    const { cluster, wallet } = site
    cluster.setLookupTable(table, entries())
    const { txHash } = await submit(await swap())
    await comesTo(site, transactions, txHash, 'MINED')
    const entry = await entryOf(transactions, txHash)
    const landed = cluster.ledger.find(txHash as never)?.landed
    expect(landed?.loaded.writable.toSorted()).to.deep.equal(pools.flatMap(({ vaults }) => vaults).toSorted())
    expect(landed?.wire.message.staticAccounts.length).to.be.below(16)
    const moved = movedIn(entry?.landed?.receipt as SolanaReceipt & Record<string, Json>, wallet.address)
    expect(moved?.get(cluster.mints.BASE.address)).to.equal(-30_000_000n)
    expect(pools.map(({ mints }) => moved?.get(mints[1].address))).to.deep.equal(pools.map(() => gotFor(5_000_000n)))
    expect(moved?.get('11111111111111111111111111111111')).to.equal(0n)
    const found = await site.chain.find(txHash, at())
    expect(found?.receipt?.instructions.map(({ program }) => program)).to.include(pools[0]?.program)
  })

  it('names its accounts in the bytes where it is short enough without', async () => {
    const { txHash } = await submit(await swap(5_000_000n, pools.slice(0, 1)))
    await comesTo(site, transactions, txHash, 'MINED')
    expect(site.cluster.ledger.find(txHash as never)?.landed.loaded).to.deep.equal({ writable: [], readonly: [] })
  })

  it('is refused, and nothing is signed, where the table is another one than when it was planned', async () => {
    const { cluster } = site
    const sent = cluster.sent.length
    const plan = await swap(6_000_000n)
    const [first = table, ...rest] = entries()
    const changes: readonly (readonly [() => void, RegExp])[] = [
      [() => cluster.setLookupTable(table, [...rest, first]), /^TRADE_FAILED .*lookup table \w+ has \w+ in place 0, and not \w+/],
      [() => cluster.setLookupTable(table, entries().slice(0, 3)), /^TRADE_FAILED .*has nothing in place 3/],
      [() => cluster.setLookupTable(table, entries(), { deactivationSlot: cluster.ledger.tip.slot }), /^TRADE_FAILED .*or deactivated/],
      [() => cluster.setLookupTable(table, entries(), { deactivationSlot: 5n }), /^TRADE_FAILED .*or deactivated/],
      [
        () => cluster.svm.setAccount({ ...cluster.svm.getAccount(cluster.mints.BASE.address), address: table } as never),
        /^TRADE_FAILED .*is not there, or deactivated/,
      ],
    ]
    for (const [change, expected] of changes) {
      change()
      cluster.blocks(2)
      expect(await refusal(plan)).to.match(expected)
    }
    expect(cluster.sent.length).to.equal(sent)
    cluster.setLookupTable(table, entries())
  })

  it('pays nobody that one of several nodes has in a table, and has the accounts of the wallet in its bytes', async () => {
    const { cluster, wallet } = site
    cluster.setLookupTable(table, entries())
    cluster.blocks(2)
    const [first = table, ...rest] = entries()
    // It answers as if two others were swapped, and is asked by itself first.
    const liar = await lyingNode(cluster.url, [first, ...rest], [...rest, first])
    const { chain } = chainOver({ rpcUrls: [liar.url, cluster.url] })
    const network = { ...site.network, impl: chain }
    const mine = await transactionsAt({ ...site, chain, network }, { sign: signChecked(wallet, declared) })
    try {
      const of =
        (addresses: readonly Address[], own: readonly string[] = []) =>
        async () => {
          const plan = await swap(8_000_000n)
          const changed = { ...plan, steps: [{ ...plan.steps[0], own, tables: [{ address: table, addresses }] }] as const }
          return mine.submit(
            orderOf({ ...site, chain, network }, { plan: changed, scope: { contracts: declared(), valueRaw: 0n } }),
            soon(),
          )
        }
      const sent = cluster.sent.length
      for (const addresses of [entries(), [...rest, first]])
        await of(addresses)().then(
          () => expect.fail('was signed'),
          ({ name, message }: Error) => expect(`${name} ${message}`).to.match(/^TRADE_FAILED .*lookup table \w+ has \w+ in place 0/),
        )
      expect(cluster.sent.length).to.equal(sent)
    } finally {
      await mine.stop(1000)
      await chain.stop?.()
      await liar.stop()
    }
    const account = tokenAccountOf(wallet.address, cluster.mints.BASE.address) as Address
    cluster.setLookupTable(table, [...entries(), account])
    cluster.blocks(2)
    const plan = await swap(9_000_000n)
    const tables = [{ address: table, addresses: [...entries(), account] }]
    const { txHash } = await submit({ ...plan, steps: [{ ...plan.steps[0], tables, own: [account] }] as never })
    await comesTo(site, transactions, txHash, 'MINED')
    expect(cluster.ledger.find(txHash as never)?.landed.wire.message.staticAccounts).to.include(account)
    cluster.setLookupTable(table, entries())
  })

  it('is refused where a node speaks of its tables in the simulation, and the node stays in use', async () => {
    const { cluster, wallet } = site
    const message = 'invalid transaction: Transaction address table lookup uses an invalid index'
    const late = await changingNode(cluster.url, (body) =>
      JSON.stringify(body, (_, each: unknown) => {
        const { id, result } = (each ?? {}) as { id?: number; result?: { value?: object } }
        return result?.value && 'unitsConsumed' in result.value ? { jsonrpc: '2.0', id, error: { code: -32602, message } } : each
      }),
    )
    const { chain } = chainOver({ rpcUrls: [late.url, cluster.url] })
    try {
      const { steps } = await swap()
      await chain.rail.check(steps, [], wallet.address, { feeOverrides: {} }, at()).then(
        () => expect.fail('it passed'),
        (error: Error) => expect(`${error.name} ${error.message}`).to.match(/^TRADE_FAILED .*uses an invalid index/),
      )
      expect(chain.rpcUrl()).to.equal(late.url)
    } finally {
      await chain.stop?.()
      await late.stop()
    }
  })

  it('is a defect of the plugin where its table is no address, and no node is asked', async () => {
    const plan = await swap()
    site.asked()
    const steps = [{ ...plan.steps[0], tables: [{ address: 'table', addresses: entries() }] }] as never
    expect(await refusal({ ...plan, steps })).to.match(/^UNKNOWN_ERROR The plan names the lookup table table, which is not an address/)
    expect(site.asked()).to.not.include('simulateTransaction')
  })

  it('is sent to every node, also past one that does not know the table yet', async () => {
    const { cluster, chain, wallet } = site
    const plan = await swap(7_000_000n)
    const [step] = plan.steps
    if (!step) throw new Error('A plan has a step.')
    const synced = await chain.rail.sync(wallet.address, at())
    const [sequence = null] = chain.rail.claim(synced, [], 1)
    const draft = chain.rail.draft({ step, fees: { computeUnits: 100_000, price: '1000' } }, sequence)
    const signature = await site.sign({ signable: draft } as Parameters<typeof site.sign>[0])
    const sealed = chain.rail.seal(draft, signature)
    cluster.setLookupTable(table, entries().slice(0, 3))
    // Nobody can say that it never lands: another node may know the table.
    expect(await chain.rail.send(sealed, at())).to.deep.include({ is: 'unclear' })
    cluster.setLookupTable(table, entries())
    expect(await chain.rail.send(sealed, at())).to.deep.include({ is: 'accepted' })
  })

  it('reads a table as its program keeps it, and no other account as one', async () => {
    const { cluster, chain } = site
    cluster.setLookupTable(table, entries())
    cluster.blocks(2)
    const { accounts } = await chain.reader.accounts([table, pools[0]?.address ?? ''], at())
    expect(accounts.map(readLookupTable)).to.deep.equal([entries(), undefined])
  })
})
