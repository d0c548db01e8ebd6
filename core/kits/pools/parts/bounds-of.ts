import type { RoutePart } from './parts-of.ts'

/**
 * A swap's bound, divided among its parts by what each was quoted: together they are the bound, to the unit, so that what it says is what
 * the chain holds to. As long as the quote keeps within the bound, each part of it keeps within its own: what rounding left goes where
 * there is room for it.
 */
export function boundsOf(parts: readonly Pick<RoutePart, 'otherRaw'>[], boundRaw: bigint): readonly bigint[] {
  const quotedRaw = parts.reduce((sum, { otherRaw }) => sum + otherRaw, 0n)
  const bounds = parts.map(({ otherRaw }) => (otherRaw * boundRaw) / quotedRaw)
  let leftRaw = boundRaw - bounds.reduce((sum, each) => sum + each, 0n)
  return parts.map(({ otherRaw }, index) => {
    const ownRaw = bounds[index] ?? 0n
    const roomRaw = otherRaw > ownRaw ? otherRaw - ownRaw : 0n
    const moreRaw = index === parts.length - 1 || leftRaw < roomRaw ? leftRaw : roomRaw
    leftRaw -= moreRaw
    return ownRaw + moreRaw
  })
}
