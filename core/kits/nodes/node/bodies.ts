interface Part<S> {
  json: string
  sent: readonly S[]
}

/**
 * A batch as bodies of requests, its calls in their order: as few as keep each within what nodes take. One call alone is never cut.
 * @param mostBytes Infinity where nodes take whatever comes
 */
export function bodiesOf<S>(sent: readonly S[], mostBytes: number): readonly Part<S>[] {
  const parts: { texts: string[]; sent: S[]; bytes: number }[] = []
  for (const each of sent) {
    const text = JSON.stringify(each)
    // With the comma, or the bracket, that follows.
    const bytes = Buffer.byteLength(text) + 1
    const last = parts.at(-1)
    if (last && 1 + last.bytes + bytes <= mostBytes) {
      last.texts.push(text)
      last.sent.push(each)
      last.bytes += bytes
    } else parts.push({ texts: [text], sent: [each], bytes })
  }
  return parts.map(({ texts, sent: of }) => ({ json: `[${texts.join(',')}]`, sent: of }))
}
