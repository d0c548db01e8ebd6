/** Evidence as one line of text. */
export function show(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) => (typeof each === 'bigint' ? each.toString() : each)).slice(0, 3000)
}
