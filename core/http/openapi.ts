import { STATUS_CODES } from 'node:http'
import { errorsOf, streamTypes, type Endpoint, type FieldRule } from '../api/endpoint.ts'
import { endpoints, eventsEndpoint, interfaceVersion } from '../api/index.ts'
import { tradingMethods } from '../contracts/index.ts'
import { errorTable } from '../base/errors.ts'
import { isObject } from '../base/json.ts'
import type { Registry } from '../plugins/index.ts'
import captured from './openapi-examples.json' with { type: 'json' }
import { alsoPosts } from './routes.ts'

type Schema = Record<string, unknown>

/** By the name of the endpoint. */
const examples: Readonly<Record<string, { readonly request: object; readonly response?: unknown }>> = captured

/** Keywords that only our reader of fields and our writer of answers know. */
const ownKeywords: ReadonlySet<string> = new Set(['expects', 'acceptsNumber', 'apart', 'rules', 'digits'])

/** The OpenAPI 3.1 document of the endpoints that the loaded plugins can answer. */
export function openapi(registry: Registry): object {
  const served = [...endpoints, eventsEndpoint]
    .filter((each) => isServed(each, registry))
    .map((each) => ({ ...each, request: withExamples(each.request, registry) }))
  const paths: Record<string, Record<string, unknown>> = {}
  for (const each of served) {
    const path = (paths[each.path] ??= {})
    path[each.method.toLowerCase()] = operation(each, each.method)
    if (alsoPosts(each)) path.post = operation(each, 'POST')
  }
  const used = JSON.stringify(paths)
  const schemas = Object.entries({ ...Object.fromEntries(served.flatMap(interfaces)), Error: errorSchema })
  return {
    openapi: '3.1.0',
    info: {
      title: 'Sluice',
      version: interfaceVersion,
      description: [
        'One HTTP interface over mutual TLS to decentralized exchanges. Amounts and prices are decimal strings; a body may have a JSON number where it is exact.',
        'A field that is null, or empty in a query, is absent. Words of a list of values are taken in any letter case. Lists in a query are `a=x,y` or `a=x&a=y`.',
      ].join(' '),
    },
    // Where the document is: behind any port and any proxy.
    servers: [{ url: '/' }],
    tags: [...new Set(served.map(({ set }) => set))].map((name) => ({ name })),
    paths,
    components: {
      // The fields of a request in the query are its parameters.
      schemas: Object.fromEntries(schemas.filter(([name]) => used.includes(`"${refTo(name).$ref}"`))),
      securitySchemes: { mutualTLS: { type: 'mutualTLS', description: "A client certificate signed by the server's CA." } },
    },
    security: [{ mutualTLS: [] }],
  }
}

/** Whether a loaded plugin can answer the endpoint. */
function isServed({ set }: Endpoint, { plugins, networks }: Registry): boolean {
  if (set === 'EVM') return networks.some(({ impl }) => impl.evm !== undefined)
  if (set === 'altchain') return networks.some(({ impl }) => impl.altchain !== undefined)
  if (Object.hasOwn(tradingMethods, set)) return plugins.some(({ state, trading_type }) => state === 'loaded' && trading_type.includes(set))
  return true
}

/** The request with the names of the loaded chains, networks and connectors as examples. */
function withExamples<R extends Endpoint['request']>(request: R, { plugins, networks }: Registry): R {
  const connectors = plugins.filter(({ kind, state }) => kind === 'connector' && state === 'loaded').map(({ name }) => name)
  const names: Readonly<Record<string, readonly string[]>> = {
    chain: [...new Set(networks.map(({ chain }) => chain))],
    network: [...new Set(networks.map(({ network }) => network))],
    connector: connectors,
  }
  const properties = Object.entries(request.properties).map(([field, schema]) => {
    const examples = names[field] ?? []
    return [field, examples.length > 0 ? { ...schema, examples } : schema]
  })
  return { ...request, properties: Object.fromEntries(properties) }
}

const refTo = (schema: string) => ({ $ref: `#/components/schemas/${schema}` })

