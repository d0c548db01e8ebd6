import { badFields } from '../../api/index.ts'

/** Strings, so as to pass over them, and numbers. */
const tokens = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g
const exactDigits = 15

/**
 * Refuses a JSON body with a number that a double does not hold as written: the parser has rounded it already.
 * @throws SluiceError INCOMPLETE_PARAMS
 */
export function refuseInexactNumbers(json: string): void {
  for (const [token] of json.matchAll(tokens)) {
    if (token.startsWith('"') || isExact(token)) continue
    throw badFields([
      { field: 'body', problem: `the number ${token.slice(0, 40)} is not exact in JSON; write it as a string: "${token.slice(0, 40)}"` },
    ])
  }
}

function isExact(token: string): boolean {
  const value = Number(token)
  if (/^-?\d+$/.test(token) && Number.isSafeInteger(value)) return true
  const [mantissa = ''] = token.split(/e/i)
  const digits = mantissa.replace(/[-.]/g, '').replace(/^0+/, '')
  // 1e400 became infinite, and 1e-400 became 0: an approval of 0 revokes.
  return digits.length <= exactDigits && Number.isFinite(value) && (value !== 0 || digits === '')
}
