import { isSection } from '../tree.ts'

/** Says in words what a JSON Schema asks for: "a whole number from 1 to 65535 (TCP port), for example 15888". */
export function expected(schema: unknown): string {
  if (!isSection(schema)) return 'a value'
  const description = typeof schema['description'] === 'string' ? ` (${schema['description'].replace(/\.$/, '')})` : ''
  const value = schema['default']
  const example = ['string', 'number', 'boolean'].includes(typeof value) ? `, for example ${String(value)}` : ''
  return shape(schema) + description + example
}

function shape(schema: Record<string, unknown>): string {
  const { type, pattern } = schema
  if (Array.isArray(schema['enum'])) return `one of: ${schema['enum'].map((value) => JSON.stringify(value)).join(', ')}`
  if ('const' in schema) return JSON.stringify(schema['const'])
  const choices = schema['anyOf'] ?? schema['oneOf']
  if (Array.isArray(choices)) return choices.map((choice) => expected(choice)).join(', or ')
  if (Array.isArray(type)) return type.map((one) => shape({ ...schema, type: one })).join(', or ')
  switch (type) {
    case 'integer':
      return `a whole number${range(schema)}`
    case 'number':
      return `a number${range(schema)}`
    case 'boolean':
      return 'true or false'
    case 'array':
      return `a list${typeof schema['minItems'] === 'number' ? ` of at least ${schema['minItems']}` : ''}${schema['items'] ? `, each ${expected(schema['items'])}` : ''}`
    case 'object':
      return 'a mapping (`key: value` lines)'
    case 'string':
      return typeof pattern === 'string' && typeof schema['description'] !== 'string' ? `text that matches ${pattern}` : 'text'
    default:
      return 'a value that the schema allows'
  }
}

function range(schema: Record<string, unknown>): string {
  const { minimum, maximum, exclusiveMinimum } = schema
  if (typeof minimum === 'number' && typeof maximum === 'number') return ` from ${minimum} to ${maximum}`
  const low =
    typeof minimum === 'number' ? ` of at least ${minimum}` : typeof exclusiveMinimum === 'number' ? ` above ${exclusiveMinimum}` : ''
  return typeof maximum === 'number' ? `${low}${low ? ' and' : ' of'} at most ${maximum}` : low
}
