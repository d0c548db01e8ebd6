import type { AMMRange, At, Token } from '../../../contracts/index.ts'
import type { Evm, EvmReader } from '../../evm/types.ts'
import { deposit } from './deposit/deposit.ts'
import type { RangeExchange } from './exchange.ts'
import { planAdd } from './plans/add.ts'
import { rangeFill } from './plans/range-fill.ts'
import { planRemove } from './plans/remove.ts'
import { rangeAround } from './prices/range-around.ts'
import { history } from './reading/history.ts'
import { managerCheck } from './reading/manager-check.ts'
import { positionReader } from './reading/positions.ts'
import { rangePools } from './reading/range-pools.ts'

/** Positions in an exchange's pools, through its position manager: a NonfungiblePositionManager. */
export function v3Range(exchange: RangeExchange, reader: EvmReader): AMMRange<Evm> {
  const { version, fees, feeTiers, positionManager } = exchange
  const wrapped = reader.wrapped.address
  const stored = positionReader(exchange, reader)
  const check = managerCheck(exchange, wrapped)
  let checked = false
  /** With the first thing that is read. */
  const checks = () => (checked ? [] : check.calls)
  const verify = (answers: Parameters<typeof check.verify>[0]) => {
    if (answers.length > 0) check.verify(answers)
    checked = true
  }
  const addressOf = (token: Token) => (token.native ? wrapped : token.address)

  return {
    rangeVersions: [version],
    feeTiers,
    positionManager,
    async rangePools([a, b], { fee }, at: At) {
      const reading = rangePools(exchange, [addressOf(a), addressOf(b)], fee === undefined ? fees : [fee].filter(isFee))
      const { head, results } = await reader.read([...reading.calls, ...checks()], at)
      verify(results.slice(reading.calls.length))
      return { head, pools: reading.pools(results) }
    },
    rangeAround,
    deposit: (pool, range, most) => deposit(pool, range, most),
    add: (what, terms) => planAdd(exchange, wrapped, what, terms),
    async position(tokenId, at) {
      const { head, others, position } = await stored.position(tokenId, checks(), at)
      verify(others)
      return position && { head, position }
    },
    async positions(owner, at) {
      const { head, others, positions } = await stored.positions(owner, checks(), at)
      verify(others)
      return { head, positions }
    },
    remove: (position, what, terms) => planRemove(exchange, wrapped, position, what, terms),
    collect: (position, terms) => planRemove(exchange, wrapped, position, { liquidity: 0n, burn: false }, terms),
    history: (pool, secondsAgo, at) => history(reader, pool, secondsAgo, at),
    rangeFill,
  }
}

/** Pools are told apart by 24 bits of it. */
const isFee = (fee: number) => Number.isInteger(fee) && fee >= 0 && fee < 2 ** 24
