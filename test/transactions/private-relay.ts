import { createServer } from 'node:http'
import { id as keccakOf, Transaction, verifyMessage } from 'ethers'

/**
 * Stands for a private relay: a JSON-RPC server that shows nothing to anybody, and gives up what no block took for 25 blocks. It does as Flashbots
 * Protect says of itself and its source shows: docs.flashbots.net/flashbots-protect (cancellations, settings-guide, eth-sendPrivateTransaction),
 * flashbots/rpc-endpoint (server/request_sendrawtx.go, request_processor.go). `eth_sendRawTransaction` needs no signature;
 * `eth_sendPrivateTransaction` and `eth_cancelPrivateTransaction` need one, of any key, and only what that key sent can be cancelled by it.
 */
export interface PrivateRelay {
  readonly url: string
  /** What it was sent, oldest first. */
  readonly received: Transaction[]
  /** What it did not keep to itself, because it found nothing in it to protect. */
  readonly published: readonly Transaction[]
  /** What it has now. */
  held(): readonly Transaction[]
  /** How it answers signed bytes; a test may change it. */
  ways: {
    /**
     * A transaction to oneself without data withdraws what the sender has here on the nonce. Neither is included then. Otherwise it is one like
     * any other: MEV Blocker without `softCancellations`.
     */
    withdraws: boolean
    /** `refuses`: with an error. `hangs`: never answers. `lies`: says that it has them, and drops them. */
    trouble?: 'refuses' | 'hangs' | 'lies' | undefined
  }
  /** It gives up all that it has, and says so to nobody. */
  expire(): void
  /** Has the next block include what it has, lowest nonces first, and nothing that would fail. */
  include(): Promise<void>
  stop(): Promise<void>
}

interface HeldTransaction {
  sent: Transaction
  /** The last block that may include it. */
  until: number
  /** Who signed the request. */
  sender?: string | undefined
}

type Answer = { result: unknown } | { error: { code: number; message: string } } | undefined
type Call = (method: string, ...params: readonly unknown[]) => Promise<unknown>

const maxBlocks = 25
const internalError = (message: string) => ({ error: { code: -32603, message } })

