// Measured on anvil: opening in a market that the account was not in takes 700,000 (close: 530,000), a tick that is crossed some
// 60,000 more, for the exchange keeps growth of its own beside the pool's and goes through it twice.
const orderUnits = 650_000
const stepUnits = 30_000
const tickUnits = 60_000

export const typicalGasUnits = 700_000n

/** An estimate for showing costs; what is signed is simulated first. */
export const gasUnitsOf = ({ steps, ticksCrossed }: { steps: number; ticksCrossed: number }): bigint =>
  BigInt(orderUnits + stepUnits * steps + tickUnits * ticksCrossed)