const interfaces = ({ name, request, response, line }: Endpoint): [string, Schema][] => [
  [`${name}Request`, plain(inBody(Object(request)))],
  [`${name}Response`, plain(response)],
  ...(line ? [[`${name}Line`, plain(line)] satisfies [string, Schema]] : []),
]

function operation(endpoint: Endpoint, method: Endpoint['method']): object {
  const { name, set, summary, request, permission, line } = endpoint
  const isStream = name === eventsEndpoint.name
  // The fields of a DELETE are in the query or in a body, so that neither is required.
  const inQuery = { GET: request.required ?? [], DELETE: [], POST: undefined }[method]
  const example = examples[name]
  const parameters = inQuery ? queryParameters(request.properties, inQuery, example?.request) : []
  const described = [...(permission ? [`Needs the permission \`${permission}\`.`] : []), ...rulesOf(request).map(inWords)]
  return {
    operationId: method === endpoint.method ? name : `${name}Post`,
    tags: [set],
    summary,
    ...(described.length > 0 && { description: described.join(' ') }),
    parameters: [...parameters, ...(endpoint.acts ? [idempotencyKey] : []), ...(isStream ? [lastEventId] : [])],
    ...(method !== 'GET' && {
      requestBody: { required: method === 'POST', content: json(refTo(`${name}Request`), inQuery ? undefined : example?.request) },
    }),
    responses: {
      200: isStream
        ? {
            description: 'Events; the schema is that of their data.',
            content: { 'text/event-stream': { schema: refTo(`${name}Response`) } },
          }
        : { description: 'OK', content: { ...json(refTo(`${name}Response`), example?.response), ...(line && streamed(name)) } },
      ...(name === 'HealthReady' && { 503: { description: 'Not ready', content: json(refTo(`${name}Response`)) } }),
      ...errorResponses(endpoint, refTo('Error')),
      ...(method !== 'GET' && bodyResponses(refTo('Error'))),
    },
  }
}

const json = (schema: object, example?: unknown) => ({ 'application/json': { schema, ...(example !== undefined && { example }) } })

/** All that there is, by the header `Accept`. */
const streamed = (name: string) => ({
  [streamTypes.ndjson]: { schema: refTo(`${name}Line`) },
  [streamTypes.csv]: { schema: { type: 'string', description: 'RFC 4180 in UTF-8. The first line names the columns.' } },
})

const queryParameters = (properties: object, required: readonly string[], example: object = {}) =>
  Object.entries(properties).map(([name, schema]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    schema: plain(schema),
    ...(name in example && { example: Reflect.get(example, name) }),
  }))

const idempotencyKey = {
  name: 'Idempotency-Key',
  in: 'header',
  description: 'A repeated request with the same key gets the first answer again.',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
}

const lastEventId = {
  name: 'Last-Event-ID',
  in: 'header',
  description: 'The id of the last event that was received. The stream begins after it.',
  schema: plain(eventsEndpoint.request.properties.lastEventId),
}

function errorResponses(endpoint: Endpoint, schema: object): Record<string, object> {
  const errors = errorsOf(endpoint)
  const statuses = [...new Set(errors.map((name) => errorTable[name].http))]
  return Object.fromEntries(
    statuses.map((status) => {
      const here = errors.filter((name) => errorTable[name].http === status).map((name) => `${errorTable[name].code} ${name}`)
      return [status, { description: `${STATUS_CODES[status]}: ${here.join(', ')}`, content: json(schema) }]
    }),
  )
}

/** Errors that only a body can cause. */
const bodyResponses = (schema: object): Record<string, object> =>
  Object.fromEntries(
    [413, 415].map((status) => [
      status,
      {
        description: `${STATUS_CODES[status]}: ${errorTable.INCOMPLETE_PARAMS.code} INCOMPLETE_PARAMS`,
        content: json(schema),
      },
    ]),
  )