/** @param rpc of the chain's node */
export async function startPrivateRelay(rpc: Call): Promise<PrivateRelay> {
  const received: Transaction[] = []
  const published: Transaction[] = []
  const pool = new Map<string, HeldTransaction>()
  /** By sender and nonce: what it was last sent there to keep. */
  const known = new Map<string, string>()
  const ways: PrivateRelay['ways'] = { withdraws: true }
  const slotOf = ({ from, nonce }: Transaction) => `${from} ${nonce}`
  /** Where blocks come by themselves, nothing expires by their number. */
  const blockNumber = async () => Number((await rpc('eth_blockNumber')) ?? Number.NaN)

  async function take(raw: string, sender?: string, maxBlockNumber?: number): Promise<Answer> {
    const sent = Transaction.from(raw)
    received.push(sent)
    if (ways.trouble === 'hangs') return undefined
    if (ways.trouble === 'refuses') return internalError('internal server error')
    if (ways.trouble === 'lies') return { error: { code: -32000, message: 'already known' } }
    const { hash, to, from, data } = sent
    if (ways.withdraws && to === from && (data.length - 2) / 2 <= 2) return withdraw(sent)
    const slot = slotOf(sent)
    const before = pool.get(slot)
    if (before?.sent.hash === hash) return { result: hash }
    if (before && Number(sent.maxFeePerGas) < Number(before.sent.maxFeePerGas) * 1.1)
      return { error: { code: -32000, message: 'replacement transaction underpriced' } }
    const latest = (await blockNumber()) + maxBlocks
    pool.set(slot, { sent, until: Math.min(maxBlockNumber ?? latest, latest), sender })
    known.set(slot, String(hash))
    return { result: hash }
  }

  async function withdraw(sent: Transaction): Promise<Answer> {
    const slot = slotOf(sent)
    const hash = known.get(slot)
    if (hash === undefined) {
      published.push(sent)
      return { result: await rpc('eth_sendRawTransaction', sent.serialized) }
    }
    if (hash === sent.hash) return { result: hash }
    if (!pool.delete(slot)) return internalError('tx has already expired')
    known.set(slot, String(sent.hash))
    return { result: sent.hash }
  }

  function cancel(txHash: unknown, sender: string): Answer {
    const found = [...pool].find(([, { sent }]) => sent.hash === txHash)
    if (!found || found[1].sender !== sender) return internalError('tx not found')
    pool.delete(found[0])
    return { result: true }
  }

  interface RelayRequest {
    id: number
    method: string
    params: readonly [unknown]
  }

  async function answer({ method, params: [param] }: RelayRequest, sender: string | undefined): Promise<Answer> {
    if (method === 'eth_chainId') return { result: '0x7a69' }
    if (method === 'eth_sendRawTransaction') return take(String(param))
    if (method !== 'eth_sendPrivateTransaction' && method !== 'eth_cancelPrivateTransaction')
      return { error: { code: -32601, message: `the method ${method} does not exist/is not available` } }
    if (sender === undefined) return { error: { code: -32600, message: 'signature is required' } }
    const { tx, maxBlockNumber, txHash } = Object(param)
    if (method === 'eth_cancelPrivateTransaction') return cancel(txHash, sender)
    return take(String(tx), sender, maxBlockNumber === undefined ? undefined : Number(maxBlockNumber))
  }

  /** Undefined where it does not answer. */
  async function answerAll(body: string, sender: string | undefined): Promise<unknown> {
    const asked: RelayRequest | RelayRequest[] = JSON.parse(body)
    const answers = await Promise.all([asked].flat().map(async (each) => ({ id: each.id, answered: await answer(each, sender) })))
    if (answers.some(({ answered }) => answered === undefined)) return undefined
    const bodies = answers.map(({ id, answered }) => ({ jsonrpc: '2.0', id, ...answered }))
    return Array.isArray(asked) ? bodies : bodies[0]
  }

  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (part: Buffer) => (body += part.toString()))
    request.on('end', () => {
      void answerAll(body, signerOf(request.headers['x-flashbots-signature'], body)).then((answers) => {
        if (answers === undefined) return
        response.setHeader('content-type', 'application/json')
        response.end(JSON.stringify(answers))
      })
    })
  })
  // Whoever asks closes what is idle: a request that comes as the server does would be lost.
  server.keepAliveTimeout = 0
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const address = server.address()
  const held = () => [...pool.values()].map(({ sent }) => sent)
  return {
    url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`,
    received,
    published,
    held,
    ways,
    expire: () => pool.clear(),
    async include() {
      const next = (await blockNumber()) + 1
      for (const [slot, { until }] of pool) if (until < next) pool.delete(slot)
      for (const sent of held().toSorted((a, b) => a.nonce - b.nonce)) {
        const { from, to, data, value, gasLimit } = sent
        const call = { from, to, data, value: `0x${value.toString(16)}`, gas: `0x${gasLimit.toString(16)}` }
        const isFine = await rpc('eth_call', call, 'pending').then(
          () => true,
          () => false,
        )
        if (!isFine) continue
        pool.delete(slotOf(sent))
        // It may have come again after its block.
        await rpc('eth_sendRawTransaction', sent.serialized).catch(() => {})
      }
      await rpc('anvil_mine', '0x1')
    },
    async stop() {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    },
  }
}

/** `X-Flashbots-Signature` is `address:signature`, of the body's keccak256 in hex as text (EIP-191). */
function signerOf(header: string | readonly string[] | undefined, body: string): string | undefined {
  const [address, signature] = String(header ?? '').split(':')
  if (address === undefined || signature === undefined) return undefined
  return verifyMessage(keccakOf(body), signature) === address ? address : undefined
}
