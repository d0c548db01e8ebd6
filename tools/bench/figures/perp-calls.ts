import { createClient } from '../../../testkit/client.ts'
import type { RoundTrip } from '../../../testkit/round-trips.ts'
import type { Child } from '../child.ts'
import type { SluiceProcess } from '../processes/sluice.ts'
import type { Row } from '../report.ts'

const rounds = 20
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
      for (let round = 0; round < rounds; round += 1) await answered(`/perpAMM/${verb}`, fields)
      const asked = (await sluice.ask('takeRoundTrips')).filter(({ methods }) => methods.includes('eth_call'))
      rows.push({ name: `round trips per ${verb}`, value: (asked.length / rounds).toFixed(2), reference: 'at most 1' })
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
