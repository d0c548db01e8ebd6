/** The one part of the client library that runs here: the hash that its signatures are over. */
export interface Library {
  createL1ActionHash(what: { action: object; nonce: number; expiresAfter?: number }): string
}

/** Loaded when a venue starts: servers that do not use the exchange are not to wait for it. */
export async function loadLibrary(): Promise<Library> {
  const { createL1ActionHash } = await import('@nktkas/hyperliquid/signing')
  return { createL1ActionHash: (what) => createL1ActionHash({ ...what, action: { ...what.action } }) }
}
