/** JSON pointers (RFC 6901), as ajv writes them in `instancePath`. */
export function pointerOf(segments: readonly (string | number)[]): string {
  return segments.map((segment) => `/${String(segment).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
}

export function segmentsOf(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'))
}

/** For people: `/mainnet/rpcUrls/0` → `mainnet.rpcUrls[0]`. */
export function dotted(pointer: string): string {
  return segmentsOf(pointer)
    .map((segment, index) => (/^\d+$/.test(segment) && index > 0 ? `[${segment}]` : `${index > 0 ? '.' : ''}${segment}`))
    .join('')
}

/** The pointer itself and everything above it, deepest first: where to look for what a problem belongs to. */
export function upwards(pointer: string): string[] {
  const segments = segmentsOf(pointer)
  return segments.map((_, index) => pointerOf(segments.slice(0, segments.length - index))).concat('')
}
