// The arithmetic of programs/pool.c: rounded as there, and undefined where the program refuses.

export interface Reserves {
  inRaw: bigint
  outRaw: bigint
}

const wholeBasisPoints = 10_000n
const most = 2n ** 64n - 1n
const up = (a: bigint, b: bigint) => (a + b - 1n) / b

/** What comes out for exactly `paidRaw`. */
export function gotFor(paidRaw: bigint, { inRaw, outRaw }: Reserves, feeBasisPoints: bigint): bigint | undefined {
  const tradedRaw = paidRaw - up(paidRaw * feeBasisPoints, wholeBasisPoints)
  if (tradedRaw <= 0n || paidRaw > most || inRaw + paidRaw > most) return undefined
  const gotRaw = (tradedRaw * outRaw) / (inRaw + tradedRaw)
  return gotRaw > 0n ? gotRaw : undefined
}

/** What has to be paid for exactly `gotRaw`. */
export function paidFor(gotRaw: bigint, { inRaw, outRaw }: Reserves, feeBasisPoints: bigint): bigint | undefined {
  if (gotRaw >= outRaw) return undefined
  const tradedRaw = up(inRaw * gotRaw, outRaw - gotRaw)
  const paidRaw = up(tradedRaw * wholeBasisPoints, wholeBasisPoints - feeBasisPoints)
  return paidRaw > 0n && inRaw + paidRaw <= most ? paidRaw : undefined
}
