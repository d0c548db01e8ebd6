import type { Wanted } from '../routing/arrival.ts'

const rememberedMs = 60_000
const mostRemembered = 1_000
const mostOfOne = 256

/**
 * What the last quoted swap of two tokens had to read on: who asks for much of them once will do so again, and is spared the
 * further round trips.
 */
export function rememberWanted(nowMs: () => number = () => performance.now()) {
  const known = new Map<string, { readonly wanted: readonly Wanted[]; readonly expires: number }>()
  return {
    of(tokenIn: string, tokenOut: string): readonly Wanted[] {
      if (known.size === 0) return []
      const found = known.get(`${tokenIn} ${tokenOut}`)
      return found && found.expires > nowMs() ? found.wanted : []
    },
    put(tokenIn: string, tokenOut: string, wanted: readonly Wanted[]): void {
      if (known.size >= mostRemembered) known.clear()
      known.set(`${tokenIn} ${tokenOut}`, { wanted: wanted.slice(-mostOfOne), expires: nowMs() + rememberedMs })
    },
  }
}
