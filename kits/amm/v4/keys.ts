// Further pools of Uniswap v4, by keys that the operator configures: other fees and tick spacings, hooks, fees that change.
import { getAddress } from 'ethers'
import type { Venue } from '../../../core/contracts/index.ts'
import { isObject } from '../../../core/json.ts'
import type { Evm } from '../../evm/types.ts'
import type { PoolKey } from './pools.ts'

const mostKeys = 500
const address = { type: 'string', pattern: '^0x[0-9a-fA-F]{40}$' }

/** The setting `v4Pools` of a connector: keys of pools, by `<chain>/<network>`. */
export const poolKeysSchema = {
  type: 'object',
  propertyNames: { pattern: '^[a-z0-9-]+/[a-z0-9-]+$', description: '<chain>/<network>, such as ethereum/mainnet' },
  additionalProperties: {
    type: 'array',
    maxItems: mostKeys,
    items: {
      type: 'object',
      properties: {
        currency0: address,
        currency1: address,
        fee: { type: 'integer', minimum: 0, maximum: 0x80_0000 },
        // MIN_TICK_SPACING and MAX_TICK_SPACING of TickMath, @uniswap/v4-core@1.0.2.
        tickSpacing: { type: 'integer', minimum: 1, maximum: 32_767 },
        hooks: address,
      },
      required: ['currency0', 'currency1', 'fee', 'tickSpacing'],
      additionalProperties: false,
    },
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

/** The keys of the network in the configuration. @throws Error that says which one is wrong, and why */
export function configuredKeys({ chain, network, config }: Venue<Evm>): ConfiguredKeys {
  const all = isObject(config) ? config['v4Pools'] : undefined
  const on = `${chain}/${network}`
  const own: unknown = isObject(all) && Object.hasOwn(all, on) ? all[on] : []
  const keys = (Array.isArray(own) ? own : []).map((entry: unknown, index) => readKey(entry, `v4Pools.${on}[${index}]`))
  return { followed: keys.filter((key) => !isAsked(key)), asked: keys.filter(isAsked) }
}

const isAsked = ({ fee, hooks }: PoolKey): boolean => fee === dynamicFee || (BigInt(hooks) & swapFlags) !== 0n

function readKey(entry: unknown, place: string): PoolKey {
  const given: Readonly<Record<string, unknown>> = isObject(entry) ? entry : {}
  const addressOf = (field: string): string => {
    try {
      return getAddress(String(given[field]))
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
  const [fee, tickSpacing] = [Number(given.fee), Number(given.tickSpacing)]
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
