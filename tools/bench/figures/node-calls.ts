import { here, pair, startAmmSite } from '../../../test/plugins/solana/amm-site.ts'
import { createClient, type Answer } from '../../../testkit/client.ts'
import { roundTripsTo, type RoundTrip } from '../../../testkit/round-trips.ts'
import { startChild, type Child } from '../child.ts'
import { ms, times, median, type Row } from '../measuring.ts'
import type { LoadProcess } from '../processes/load.ts'
import type { SluiceProcess } from '../processes/sluice.ts'
import { quotePath, newQuotes, sameQuote } from '../quote-path.ts'

const quotes = 200
const trades = 5

/** What a warm quote and a trade ask of the node, in HTTP round trips and in JSON-RPC calls. */
export async function nodeCalls(sluice: Child<SluiceProcess>): Promise<{ rows: Row[]; note: string }> {
  const { url, certsDir, wallet } = await sluice.ask('where')
  const client = createClient(url, certsDir)
  try {
    await answered(client.get(quotePath(0)))
    await sluice.ask('recordRoundTrips')
    for (let index = 0; index < quotes; index += 1) await answered(client.get(quotePath(index)))
    const seen = await sluice.ask('takeRoundTrips')
    // Following the chain goes on beside the quotes, at its own pace.
    const asking = seen.map(({ methods }) => methods).filter((methods) => methods.includes('eth_call'))
    const beside = seen.length - asking.length

    const priced = { chain: 'ethereum', network: 'local', connector: 'uniswap', base: 'ETH', quote: 'USDC', amount: '0.01', side: 'SELL' }
    const trade = { ...priced, address: wallet }
    const sequences: (readonly RoundTrip[])[] = []
    for (let index = 0; index < trades; index += 1) {
      // As bots do: the price, and then the trade.
      await answered(client.get(`/amm/price?${new URLSearchParams(priced).toString()}`))
      await sluice.ask('recordRoundTrips')
      const { txHash } = await answered(client.post('/amm/trade', trade))
      sequences.push(await sluice.ask('takeRoundTrips'))
      while ((await answered(client.get(`/network/poll?chain=ethereum&network=local&txHash=${txHash}`))).txStatus !== 1)
        await new Promise((resolve) => setTimeout(resolve, 20))
    }
    // The first is simulated, and the chain is followed during some of them: the shortest is a trade's own.
    const [own = []] = sequences.toSorted((a, b) => a.length - b.length)
    const calls = own.flatMap(({ methods }) => methods)
    const inSequence = Math.max(...own.map(({ step }) => step))
    const rows = [
      { name: 'round trips per quote', value: (asking.length / quotes).toFixed(2), reference: 'none' },
      { name: 'calls per quote', value: (asking.flat().length / quotes).toFixed(2) },
      { name: `other round trips while ${quotes} quotes were made`, value: String(beside) },
      { name: 'round trips of a trade', value: String(own.length) },
      { name: 'of them one after the other', value: String(inSequence), reference: 'at most 1' },
      { name: 'calls of a trade', value: String(calls.length) },
    ]
    return { rows, note: `The trade's: ${own.map(({ step, methods }) => `${step}. ${methods.join(' + ')}`).join('; ')}` }
  } finally {
    client.close()
  }
}

async function answered(request: Promise<Answer>): Promise<Answer['body']> {
  const { status, text, body } = await request
  if (status !== 200) throw new Error(`answered ${status}: ${text}`)
  return body
}

const perpRounds = 20
const venue = { chain: 'ethereum', network: 'local', connector: 'perp' }
const market = { base: 'ETH', quote: 'USD' }

