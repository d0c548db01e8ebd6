import { expect } from 'chai'
import { devnetTokenSymbols } from '../../../contracts/devnet.ts'
import { venueOf, type Bench } from '../../../../testkit/cards/venue.ts'

/** A pool that positions are made in, and that the exchange's own swaps go through. */
export interface Ground {
  token0: string
  token1: string
  fee: number
  /** Its address. */
  pool: string
  /** The one that swaps must name, where they would go elsewhere otherwise. */
  version?: string
}

/** Which of the devnet's pairs has such a pool, and in which fee tier. */
export async function findGround(bench: Bench): Promise<Ground> {
  const { client, connector } = bench
  const { body: config } = await client.get('/connector/config', { connector })
  const told: string[] = []
  for (const [i, token0] of devnetTokenSymbols.entries()) {
    for (const token1 of devnetTokenSymbols.slice(i + 1)) {
      for (const version of [undefined, ...Object.keys(config.versions ?? {})]) {
        const swap = {
          ...venueOf(bench),
          ...(version !== undefined && { version }),
          base: token0,
          quote: token1,
          amount: '0.01',
          side: 'SELL',
        }
        const [hop, ...more] = (await client.get('/amm/price', swap)).body.route ?? []
        if (hop?.fee === undefined || more.length > 0) continue
        const fee = Math.round(Number(hop.fee) * 1_000_000)
        const { body, text } = await client.post('/amm/liquidity/price', { ...venueOf(bench), token0, token1, fee })
        if (body?.pool === hop.pool) return { token0, token1, fee, pool: hop.pool, ...(version !== undefined && { version }) }
        told.push(`${token0}-${token1} at ${fee} by ${hop.pool}: ${text}`)
      }
    }
  }
  return expect.fail(`its swaps go through none of its pools with ranges:\n${told.join('\n')}`)
}
