/** In captured output: anything may stand here. */
const left = '…'

/** Where an answer's shape differs from the one that a page shows; undefined where it does not. */
export function unlike(shown: unknown, real: unknown, at = 'answer'): string | undefined {
  if (shown === left) return undefined
  if (kindOf(shown) !== kindOf(real)) return `${at} is ${kindOf(real)}, the page shows ${kindOf(shown)}`
  if (Array.isArray(shown) && Array.isArray(real)) return shown.length === 0 ? undefined : unlike(shown[0], real[0], `${at}[0]`)
  if (!isRecord(shown) || !isRecord(real)) return undefined
  const [wanted, found] = [Object.keys(shown).toSorted().join(), Object.keys(real).toSorted().join()]
  if (wanted !== found) return `${at} has ${found}, the page shows ${wanted}`
  return Object.keys(shown)
    .map((key) => unlike(shown[key], real[key], `${at}.${key}`))
    .find((each) => each !== undefined)
}

/** Printed text without what differs from run to run: addresses, hashes, paths, numbers. */
export const printed = (text: string): string =>
  text
    .trim()
    .replaceAll(/0x[0-9a-f]+/gi, '0x')
    .replaceAll(/(?<=\s)\/\S+/g, '/path')
    .replaceAll(/\d[\d.]*/g, '#')

function kindOf(value: unknown): string {
  return value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value)
