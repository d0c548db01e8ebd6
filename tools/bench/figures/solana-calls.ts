import { roundTripsTo, type RoundTrip } from '../../../testkit/round-trips.ts'
import { here, pair, startAmmSite } from '../../../test/plugins/solana/amm-site.ts'
import type { Row } from '../report.ts'

const rounds = 20

/** What calls ask of a node of Solana, in HTTP round trips; nothing else is under way meanwhile. */
export async function solanaCalls(): Promise<Row[]> {
  const site = await startAmmSite({ slotMs: 100, skipped: 0.1 })
  const [address] = site.wallets
  const recorder = roundTripsTo(`http://127.0.0.1:${site.proxy.port}`)
  const answered = async (path: string, fields: object) => {
    const { status, text, body } = await site.client.post(path, { ...here, ...fields })
    if (status !== 200) throw new Error(`${path} answered ${status}: ${text}`)
    return body
  }
  const act = async (path: string, fields: object): Promise<readonly RoundTrip[]> => {
    recorder.record()
    const { txHash } = await answered(path, fields)
    const seen = recorder.take()
    await site.polled(txHash, { txState: 'CONFIRMED' })
    return seen
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
      for (let round = 0; round < rounds; round += 1) await answered(path, fields)
      const value = (recorder.take().length / rounds).toFixed(2)
      rows.push({ name: `round trips per ${path}`, value, ...(reference && { reference }) })
    }
    const { address: tokenSymbol } = await site.solana.createMint({ symbol: 'NEW', decimals: 3 })
    site.solana.blocks(2)
    const sent = {
      '/altchain/create-token': await act('/altchain/create-token', { address, tokenSymbol }),
      '/amm/trade': await act('/amm/trade', { ...pair, address, amount: '0.001', side: 'SELL' }),
    }
    for (const [path, seen] of Object.entries(sent)) {
      // What comes after it follows the chain.
      const sending = seen.find(({ methods }) => methods.includes('sendTransaction'))
      rows.push({ name: `one after the other until ${path} is sent`, value: String(sending?.step) })
    }
    return rows
  } finally {
    await site.stop()
  }
}
