/** What the program refuses by: the order of programs/pool.c, of those that a trade may meet. */
const meanings: Readonly<Record<number, string>> = {
  6005: 'the price has moved past the limit',
  6006: 'the amount is more than the pool can trade',
  6007: 'the amount is too small to be traded',
}

/** By the words of the runtime, which writes an error's number in hexadecimal. */
export const poolRefusals = (program: string): Readonly<Record<string, string>> => ({
  ...Object.fromEntries(
    Object.entries(meanings).map(([code, meaning]) => [`${program}: custom program error: 0x${Number(code).toString(16)}`, meaning]),
  ),
  // What the Token program says of an account that is not there.
  'Token: invalid account data for instruction (InvalidAccountData)':
    'the wallet has no account for one of the two tokens, and POST /altchain/create-token makes it',
})
