import type { AMMRange, At, Token } from '../../../contracts/index.ts'
import type { Evm, EvmReader } from '../../evm/types.ts'
import { deposit } from './deposit/deposit.ts'
import type { RangeExchange } from './exchange.ts'
import { planAdd } from './plans/add.ts'
import { rangeFill } from './plans/range-fill.ts'
import { planRemove } from './plans/remove.ts'
import { rangeAround } from './prices/range-around.ts'
import { checkedRead } from './reading/checked-read.ts'
import { history } from './reading/history.ts'
import { positionReader } from './reading/positions.ts'
import { rangePools } from './reading/range-pools.ts'

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
