import { Interface, Result } from 'ethers'
import type { EventFragment } from 'ethers'
import type { Json } from '../../../contracts/index.ts'
import type { EvmLog, EvmReceipt } from '../../../../kits/evm/types.ts'

/** What tokens and wrapped coins emit: EIP-20, EIP-721 (indexes one more), WETH9. */
const commonEvents = [
  'event Transfer(address indexed from, address indexed to, uint256 value)',
  'event Approval(address indexed owner, address indexed spender, uint256 value)',
  'event Transfer(address indexed from, address indexed to, uint256 indexed tokenId)',
  'event Approval(address indexed owner, address indexed approved, uint256 indexed tokenId)',
  'event Deposit(address indexed dst, uint256 wad)',
  'event Withdrawal(address indexed src, uint256 wad)',
]

interface Known {
  codec: Interface
  fragment: EventFragment
}
/** Signature → fragment. Connectors' lists are constants, so it stays small. */
const known = new Map<string, Known>()

/**
 * The receipt with each log that one of the events explains getting `name` and `events: [{ name, value }]`; integers are decimal
 * strings. The first event whose topics fit wins, the exchange's own before the common ones.
 * @param events signatures: "event Sync(uint112 reserve0, uint112 reserve1)"
 */
export function decodeLogs(receipt: EvmReceipt, events: readonly string[]): Json {
  const all = [...events, ...commonEvents].map(knownEvent)
  return { ...receipt, logs: receipt.logs.map((log) => explain(log, all)) }
}

function explain(log: EvmLog, all: readonly Known[]): Json {
  for (const { codec, fragment } of all) {
    const indexed = fragment.inputs.filter((input) => input.indexed).length
    if (log.topics[0] !== fragment.topicHash || log.topics.length !== indexed + 1) continue
    try {
      const values = codec.decodeEventLog(fragment, log.data, [...log.topics])
      return {
        ...log,
        name: fragment.name,
        events: fragment.inputs.map((input, index) => ({ name: input.name, value: jsonOf(values[index]) })),
      }
    } catch {
      // Another contract's event of that name, or a lie: it stays as it is.
    }
  }
  return log
}

function knownEvent(signature: string): Known {
  const found = known.get(signature)
  if (found) return found
  const codec = new Interface([signature])
  const [fragment] = codec.fragments.filter((one) => one.type === 'event')
  const event = fragment && codec.getEvent(fragment.format())
  if (!event)
    throw new Error(
      `"${signature}" is no event signature: write it like "event Transfer(address indexed from, address indexed to, uint256 value)".`,
    )
  known.set(signature, { codec, fragment: event })
  return { codec, fragment: event }
}

function jsonOf(value: unknown): Json {
  if (typeof value === 'bigint') return value.toString()
  if (value instanceof Result) return value.toArray().map(jsonOf)
  // An indexed string or array is there as its hash only.
  if (typeof value === 'object' && value !== null && 'hash' in value) return jsonOf(value.hash)
  return typeof value === 'string' || typeof value === 'boolean' || typeof value === 'number' ? value : null
}
