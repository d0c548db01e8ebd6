/** The greatest integer whose square is not above the value: Newton's method from above. */
export function squareRootDown(value: bigint): bigint {
  if (value < 2n) return value
  let root = 1n << BigInt((value.toString(2).length + 1) >> 1)
  for (;;) {
    const next = (root + value / root) >> 1n
    if (next >= root) return root
    root = next
  }
}

/** The least integer whose square is not below the value. */
export function squareRootUp(value: bigint): bigint {
  const root = squareRootDown(value)
  return root * root === value ? root : root + 1n
}
