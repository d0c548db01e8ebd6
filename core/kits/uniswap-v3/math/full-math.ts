const mostUint256 = 2n ** 256n - 1n

/** a × b / denominator, rounded down: FullMath of @uniswap/v3-core@1.0.1. @throws RangeError where it does not fit in 256 bits */
export function mulDiv(a: bigint, b: bigint, denominator: bigint): bigint {
  return fitting((a * b) / denominator)
}

/** a × b / denominator, rounded up. @throws RangeError where it does not fit in 256 bits */
export function mulDivRoundingUp(a: bigint, b: bigint, denominator: bigint): bigint {
  return fitting(divRoundingUp(a * b, denominator))
}

/** Of numbers that are not negative. */
export function divRoundingUp(numerator: bigint, denominator: bigint): bigint {
  const quotient = numerator / denominator
  return quotient * denominator === numerator ? quotient : quotient + 1n
}

function fitting(value: bigint): bigint {
  if (value > mostUint256) throw new RangeError('the quotient does not fit in 256 bits')
  return value
}
