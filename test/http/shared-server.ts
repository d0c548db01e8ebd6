import { getAddress, hexlify, randomBytes } from 'ethers'
import { createClient, type Answer, type Client } from '../../testkit/client.ts'
import { startServer, type TestServer } from '../../testkit/server.ts'
import { rpcTo, type Rpc } from '../../core/devnet/anvil.ts'
import { newClients } from '../../core/tls/certificates.ts'
import { nobody, oneChain } from './one-chain.ts'

export { nobody, oneChain }

/** The devnet's trading wallets. */
export const [admins, traders, others] = [
  '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
  '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
  '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
] as const

/** Where the treasurer may send to. */
export const coldStore = '0x00000000000000000000000000000000C01d5700'

/** Two listed tokens of one symbol, in a list that spells addresses without checksums. */
export const twins = ['0x00000000000000000000000000000000000000a1', '0x00000000000000000000000000000000000000a2'] as const
const twinList = { name: 'Twins', tokens: twins.map((address) => ({ chainId: 31337, address, symbol: 'TWIN', name: 'Twin', decimals: 9 })) }

/** A certificate for each way of being listed; one is not listed at all. */
const clients = {
  client: { permissions: ['read', 'trade', 'send', 'admin'], wallets: 'all', sendTo: { [others]: [coldStore] } },
  trader: { permissions: ['read', 'trade'], wallets: [traders] },
  reader: { permissions: ['read'], wallets: [traders.toLowerCase()] },
  slow: { permissions: ['read'], requestsPerSecond: 0.2 },
  // Its second recipient is nobody's.
  treasurer: { permissions: ['read', 'send'], wallets: [traders], sendTo: { [traders]: ['vault', others, coldStore] } },
  closed: { permissions: ['read', 'trad'], wallets: 'all' },
  idle: { permissions: [], wallets: 'all' },
  bounded: { permissions: ['read', 'trade', 'thin'], wallets: [traders], limits: { maxPriceImpact: 1 } },
}
const certificates = ['treasurer', 'trader', 'reader', 'slow', 'idle', 'closed', 'visitor', 'bounded'] as const

export interface SharedServer extends TestServer {
  as: Record<(typeof certificates)[number], Client>
  /** The devnet's node. */
  rpc: Rpc
}

let started: SharedServer | undefined

/** One server for all tests of this folder; it ends after the last test. Where it does not start, the next file tries again. */
export const sharedServer = async (): Promise<SharedServer> => (started ??= await start())

after(async () => {
  for (const client of Object.values(started?.as ?? {})) client.close()
  await started?.stop()
})

/** A spender that no connector has, and the settings do. */
export const listedSpender = '0x00000000000000000000000000000000000000A7'

async function start(): Promise<SharedServer> {
  const server = await startServer({
    // A hundred trades at once take long on a busy machine.
    settings: {
      ...oneChain.settings,
      'server.requestTimeoutSeconds': 110,
      'limits.bodyBytes': 100_000,
      'wallet.allowedSpenders': ['router', listedSpender],
    },
    conf: { ...oneChain.conf, 'clients.yml': { clients }, 'tokens/ethereum/local.json': JSON.stringify(twinList) },
  })
  const { certsDir } = server.settings.ssl
  const as: Partial<SharedServer['as']> = {}
  await newClients(certsDir, certificates)
  for (const name of certificates) as[name] = createClient(server.kernel.url, certsDir, name)
  return Object.assign(server, { as: as as SharedServer['as'], rpc: rpcTo(server.rpcUrl) })
}

export const local = { chain: 'ethereum', network: 'local' } as const
export const uniswap = { ...local, connector: 'uniswap' } as const
export const swap = { ...uniswap, base: 'WETH', quote: 'USDC', amount: '0.1', side: 'SELL' } as const

/** `200`, or what the error table calls it, so that a failing test shows both. */
export const outcome = ({ status, body }: Answer): string => (status === 200 ? '200' : `${status} ${body?.name}`)

