/** An offer that is made and sorted in, and takes one other: an order usually does the one or the other. */
export const typicalGasUnits = 400_000n
