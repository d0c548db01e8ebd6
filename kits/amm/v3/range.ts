import type { AMMRange, At, Token } from '../../../core/contracts/index.ts'
import type { Evm, EvmReader } from '../../evm/types.ts'
import { deposit } from './range-amounts.ts'
import type { RangeExchange } from '../../../core/kits/uniswap-v3/range/exchange.ts'
import { planAdd } from './range-plans.ts'
import { rangeFill } from '../../../core/kits/uniswap-v3/range/plans/range-fill.ts'
import { planRemove } from '../../../core/kits/uniswap-v3/range/plans/remove.ts'
import { rangeAround } from '../../../core/kits/uniswap-v3/range/prices/range-around.ts'
import { checkedRead } from '../../../core/kits/uniswap-v3/range/reading/checked-read.ts'
import { history } from '../../../core/kits/uniswap-v3/range/reading/history.ts'
import { positionReader } from './range-positions.ts'
import { rangePools } from '../../../core/kits/uniswap-v3/range/reading/range-pools.ts'

/** Positions in an exchange's pools, through its position manager: a NonfungiblePositionManager. */
export function v3Range(exchange: RangeExchange, reader: EvmReader): AMMRange<Evm> {
  const { version, fees, feeTiers, positionManager } = exchange
  const wrapped = reader.wrapped.address
  const read = checkedRead(exchange, reader)
  const { position, positions } = positionReader(exchange, read)
  const addressOf = (token: Token) => (token.native ? wrapped : token.address)

  return {
    rangeVersions: [version],
    feeTiers,
    positionManager,
    async rangePools([a, b], { fee }, at: At) {
      const reading = rangePools(exchange, [addressOf(a), addressOf(b)], fee === undefined ? fees : [fee].filter(isFee))
      const { head, results } = await read(reading.calls, at)
      return { head, pools: reading.pools(results) }
    },
    rangeAround,
    deposit: (pool, range, most) => deposit(pool, range, most),
    add: (what, terms) => planAdd(exchange, wrapped, what, terms),
    position,
    positions,
    remove: (position, what, terms) => planRemove(exchange, wrapped, position, what, terms),
    collect: (position, terms) => planRemove(exchange, wrapped, position, { liquidity: 0n, burn: false }, terms),
    history: (pool, secondsAgo, at) => history(read, pool, secondsAgo, at),
    rangeFill,
  }
}

/** Pools are told apart by 24 bits of it. */
const isFee = (fee: number) => Number.isInteger(fee) && fee >= 0 && fee < 2 ** 24
