import { curves, isCurve, type CurveName } from '../keys.ts'

/** What of a key file is in the clear. */
export interface KeyHeader {
  readonly curve: CurveName
  /** Canonical. Files of other programs may have none. */
  readonly address?: string
  readonly label?: string
}

/**
 * Reads the parts of an encrypted key file that need no passphrase. A file that does not say its curve is one of
 * secp256k1, as all were that other programs write.
 * @throws Error with half a sentence on what it is not
 */
export function readKeyHeader(json: string): KeyHeader {
  const content = parseObject(json)
  if (Number(content.version) !== 3) throw new Error('it is no version 3 keystore')
  const ours = isRecord(content['x-sluice']) ? content['x-sluice'] : {}
  const { curve = 'secp256k1', label } = ours
  if (!isCurve(curve)) throw new Error('its key is of a kind that this version does not know')
  const address = addressOf(content.address, curve)
  return { curve, ...(address === undefined ? {} : { address }), ...(typeof label === 'string' ? { label } : {}) }
}

function addressOf(given: unknown, curve: CurveName): string | undefined {
  if (given === undefined || given === '') return undefined
  const address =
    typeof given === 'string' ? curves[curve].address(curve === 'secp256k1' ? given.replace(/^(0x)?/, '0x') : given) : undefined
  if (address === undefined) throw new Error('its address is malformed')
  return address
}

export function parseObject(json: string): Record<string, unknown> {
  let content: unknown
  try {
    content = JSON.parse(json)
  } catch {
    throw new Error('it is not JSON') // the parser's own message quotes the file
  }
  if (!isRecord(content)) throw new Error('it is not a JSON object')
  return content
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null
