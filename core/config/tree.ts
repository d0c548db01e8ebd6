import { pointerOf, segmentsOf } from './yaml/pointer.ts'

/** A mapping of a configuration file. */
export interface Section {
  [key: string]: unknown
}

export function isSection(value: unknown): value is Section {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** What a layer says goes over what is below: mappings are merged, all else (lists too) is replaced; null says nothing. */
export function layOver(below: Section, over: Section): Section {
  const merged: Section = { ...below }
  for (const [key, value] of Object.entries(over)) {
    if (value === null || value === undefined) continue
    const beneath = Object.hasOwn(merged, key) ? merged[key] : undefined
    merged[key] = isSection(value) ? layOver(isSection(beneath) ? beneath : {}, value) : structuredClone(value)
  }
  return merged
}

export function getAt(tree: unknown, pointer: string): unknown {
  let at = tree
  for (const segment of segmentsOf(pointer)) {
    if (Array.isArray(at)) at = at[Number(segment)]
    else if (isSection(at) && Object.hasOwn(at, segment)) at = at[segment]
    else return undefined
  }
  return at
}

/** Sets a value in place. Does nothing where what should hold it is no mapping or list: that is reported by the schema. */
export function setAt(tree: Section, pointer: string, value: unknown): void {
  const segments = segmentsOf(pointer)
  const last = segments.pop()
  const parent = getAt(tree, pointerOf(segments))
  if (last === undefined) return
  if (Array.isArray(parent)) parent[Number(last)] = value
  else if (isSection(parent)) parent[last] = value
}

/** A copy in which each text was replaced by what `change` makes of it. */
export function mapTexts(value: unknown, change: (text: string, pointer: string) => string, pointer = ''): unknown {
  if (typeof value === 'string') return change(value, pointer)
  if (Array.isArray(value)) return value.map((item, index) => mapTexts(item, change, pointer + pointerOf([index])))
  if (!isSection(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, mapTexts(item, change, pointer + pointerOf([key]))]))
}