const errorSchema = {
  type: 'object',
  properties: {
    errorCode: { type: 'integer', enum: Object.values(errorTable).map(({ code }) => code) },
    name: { type: 'string', enum: Object.keys(errorTable) },
    message: { type: 'string', description: 'What is wrong, and what to do about it.' },
    httpErrorCode: { type: 'integer' },
    requestId: { type: 'string' },
    details: {},
  },
  required: ['errorCode', 'name', 'message', 'httpErrorCode', 'requestId'],
}

/** What a body may have besides: a number for a decimal, where it is exact, and null for a field that may be absent. */
function inBody(schema: Schema): Schema {
  const { type, properties, required, items, acceptsNumber, rules } = schema
  if (acceptsNumber === true) return { ...schema, type: [type, 'number'] }
  if (isObject(items)) return { ...schema, items: inBody(items) }
  if (!isObject(properties)) return schema
  const isRequired = (name: string) => Array.isArray(required) && required.includes(name)
  const fields = Object.entries(properties).map(([name, field]) => {
    const taken = inBody(Object(field))
    return [name, isRequired(name) ? taken : orNull(taken)]
  })
  const ruled = rulesOf({ rules }).map((rule) => inRule(rule, Object(properties)))
  return { ...schema, properties: Object.fromEntries(fields), ...(ruled.length > 0 && { allOf: ruled }) }
}

const rulesOf = (schema: object): readonly FieldRule[] => ('rules' in schema && Array.isArray(schema.rules) ? schema.rules : [])

/** A rule as JSON Schema. A field that is null is not given. */
function inRule({ where, anyOf = [], together = [], without = [] }: FieldRule, properties: Readonly<Record<string, object>>): Schema {
  const isList = (name: string) => 'items' in Object(properties[name])
  const given = (names: readonly string[]) => ({
    required: names,
    properties: each(names, (name) => ({ not: { type: 'null' }, ...(isList(name) && { minItems: 1 }) })),
  })
  const absent = (names: readonly string[]) => ({ properties: each(names, () => ({ type: 'null' })) })
  const demands = [
    ...(anyOf.length > 0 ? [{ anyOf: anyOf.map(given) }] : []),
    ...(together.length > 0 ? [{ anyOf: [given(together), absent(together)] }] : []),
    ...(without.length > 0 ? [absent(without)] : []),
  ]
  const [only = {}, ...others] = demands
  const demanded = others.length === 0 ? only : { allOf: demands }
  return where ? { anyOf: [{ properties: { [where.field]: { not: { enum: where.is } } } }, demanded] } : demanded
}

const each = (names: readonly string[], schema: (name: string) => object) => Object.fromEntries(names.map((name) => [name, schema(name)]))

/** A rule in words: of the fields in a query OpenAPI cannot say it otherwise. */
function inWords({ where, anyOf = [], together = [], without = [] }: FieldRule): string {
  const list = (names: readonly string[], word: string) => names.map((name) => `\`${name}\``).join(` ${word} `)
  const demands = [
    ...(anyOf.length > 0 ? [`give ${anyOf.map((names) => list(names, 'and')).join(', or ')}`] : []),
    ...(together.length > 0 ? [`give all of ${list(together, 'and')}, or none`] : []),
    ...(without.length > 0 ? [`leave out ${list(without, 'and')}`] : []),
  ].join(', and ')
  const sentence = where ? `where \`${where.field}\` is ${where.is.join(' or ')} ${demands}` : demands
  return `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}.`
}

function orNull({ description, ...schema }: Schema): Schema {
  const { type, enum: known } = schema
  const shown = description === undefined ? {} : { description }
  if (type === undefined && known === undefined) return { ...shown, anyOf: [schema, { type: 'null' }] }
  return {
    ...schema,
    ...shown,
    ...(type !== undefined && { type: [type, 'null'].flat() }),
    ...(Array.isArray(known) && { enum: [...known, null] }),
  }
}

/** JSON Schema without our own keywords. */
export function plain(schema: unknown): Schema {
  return JSON.parse(JSON.stringify(schema, (key, value: unknown) => (ownKeywords.has(key) ? undefined : value)))
}
