// Writes the types of the Python client, clients/python/src/sluice_client/endpoints.py, from the endpoints' declarations. A test compares them.
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { endpoints, interfaceVersion } from '../core/api/index.ts'
import { eventData, EventsRequest } from '../core/api/events.ts'
import { isObject } from '../core/base/json.ts'

export const pythonTypes = fileURLToPath(new URL('../clients/python/src/sluice_client/endpoints.py', import.meta.url))

type Schema = Record<string, unknown>

/** `allowance` of `AMMPriceResponse` is `AMMPriceResponseAllowance`. */
const literal = (value: unknown): string => (typeof value === 'boolean' ? (value ? 'True' : 'False') : JSON.stringify(value))
const capitalized = (name: string) => `${name.charAt(0).toUpperCase()}${name.slice(1)}`
const words =
  /^(False|None|True|and|as|assert|async|await|break|class|continue|def|del|elif|else|except|finally|for|from|global|if|import|in|is|lambda|nonlocal|not|or|pass|raise|return|try|while|with|yield)$/

export function pythonTypesText(): string {
  const classes: string[] = []

  /** The type as Python writes it. The classes that it needs are appended, each before it is used. */
  function typeOf(schema: Schema, name: string): string {
    const { type, items, properties, patternProperties, anyOf } = schema
    if (schema.acceptsNumber === true) return 'Amount'
    if (Array.isArray(schema.enum)) return `Literal[${schema.enum.map((each) => JSON.stringify(each)).join(', ')}]`
    if ('const' in schema) return `Literal[${literal(schema.const)}]`
    if (Array.isArray(anyOf)) {
      const isSingle = anyOf.filter((each) => isObject(each) && isObject(each.properties)).length < 2
      return anyOf.map((each: Schema, index) => typeOf(each, isSingle ? name : `${name}${index + 1}`)).join(' | ')
    }
    if (isObject(properties)) return objectOf(schema, name)
    if (isObject(patternProperties)) return `dict[str, ${typeOf(Object.values(patternProperties)[0] as Schema, name)}]`
    if (isObject(items)) return `list[${typeOf(items, name)}]`
    const simple = { string: 'str', integer: 'int', number: 'float', boolean: 'bool', null: 'None' }[String(type)]
    if (simple !== undefined) return simple
    if (Object.keys(schema).every((key) => key === 'description')) return 'Any'
    throw new Error(`${name} has a schema that no Python type is known for: ${JSON.stringify(schema)}`)
  }

  /** Fields that may be absent are those of a class of its own: Python 3.10 has no other way to say so. */
  function objectOf({ properties, required = [] }: Schema, name: string): string {
    const fields = Object.entries(properties as Record<string, Schema>).map(([field, schema]) => {
      if (!/^[A-Za-z_]\w*$/.test(field) || words.test(field)) throw new Error(`${name}.${field} is no name in Python.`)
      const { description } = schema
      const type = typeOf(schema, `${name}${capitalized(field)}`)
      return { field, line: `    ${field}: ${type}${typeof description === 'string' ? `  # ${description.replaceAll('\n', ' ')}` : ''}` }
    })
    const isRequired = ({ field }: { field: string }) => (required as readonly string[]).includes(field)
    const [needed, optional] = [fields.filter(isRequired), fields.filter((each) => !isRequired(each))]
    const body = (lines: readonly { line: string }[]) => (lines.length === 0 ? '    pass' : lines.map(({ line }) => line).join('\n'))
    if (needed.length > 0 && optional.length > 0) {
      classes.push(`class _${name}(TypedDict):\n${body(needed)}`, `@final\nclass ${name}(_${name}, total=False):\n${body(optional)}`)
    } else classes.push(`@final\nclass ${name}(TypedDict${needed.length === 0 ? ', total=False' : ''}):\n${body(fields)}`)
    return name
  }

  /** Answers that are no objects of fixed fields have a name too. */
  function named(schema: object, name: string): void {
    if (isObject(Reflect.get(schema, 'properties'))) typeOf(schema as Schema, name)
    else classes.push(`${name} = ${typeOf(schema as Schema, `${name}Entry`)}`)
  }

  for (const { name, request, response, ...more } of endpoints) {
    named(request, `${name}Request`)
    named(response, `${name}Response`)
    if ('line' in more && more.line) {
      // One shape is a class of that name already.
      const lines = typeOf(Object(more.line), `${name}Line`).split(' | ')
      if (lines[0] !== `${name}Line`) classes.push(`${name}Line = Union[${lines.join(', ')}]`)
    }
  }
  named(EventsRequest, 'EventsRequest')
  const topics = Object.entries(eventData)
  for (const [topic, schema] of topics) {
    const [data, event] = [`${capitalized(topic)}Data`, `${capitalized(topic)}Event`]
    named(schema, data)
    classes.push(`class ${event}(NamedTuple):\n    topic: Literal["${topic}"]\n    id: str\n    data: ${data}`)
  }
  classes.push(
    '@final\nclass ReadyData(TypedDict):\n    topics: list[str]',
    'class ReadyEvent(NamedTuple):\n    topic: Literal["ready"]\n    id: str\n    data: ReadyData',
  )
  const events = [...topics.map(([topic]) => topic), 'ready'].map((topic) => ({ topic, name: `${capitalized(topic)}Event` }))

  const methods = (['GET', 'POST', 'DELETE'] as const).map((method) => {
    const verb = method.toLowerCase()
    const options = method === 'GET' ? 'timeout: float | None = None' : 'idempotency_key: str | None = None, timeout: float | None = None'
    const served = endpoints.filter((each) => each.method === method)
    const overloads = served.map(({ name, path, request, summary }) => {
      const isOptional = (request.required ?? []).length === 0
      const fields = `request: ${name}Request${isOptional ? ' = ...' : ''}`
      return [
        ...(served.length > 1 ? ['    @overload'] : []),
        `    def ${verb}(self, path: Literal["${path}"], ${fields}, *, ${options.replaceAll('= None', '= ...')}) -> ${name}Response:`,
        `        """${summary}"""`,
        '        ...',
        '',
      ].join('\n')
    })
    const key = method === 'GET' ? 'None' : 'idempotency_key'
    const body = `        return self._call("${method}", path, request, ${key}, timeout)\n`
    if (served.length < 2) throw new Error(`Only one endpoint is a ${method}: it needs no overload.`)
    return [...overloads, `    def ${verb}(self, path: str, request: Any = None, *, ${options}) -> Any:\n${body}`].join('\n')
  })

  return [
    [
      '"""The endpoints\' types. Written by `node --import tsx tools/python-client.ts`: change their declarations in core/api."""',
      'from __future__ import annotations',
      '',
      'from abc import ABC, abstractmethod',
      'from collections.abc import Mapping',
      'from decimal import Decimal',
      'from typing import Any, Literal, NamedTuple, TypedDict, Union, final, overload',
      '',
      `INTERFACE_VERSION = "${interfaceVersion}"`,
      '',
      '# Of a token, or a price: exact. A float is refused.',
      'Amount = Union[str, int, Decimal]',
    ].join('\n'),
    ...classes,
    `Event = Union[${events.map(({ name }) => name).join(', ')}]`,
    `EVENTS: dict[str, type[Any]] = {${events.map(({ topic, name }) => `"${topic}": ${name}`).join(', ')}}`,
    [
      'class Endpoints(ABC):',
      '    """A method for each HTTP method, with the types of each path."""',
      '',
      '    @abstractmethod',
      '    def _call(self, method: str, path: str, request: Mapping[str, object] | None, key: str | None, timeout: float | None) -> Any:',
      '        """Gives the answer of the server, or raises SluiceError."""',
      '',
      ...methods,
    ].join('\n'),
  ].join('\n\n\n')
}

if (process.argv[1] !== undefined && path.resolve(process.argv[1]) === fileURLToPath(import.meta.url))
  writeFileSync(pythonTypes, pythonTypesText())
