/** What a node said, fit for an error or the journal: one line, no control characters, not long. */
export function quoteNode(message: string): string {
  return message
    .replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .trim()
    .slice(0, 200)
}
