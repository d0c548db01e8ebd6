/** What the bytes of an account say; undefined where they say nothing, whatever the node calls it: decoders throw. */
export function decoded<T>(decoder: { decode(data: Uint8Array): T }, data: Uint8Array): T | undefined {
  try {
    return decoder.decode(data)
  } catch {
    return undefined
  }
}
