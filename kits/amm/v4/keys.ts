// Further pools of Uniswap v4, by keys that the operator configures: other fees and tick spacings, hooks, fees that change.
import { getAddress } from 'ethers'
import type { Venue } from '../../../core/contracts/index.ts'
import { isObject } from '../../../core/base/json.ts'
import type { Evm } from '../../evm/types.ts'
import type { PoolKey } from './pools.ts'

const mostKeys = 500
/** The setting `v4Pools` of a connector: keys of pools, by `<chain>/<network>`. */
export const poolKeysSchema = {
  type: 'object',
  propertyNames: { pattern: '^[a-z0-9-]+/[a-z0-9-]+$', description: '<chain>/<network>, such as ethereum/mainnet' },
  additionalProperties: {
    type: 'array',
    maxItems: mostKeys,
    // Each is read by itself: one that is wrong is left out.
    items: { description: 'currency0, currency1, fee, tickSpacing and, where the pool has some, hooks' },
  },
}

// LPFeeLibrary and Hooks of @uniswap/v4-core@1.0.2. What hooks may do is in the last bits of their address.
const dynamicFee = 0x80_0000
const mostFee = 1_000_000
/** beforeSwap and afterSwap; and that they give or take beside the pool. */
const swapFlags = (1n << 7n) | (1n << 6n)
const deltaFlags = (1n << 3n) | (1n << 2n)
const allFlags = (1n << 14n) - 1n
const zeroAddress = '0x0000000000000000000000000000000000000000'

interface ConfiguredKeys {
  /** Their logs say all that swaps depend on. */
  readonly followed: readonly PoolKey[]
  /** What they give is asked of the chain: hooks act in their swaps, or change their fee, which is not logged. */
  readonly asked: readonly PoolKey[]
}

/** The keys of the network in the configuration. One that is wrong is left out with a warning: the other pools are traded. */
export function configuredKeys({ chain, network, config, log }: Pick<Venue<Evm>, 'chain' | 'network' | 'config' | 'log'>): ConfiguredKeys {
  const all = isObject(config) ? config['v4Pools'] : undefined
  const on = `${chain}/${network}`
  const own: unknown = isObject(all) && Object.hasOwn(all, on) ? all[on] : []
  const keys = (Array.isArray(own) ? own : []).flatMap((entry: unknown, index): PoolKey[] => {
    try {
      return [readKey(entry, `v4Pools.${on}[${index}]`)]
    } catch (error) {
      log.warn({ chain, network, reason: error instanceof Error ? error.message : String(error) }, 'key of a pool left out')
      return []
    }
  })
  return { followed: keys.filter((key) => !isAsked(key)), asked: keys.filter(isAsked) }
}

const isAsked = ({ fee, hooks }: PoolKey): boolean => fee === dynamicFee || (BigInt(hooks) & swapFlags) !== 0n

const fields = ['currency0', 'currency1', 'fee', 'tickSpacing', 'hooks']
// MIN_TICK_SPACING and MAX_TICK_SPACING of TickMath, @uniswap/v4-core@1.0.2.
export const mostTickSpacing = 32_767

/** @throws Error that says which field is wrong, and what to do */
function readKey(entry: unknown, place: string): PoolKey {
  if (!isObject(entry)) throw new Error(`${place} is not a mapping: write ${fields.join(', ')}.`)
  const given: Readonly<Record<string, unknown>> = entry
  const unknown = Object.keys(given).find((field) => !fields.includes(field))
  if (unknown !== undefined) throw new Error(`${place}.${unknown} is not a known key: use ${fields.join(', ')}.`)
  const wholeOf = (field: string, least: number, most: number): number => {
    const value = given[field]
    if (typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most) return value
    throw new Error(`${place}.${field} is not a whole number from ${least} to ${most}: correct it.`)
  }
  const addressOf = (field: string): string => {
    try {
      const text = given[field]
      if (typeof text !== 'string' || !/^0x[0-9a-fA-F]{40}$/.test(text)) throw new Error('no address')
      return getAddress(text)
    } catch {
      throw new Error(
        `${place}.${field} is not an address: copy it again, complete and with the right checksum, or write it in lower case.`,
      )
    }
  }
  const [currency0, currency1] = [addressOf('currency0'), addressOf('currency1')]
  if (BigInt(currency0) >= BigInt(currency1))
    throw new Error(`${place}: currency0 has to be the lower of two addresses (the zero address is the native coin): exchange them.`)
  const hooks = given.hooks === undefined ? zeroAddress : addressOf('hooks')
  const [fee, tickSpacing] = [wholeOf('fee', 0, dynamicFee), wholeOf('tickSpacing', 1, mostTickSpacing)]
  if (fee !== dynamicFee && fee > mostFee)
    throw new Error(`${place}.fee is more than the whole: it is in hundredths of a basis point, or ${dynamicFee} for a fee that changes.`)
  const flags = BigInt(hooks) & allFlags
  if ((flags & deltaFlags) !== 0n)
    throw new Error(
      `${place}: the hooks ${hooks} give or take beside the pool, which their address says, so that nobody could see in a receipt what a swap moved: remove it.`,
    )
  const isPossible = hooks === zeroAddress ? fee !== dynamicFee : flags !== 0n || fee === dynamicFee
  if (!isPossible) throw new Error(`${place}: the PoolManager refuses such hooks with this fee, so there is no such pool: correct the key.`)
  return { currency0, currency1, fee, tickSpacing, hooks }
}
