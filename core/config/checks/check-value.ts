import type { ValidateFunction } from 'ajv'
import { getAt, setAt, type Section } from '../tree.ts'

/**
 * Validates in place. Text that came from the environment is turned into the number, truth value or list that the
 * schema asks for at its place; what stands in a file must have its type already.
 * @param textual JSON pointers of the texts from the environment
 */
export function checkValue<T>(validate: ValidateFunction<T>, value: Section, textual: ReadonlySet<string>): value is Section & T {
  if (validate(value)) return true
  let changed = false
  for (const { keyword, instancePath, params } of validate.errors ?? []) {
    if (keyword !== 'type' || !textual.has(instancePath)) continue
    const text = getAt(value, instancePath)
    const typed = typeof text === 'string' ? fromText(text, params['type']) : undefined
    if (typed === undefined) continue
    setAt(value, instancePath, typed)
    changed = true
  }
  return changed && validate(value)
}

function fromText(text: string, type: unknown): number | boolean | readonly string[] | undefined {
  const trimmed = text.trim()
  if (type === 'boolean') return trimmed === 'true' ? true : trimmed === 'false' ? false : undefined
  if (type === 'array') return listFromText(trimmed)
  if (type !== 'integer' && type !== 'number') return undefined
  const number = /^-?(0|[1-9]\d*)(\.\d+)?$/.test(trimmed) ? Number(trimmed) : undefined
  return number !== undefined && Number.isInteger(number) && !Number.isSafeInteger(number) ? undefined : number
}

/** `a, b` or `["a","b"]`. */
function listFromText(text: string): readonly string[] | undefined {
  if (!text.startsWith('['))
    return text
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== '')
  try {
    const list: unknown = JSON.parse(text)
    return Array.isArray(list) && list.every((item) => typeof item === 'string') ? list : undefined
  } catch {
    return undefined
  }
}
