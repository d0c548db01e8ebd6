import { setTimeout as sleep } from 'node:timers/promises'
import { createClient, type Answer, type Client } from '../../../testkit/client.ts'
import type { Child } from '../child.ts'
import type { Row } from '../measuring.ts'
import type { SluiceProcess } from '../processes/sluice.ts'

const [positions, seconds, atOnce] = [50, 30, 10]
const wantedPercent = 2
const on = { chain: 'ethereum', network: 'local' }
const uniswap = { ...on, connector: 'uniswap' }

/** Positions that a bot of Hummingbot looks at each second: what that costs beside a server that nobody asks, and what it asks of the node. */
export async function watchedPositions(sluice: Child<SluiceProcess>): Promise<{ rows: Row[]; note: string }> {
  const { url, interfaceUrls, certsDir, wallet } = await sluice.ask('where')
  const [native, bot] = [createClient(url, certsDir), createClient(interfaceUrls['hummingbot'] ?? '', certsDir)]
  try {
    const ids = await opened(native, wallet)
    const look = async (tokenId: string) =>
      ask(bot, 'GET', `/trading/clmm/position-info?chainNetwork=ethereum-local&connector=uniswap&positionAddress=${tokenId}`)
    const lookAtAll = async () => void (await Promise.all(ids.map(look)))
    // As often as such a bot asks in seven minutes, and two minutes as often as it asks: until then what is measured is compiled.
    for (let times = 0; times < 400; times += 1) await lookAtAll()
    for (let times = 0; times < 4; times += 1) await during(sluice, lookAtAll)
    const watched = await during(sluice, lookAtAll)
    // What nobody looks at is not followed any more.
    await sleep(40_000)
    const quiet = await during(sluice, async () => {})
    const more = watched.percent - quiet.percent
    return {
      rows: [
        {
          name: `${positions} positions, each looked at once a second`,
          value: `${more.toFixed(2)} % of a core`,
          reference: `${quiet.percent.toFixed(2)} % of a server that nobody asks`,
          ratio: `wanted below ${wantedPercent} %`,
        },
        {
          name: 'calls to the node for them in a second',
          value: ((watched.calls - quiet.calls) / seconds).toFixed(2),
          reference: 'a block each second',
        },
      ],
      note: `${watched.answers} looks in ${seconds} s, by processor time of the server.`,
    }
  } finally {
    native.close()
    bot.close()
  }
}

/** Processor time of the server and its readings of contracts, while something is done once a second. */
async function during(sluice: Child<SluiceProcess>, each: () => Promise<void>) {
  await sluice.ask('recordRoundTrips')
  const before = await sluice.ask('cpu')
  const startedAt = performance.now()
  for (let second = 1; second <= seconds; second += 1) {
    await each()
    await sleep(Math.max(0, startedAt + second * 1_000 - performance.now()))
  }
  const after = await sluice.ask('cpu')
  const tookMs = performance.now() - startedAt
  const calls = (await sluice.ask('takeRoundTrips')).flatMap(({ methods }) => methods).filter((method) => method === 'eth_call').length
  const percent = (after.user + after.system - before.user - before.system) / 1000 / tookMs / 0.01
  return { percent, calls, answers: positions * seconds }
}

/** A tenth of its price to both sides, in the deepest pool. @returns their ids */
async function opened(client: Client, address: string): Promise<readonly string[]> {
  const done = async (path: string, fields: object): Promise<Answer['body']> => {
    const { txHash } = await ask(client, 'POST', path, { ...on, address, ...fields })
    for (;;) {
      const found = await ask(client, 'GET', `/network/poll?chain=ethereum&network=local&txHash=${txHash}`)
      if (found.txStatus === 1 && found.fill !== undefined) return found.fill
      if (found.txStatus === 1 && !path.includes('liquidity')) return undefined
      await sleep(250)
    }
  }
  await done('/evm/wrap', { amount: '5' })
  for (const token of ['WETH', 'USDC']) await done('/evm/approve', { spender: 'uniswap/positions', token })
  const { pools } = await ask(client, 'GET', '/amm/pools?chain=ethereum&network=local&connector=uniswap&base=WETH&quote=USDC&version=v3')
  const [{ pool }] = pools
  const { token0, token1, price } = await ask(client, 'POST', '/amm/liquidity/price', { ...uniswap, pool })
  const [lowerPrice, upperPrice] = [price * 0.9, price * 1.1].map(String)
  const amounts = Number(price) < 1 ? { amount0: '30', amount1: '0.01' } : { amount0: '0.01', amount1: '30' }
  const addition = { connector: 'uniswap', token0, token1, pool, lowerPrice, upperPrice, ...amounts }
  const ids: string[] = []
  while (ids.length < positions) {
    const some = await Promise.all(Array.from({ length: atOnce }, () => done('/amm/liquidity/add', addition)))
    ids.push(...some.map(({ tokenId }) => String(tokenId)))
  }
  return ids
}

async function ask(client: Client, method: 'GET' | 'POST', path: string, fields?: object): Promise<Answer['body']> {
  const { status, text, body } = await (method === 'GET' ? client.get(path) : client.post(path, fields))
  if (status !== 200) throw new Error(`${path} answered ${status}: ${text}`)
  return body
}
