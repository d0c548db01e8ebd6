import { badFields } from '../../contracts/index.ts'

/** @throws SluiceError INCOMPLETE_PARAMS where a swap's tokens are one in the pools */
export function requireTwo(tokenIn: string, tokenOut: string): void {
  if (tokenIn === tokenOut) throw badFields([{ field: 'quote', problem: 'is the same token as base, or its wrapped form: give another' }])
}