/** Waits until a transaction is mined. */
export async function mined(client: Client, txHash: string): Promise<Answer> {
  const until = Date.now() + 180_000
  for (;;) {
    const answer = await client.get('/network/poll', { ...local, txHash })
    if (answer.body.txStatus === 1) return answer
    if (Date.now() > until) throw new Error(`${txHash} was not mined: ${answer.text}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

/** Waits until the journal too has a transaction in a block: its watcher looks once per block. */
export async function noted(client: Client, txHash: string): Promise<void> {
  const until = Date.now() + 180_000
  // By the journal: the poll says what the chain has before the journal does.
  const state = async () => (await client.get('/transactions', { ...local, txHash })).body.transactions?.[0]?.txState
  while (!['MINED', 'CONFIRMED', 'REVERTED'].includes(await state())) {
    if (Date.now() > until) throw new Error(`${txHash} was not noted.`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

/** A chain that makes no block but those that are asked for, until the work is done; then one a second, and with each transaction. */
export async function withoutBlocks<T>(rpc: Rpc, work: () => Promise<T>): Promise<T> {
  await rpc('evm_setAutomine', false)
  await rpc('evm_setIntervalMining', 0)
  try {
    return await work()
  } finally {
    await rpc('evm_setAutomine', true)
    await rpc('evm_setIntervalMining', 1)
  }
}

/** Takes a transaction out of the node's pool, once it is there. @returns its signed bytes */
export async function takenOut(rpc: Rpc, txHash: string): Promise<unknown> {
  const signed = await atNode(rpc, txHash)
  await rpc('anvil_dropTransaction', txHash)
  return signed
}

/** The server may have sent it again by itself. */
export async function sendAgain(rpc: Rpc, signed: unknown): Promise<void> {
  await rpc('eth_sendRawTransaction', signed).catch((error: unknown) => {
    if (!/already/i.test(String(error))) throw error
  })
}

/** Waits until the node has a transaction: a trade may be answered before. @returns its signed bytes */
export async function atNode(rpc: Rpc, txHash: string): Promise<unknown> {
  for (const until = Date.now() + 180_000; ;) {
    const signed = await rpc('eth_getRawTransactionByHash', txHash)
    if (signed !== null) return signed
    if (Date.now() > until) throw new Error(`${txHash} is not at the node.`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

/** A trade that reverts: a larger one through the same pool is in the block before it, and moves the price past its bound. */
export async function overtaken({ client, rpc }: SharedServer, address: string): Promise<Answer> {
  const of = { ...uniswap, version: 'v2', base: 'ETH', quote: 'USDC' }
  const { body: listed } = await client.get('/amm/pools', of)
  const trade = async (more: object) => {
    const answer = await client.post('/amm/trade', { ...of, pool: listed.pools[0].pool, side: 'SELL', ...more })
    if (answer.status !== 200) throw new Error(answer.text)
    return answer
  }
  return withoutBlocks(rpc, async () => {
    const own = await trade({ amount: '0.5', address, allowedSlippage: '1/10000' })
    const signed = await takenOut(rpc, own.body.txHash)
    // A block of this chain takes what offers most first, if the server has sent the first again by itself.
    const first = await trade({ amount: '25', address: admins, maxPriorityFeePerGas: '20', maxFeePerGas: '299' })
    await atNode(rpc, first.body.txHash)
    await rpc('evm_mine')
    await sendAgain(rpc, signed)
    return own
  })
}

/** The newest block's time, in seconds since the Unix epoch. */
export const chainSeconds = async (rpc: Rpc): Promise<number> =>
  Number(Reflect.get(Object(await rpc('eth_getBlockByNumber', 'latest', false)), 'timestamp'))

/** The same, of a block that the server knows from then on: who was told of one gets nothing from before it. */
export async function toldSeconds(client: Client, rpc: Rpc): Promise<number> {
  const seconds = await chainSeconds(rpc)
  await client.get('/network/poll', { ...local, txHash: `0x${'ab'.repeat(32)}` })
  return seconds
}

/** An address that nobody has used before. */
export const freshAddress = (): string => getAddress(hexlify(randomBytes(20)))

/** Sends a trade of a contained plugin: its spenders may take what the trade needs, neither less nor more. */
export async function tradeExactly(
  client: Client,
  trade: { readonly address: string } & Readonly<Record<string, unknown>>,
): Promise<Answer> {
  for (let tries = 0; ; tries++) {
    const answer = await client.post('/amm/trade', trade)
    const { name, details } = answer.body ?? {}
    const isOfAllowance = name === 'INSUFFICIENT_ALLOWANCE' || details?.reason === 'a standing right'
    if (!isOfAllowance || tries === 4) return answer
    const { spender, tokenAddress = details.token, needed } = details
    const approved = await client.post('/evm/approve', { ...local, address: trade.address, spender, token: tokenAddress, amount: needed })
    if (approved.status !== 200) return approved
    await mined(client, approved.body.txHash)
  }
}
