/** JSON-RPC's hexadecimal number, or undefined where the value is none. */
export function quantityOf(value: unknown): bigint | undefined {
  return isQuantity(value) ? BigInt(value) : undefined
}

/** The same as a number: of a block, or of a log in it. */
export function numberOf(value: unknown): number | undefined {
  return isQuantity(value) ? Number(value) : undefined
}

const isQuantity = (value: unknown): value is string => typeof value === 'string' && /^0x[0-9a-fA-F]{1,64}$/.test(value)

/** Bytes as JSON-RPC writes them: any even number of digits. */
export function isBytes(value: unknown): value is string {
  return typeof value === 'string' && value.length % 2 === 0 && /^0x[0-9a-fA-F]*$/.test(value)
}