/** What the verbs of a perpetual exchange ask of the node, in HTTP round trips, of a wallet with a position. */
export async function perpCalls(sluice: Child<SluiceProcess>): Promise<Row[]> {
  const { url, certsDir, wallet } = await sluice.ask('where')
  const client = createClient(url, certsDir)
  const answered = async (path: string, fields: object) => {
    const { status, text, body } = await client.post(path, { ...venue, ...fields })
    if (status !== 200) throw new Error(`${path} answered ${status}: ${text}`)
    return body
  }
  const act = async (path: string, fields: object): Promise<readonly RoundTrip[]> => {
    await sluice.ask('recordRoundTrips')
    const { txHash } = await answered(path, fields)
    const seen = await sluice.ask('takeRoundTrips')
    await mined(txHash)
    return seen
  }
  const mined = async (txHash: string) => {
    const { chain, network } = venue
    for (let tries = 0; tries < 200; tries += 1) {
      if ((await client.get('/network/poll', { chain, network, txHash })).body.txStatus === 1) return
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    throw new Error(`${txHash} was not mined.`)
  }
  const order = { ...market, address: wallet, side: 'LONG', amount: '0.1', margin: '100', leverage: '5' }
  try {
    const { chain, network } = venue
    const approval = { chain, network, address: wallet, spender: 'perp', token: 'USDC' }
    await mined((await client.post('/evm/approve', approval)).body.txHash)
    const deposit = await act('/perpAMM/deposit', { address: wallet, token: 'USDC', amount: '1000' })
    const open = await act('/perpAMM/open', order)
    const rows: Row[] = []
    for (const [verb, fields] of [
      ['price', { ...market, side: 'LONG', amount: '0.1' }],
      ['position', { ...market, wallet_address: wallet }],
      ['margin', { wallet_address: wallet }],
      ['funding', { wallet_address: wallet }],
      ['market-prices', market],
      ['balance', { address: wallet }],
    ] as const) {
      await sluice.ask('recordRoundTrips')
      for (let round = 0; round < perpRounds; round += 1) await answered(`/perpAMM/${verb}`, fields)
      const asked = (await sluice.ask('takeRoundTrips')).filter(({ methods }) => methods.includes('eth_call'))
      rows.push({ name: `round trips per ${verb}`, value: (asked.length / perpRounds).toFixed(2), reference: 'at most 1' })
    }
    const close = await act('/perpAMM/close', { ...market, address: wallet })
    for (const [verb, seen] of Object.entries({ open, close, deposit })) {
      // What comes after it follows the chain.
      const sending = seen.find(({ methods }) => methods.includes('eth_sendRawTransaction'))
      rows.push({ name: `one after the other until ${verb} is sent`, value: String(sending?.step) })
    }
    return rows
  } finally {
    client.close()
  }
}

const solanaRounds = 20

/** What calls ask of a node of Solana, in HTTP round trips; nothing else is under way meanwhile. */
export async function solanaCalls(): Promise<Row[]> {
  const site = await startAmmSite({ slotMs: 100, skipped: 0.1 })
  const [address] = site.wallets
  const node = `http://127.0.0.1:${site.proxy.port}`
  const recorder = roundTripsTo(node)
  // The head is followed beside whatever is sent.
  const ofSending = roundTripsTo(node, (methods) => methods.join() === 'getAccountInfo')
  const answered = async (path: string, fields: object) => {
    const { status, text, body } = await site.client.post(path, { ...here, ...fields })
    if (status !== 200) throw new Error(`${path} answered ${status}: ${text}`)
    return body
  }
  /** How many came one after the other until it was sent. */
  const act = async (path: string, fields: object): Promise<number> => {
    ofSending.record()
    const { txHash } = await answered(path, fields)
    const seen = ofSending.take()
    await site.polled(txHash, { txState: 'CONFIRMED' })
    return seen.find(({ methods }) => methods.includes('sendTransaction'))?.step ?? Infinity
  }
  try {
    const rows: Row[] = []
    for (const [path, fields, reference] of [
      ['/network/status', {}, 'at most 1'],
      ['/network/balances', { address, tokenSymbols: ['SOL', 'USDC', 'BASE'] }, 'at most 1'],
      ['/network/poll', { txHash: '5'.repeat(87) }, undefined],
      ['/amm/price', { ...pair, amount: '0.001', side: 'SELL' }, undefined],
    ] as const) {
      await answered(path, fields)
      recorder.record()
      for (let round = 0; round < solanaRounds; round += 1) await answered(path, fields)
      const value = (recorder.take().length / solanaRounds).toFixed(2)
      rows.push({ name: `round trips per ${path}`, value, ...(reference && { reference }) })
    }
    const { address: tokenSymbol } = await site.solana.createMint({ symbol: 'NEW', decimals: 3 })
    site.solana.blocks(2)
    const [created, next]: [number[], number[]] = [[], []]
    for (const address of site.wallets.slice(0, 2)) {
      const trade = () => act('/amm/trade', { ...pair, address, amount: '0.001', side: 'SELL' })
      created.push(await act('/altchain/create-token', { address, tokenSymbol }))
      // It reads the wallet's accounts of the two tokens.
      await trade()
      for (let index = 0; index < trades; index += 1) next.push(await trade())
    }
    // Where the pools are read for a new slot meanwhile, that counts, too: the shortest is what the trade itself takes.
    for (const [what, steps, reference] of [
      ['/altchain/create-token is', created],
      ['/amm/trade is, where the wallet has traded the tokens before,', next, 'at most 2'],
    ] as const)
      rows.push({ name: `one after the other until ${what} sent`, value: String(Math.min(...steps)), ...(reference && { reference }) })
    return rows
  } finally {
    await site.stop()
  }
}

const distanceRounds = 5
const farMs = 50
const [connections, requests] = [1, 500]

/** Warm quotes of a server whose node is far away, beside the same server with its node at hand. */
export async function nodeDistance(): Promise<Row[]> {
  const sluice = await startChild<SluiceProcess>('sluice', ['behind-proxy'])
  try {
    const { url, certsDir } = await sluice.ask('where')
    const load = await startChild<LoadProcess>('load', [certsDir])
    try {
      const rows: Row[] = []
      for (const [name, path] of [
        ['the same', sameQuote()],
        ['new', newQuotes()],
      ] as const) {
        const p50 = async (delayMs: number) => {
          await sluice.ask('delayNode', delayMs)
          return (await load.ask('run', { url, connections, requests, path })).p50Ms
        }
        await p50(0)
        const [far, near]: [number[], number[]] = [[], []]
        for (let round = 0; round < distanceRounds; round += 1) {
          far.push(await p50(farMs))
          near.push(await p50(0))
        }
        const [value, reference] = [median(far), median(near)]
        rows.push({ name: `${name}: p50`, value: ms(value), reference: ms(reference), ratio: times(value, reference) })
      }
      return rows
    } finally {
      await load.end()
    }
  } finally {
    await sluice.end()
  }
}
