import { Wallet } from 'ethers'
import { createClient } from '../../../testkit/client.ts'
import type { Child } from '../child.ts'
import type { OrdersProcess, RawSends } from '../processes/orders.ts'
import type { TradersProcess } from '../processes/traders.ts'
import { ms, perSecond, times, median, type Row } from '../measuring.ts'

const rounds = 3
const connections = 16
const perRound = 400

interface Measure {
  rate: number
  p50Ms: number
  p99Ms: number
  cpuMs: number
}

/** Trades accepted over mutual TLS, beside transactions like them that were signed before and are sent to the same node. */
export async function tradeRate(traders: Child<TradersProcess>, orders: Child<OrdersProcess>): Promise<Row[]> {
  const { url, certsDir, rpcUrl, keys } = await traders.ask('where')
  const addresses = keys.map((key) => new Wallet(key).address)
  const [spare = '', ...others] = keys.toReversed()
  const client = createClient(url, certsDir)
  const raw: RawSends = { rpcUrl, key: spare, like: await oneTrade(client, addresses[0] ?? ''), connections, sends: perRound }
  client.close()

  const trade = async (among: readonly string[], trades: number): Promise<Measure> => {
    const before = await traders.ask('cpu')
    const measured = await orders.ask('trade', { url, certsDir, addresses: among, connections, trades })
    const after = await traders.ask('cpu')
    return { ...measured, cpuMs: (after.user + after.system - before.user - before.system) / 1000 / trades }
  }
  // What is measured are warm servers.
  await trade(addresses.slice(0, 1), 100)
  await orders.ask('sendRaw', { ...raw, sends: 100 })

  const measured = { one: [] as Measure[], ten: [] as Measure[], raw: [] as Omit<Measure, 'cpuMs'>[] }
  for (let round = 0; round < rounds; round += 1) {
    measured.one.push(await trade(addresses.slice(0, 1), perRound))
    // The spare one's transactions are not the server's own.
    measured.ten.push(await trade(addresses.slice(0, others.length), perRound))
    measured.raw.push(await orders.ask('sendRaw', raw))
  }
  const middle = (of: readonly Omit<Measure, 'cpuMs'>[], key: 'rate' | 'p50Ms' | 'p99Ms') => median(of.map((each) => each[key]))
  const rows = (name: string, of: readonly Measure[]): Row[] => [
    {
      name: `${name}: accepted`,
      value: perSecond(middle(of, 'rate')),
      reference: perSecond(middle(measured.raw, 'rate')),
      ratio: times(middle(of, 'rate'), middle(measured.raw, 'rate')),
    },
    {
      name: `${name}: p50`,
      value: ms(middle(of, 'p50Ms')),
      reference: ms(middle(measured.raw, 'p50Ms')),
      ratio: times(middle(of, 'p50Ms'), middle(measured.raw, 'p50Ms')),
    },
    { name: `${name}: p99`, value: ms(middle(of, 'p99Ms')), reference: ms(middle(measured.raw, 'p99Ms')) },
    { name: `${name}: CPU of the server per trade`, value: ms(median(of.map(({ cpuMs }) => cpuMs))) },
  ]
  return [...rows('one wallet', measured.one), ...rows(`${others.length} wallets`, measured.ten)]
}

/** What a trade puts on chain, to be sent again and again. */
async function oneTrade(client: ReturnType<typeof createClient>, address: string): Promise<RawSends['like']> {
  const place = { chain: 'ethereum', network: 'local' }
  const trade = {
    ...place,
    connector: 'uniswap',
    address,
    base: 'ETH',
    quote: 'USDC',
    amount: '0.0001',
    side: 'SELL',
  }
  const { status, text, body } = await client.post('/amm/trade', trade)
  if (status !== 200) throw new Error(`answered ${status}: ${text}`)
  const { txData } = (await client.get('/network/poll', { ...place, txHash: body.txHash })).body
  const { to, input: data, value, gas: gasLimit, maxFeePerGas, maxPriorityFeePerGas, chainId } = txData
  return { to, data, value, gasLimit, maxFeePerGas, maxPriorityFeePerGas, chainId: Number(chainId) }
}
