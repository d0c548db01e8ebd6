/** An offer that is made and sorted in; what meets another one uses less, and what meets several or sweeps up dust uses more. */
export const typicalGasUnits = 250_000n

/** An order that would be filled now is made and sorted in where somebody else comes first, and one that would rest may meet two or three. */
export const spareGas = '350000'
