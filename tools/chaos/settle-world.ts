import { setTimeout as sleep } from 'node:timers/promises'
import { parseEther } from 'ethers'
import { bounded } from './ask.ts'
import { minedSince, nextNonces, offersLeft, offersSince } from './chain/facts.ts'
import { readEvm, signedBytes } from './checker/known.ts'
import type { History, ToldOrder, UnexplainedChange } from './history.ts'
import type { Random } from './random.ts'
import { settle } from './settle.ts'
import type { Stage } from './stage.ts'
import { confirmations, type World } from './world.ts'

/** I6: within the confirmation depth plus so many blocks. */
const extraBlocks = 5
/** Between two blocks while a transaction is not in one: a busy machine needs the time to sign and to send it. Once it is, blocks come as soon as they can. */
const blockMs = 2000
const hastyBlockMs = 400
/** How long a block waits for a busy machine to look at the one before. */
const patienceMs = 15_000

export async function settleWorld(world: World, random: Random): Promise<History> {
  const { chain, proxy, wallets } = world
  // Blocks count from when the faults ended; nobody gets any for free.
  chain.pace(0)
  let told: readonly ToldOrder[] = []
  let unexplained: readonly UnexplainedChange[] = []
  const seen = await settle(world, random, {
    allowed: confirmations + extraBlocks,
    async pass(isWaiting) {
      const { acts } = proxy
      const before = acts.begun
      await chain.mine(1)
      await sleep(hastyBlockMs)
      for (const end = performance.now() + patienceMs; (acts.begun === before || acts.underWay > 0) && performance.now() < end;)
        await sleep(50)
      if (await isWaiting()) await sleep(blockMs - hastyBlockMs)
      return 1
    },
    async atEnd() {
      told = await listOrders(world)
      unexplained = await verifyBooks(world)
    },
  })
  const mined = await minedSince(chain, world.firstBlock, wallets)
  const senders = new Map(mined.map(({ txHash, from }) => [txHash, from]))
  const signed = signedBytes({ journal: seen.journal, sent: proxy.sent }, (raw) => readEvm(raw, senders))
  const next = await nextNonces(chain, wallets)
  return {
    ...seen,
    mined,
    nextNonces: next,
    unexplained,
    orders: {
      told,
      events: await offersSince(chain, world.firstBlock),
      left: await offersLeft(
        chain,
        told.flatMap(({ orderId = [] }) => orderId),
      ),
    },
    signed,
    live: liveFrom(signed, next),
  }
}

/** What is on a nonce that no transaction has used. */
export const liveFrom = (signed: History['signed'], nextNonces: History['nextNonces']): ReadonlySet<string> =>
  new Set(signed.flatMap(({ txHash, from, nonce }) => (nonce >= (nextNonces.get(from) ?? 0) ? txHash : [])))

/** Every order that the server lists of the wallets. */
async function listOrders(stage: Stage): Promise<ToldOrder[]> {
  const told: ToldOrder[] = []
  for (const wallet of stage.wallets) {
    let cursor: string | undefined
    do {
      const { client } = await stage.someServer()
      const query = { ...stage.place, connector: 'oasis', address: wallet, limit: '500', ...(cursor !== undefined && { cursor }) }
      const { status, body, text } = await bounded(client.get('/clob/orders', query))
      if (status !== 200) throw new Error(`/clob/orders answered ${status}: ${text}`)
      for (const { clientOrderId, orderId, side, state, filledAmount } of body.orders)
        if (clientOrderId !== undefined)
          told.push({ wallet, clientOrderId, side, state, filledRaw: parseEther(filledAmount), ...(orderId !== undefined && { orderId }) })
      cursor = body.nextCursor
    } while (cursor !== undefined)
  }
  return told
}

/** Holds the book of each wallet against the chain. */
async function verifyBooks(stage: World): Promise<UnexplainedChange[]> {
  const found: UnexplainedChange[] = []
  for (const wallet of stage.wallets) {
    let cursor: string | undefined
    do {
      const { client } = await stage.someServer()
      const fields = { ...stage.place, address: wallet, ...(cursor !== undefined && { cursor }) }
      const { status, body, text } = await bounded(client.post('/books/verify', fields))
      if (status !== 200) throw new Error(`/books/verify answered ${status}: ${text}`)
      const unexplained: Omit<UnexplainedChange, 'wallet'>[] = body.unexplained
      for (const each of unexplained) found.push({ wallet, ...each, around: await showAround(stage, wallet, each) })
      cursor = body.nextCursor
    } while (cursor !== undefined)
  }
  return found
}

/** What the journal and the chain say of the blocks of a change: the run cannot be looked at again. */
async function showAround(
  { chain, place, someServer }: World,
  wallet: string,
  { firstBlock, lastBlock, txHash }: Omit<UnexplainedChange, 'wallet'>,
): Promise<unknown> {
  const { client } = await someServer()
  const { body } = await bounded(client.get('/transactions', { ...place, address: wallet, limit: '500' }))
  const entries = body.transactions.filter(({ txBlock }: { txBlock: number }) => txBlock >= firstBlock - 1 && txBlock <= lastBlock + 1)
  const balances = await Promise.all(
    [firstBlock - 1, lastBlock].map((block) => chain.rpc('eth_getBalance', wallet, `0x${block.toString(16)}`)),
  )
  const receipt = txHash === undefined ? undefined : await chain.rpc('eth_getTransactionReceipt', txHash)
  return {
    entries: entries.map(({ txHash: hash, kind, connector, txState, txBlock, cost, movements }: Record<string, unknown>) => {
      return { hash, kind, connector, txState, txBlock, cost, movements }
    }),
    balances: balances.map((each) => BigInt(String(each))),
    receipt: ['status', 'gasUsed', 'effectiveGasPrice', 'to'].map((field) => String(Reflect.get(Object(receipt), field))),
  }
}
