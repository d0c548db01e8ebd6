import { readFile } from 'node:fs/promises'
import { STATUS_CODES } from 'node:http'
import { createRequire } from 'node:module'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import Router from '@koa/router'
import { errorsOf, type Endpoint } from '../api/endpoint.ts'
import { endpoints, eventsEndpoint, interfaceVersion } from '../api/index.ts'
import { tradingVerbs } from '../contracts/index.ts'
import { errorTable } from '../errors.ts'
import type { Registry } from '../handlers/registry.ts'
import { codeRoot, inSource } from '../layout.ts'
import { alsoPosts } from './routes.ts'

type Schema = Record<string, unknown>

/** Keywords that only our reader of fields knows. */
const ownKeywords: ReadonlySet<string> = new Set(['expects', 'acceptsNumber', 'apart'])

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
  return {
    openapi: '3.1.0',
    info: {
      title: 'Sluice',
      version: interfaceVersion,
      description: 'One HTTP interface over mutual TLS to decentralized exchanges. Amounts and prices are decimal strings.',
    },
    tags: [...new Set(served.map(({ set }) => set))].map((name) => ({ name })),
    paths,
    components: {
      schemas: { ...Object.fromEntries(served.flatMap(interfaces)), Error: errorSchema },
      securitySchemes: { mutualTLS: { type: 'mutualTLS', description: "A client certificate signed by the server's CA." } },
    },
    security: [{ mutualTLS: [] }],
  }
}

/** Whether a loaded plugin can answer the endpoint. */
function isServed({ set }: Endpoint, { plugins, networks }: Registry): boolean {
  if (set === 'EVM') return networks.some(({ impl }) => impl.evm !== undefined)
  if (set === 'altchain') return networks.some(({ impl }) => impl.altchain !== undefined)
  if (Object.hasOwn(tradingVerbs, set)) return plugins.some(({ state, trading_type }) => state === 'loaded' && trading_type.includes(set))
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

const interfaces = ({ name, request, response }: Endpoint): [string, Schema][] => [
  [`${name}Request`, plain(request)],
  [`${name}Response`, plain(response)],
]

function operation(endpoint: Endpoint, method: Endpoint['method']): object {
  const { name, set, summary, request, permission } = endpoint
  const isStream = name === eventsEndpoint.name
  const ref = (schema: string) => ({ $ref: `#/components/schemas/${schema}` })
  // The fields of a DELETE are in the query or in a body, so that neither is required.
  const inQuery = { GET: request.required ?? [], DELETE: [], POST: undefined }[method]
  const parameters = inQuery ? queryParameters(request.properties, inQuery) : []
  return {
    operationId: method === endpoint.method ? name : `${name}Post`,
    tags: [set],
    summary,
    ...(permission && { description: `Needs the permission \`${permission}\`.` }),
    parameters: [...parameters, ...(endpoint.acts ? [idempotencyKey] : []), ...(isStream ? [lastEventId] : [])],
    ...(method !== 'GET' && { requestBody: { required: method === 'POST', content: json(ref(`${name}Request`)) } }),
    responses: {
      200: isStream
        ? { description: 'Events; the schema is that of their data.', content: { 'text/event-stream': { schema: ref(`${name}Response`) } } }
        : { description: 'OK', content: json(ref(`${name}Response`)) },
      ...(name === 'HealthReady' && { 503: { description: 'Not ready', content: json(ref(`${name}Response`)) } }),
      ...errorResponses(endpoint, ref('Error')),
      ...(method !== 'GET' && bodyResponses(ref('Error'))),
    },
  }
}

const json = (schema: object) => ({ 'application/json': { schema } })

const queryParameters = (properties: object, required: readonly string[]) =>
  Object.entries(properties).map(([name, schema]) => ({ name, in: 'query', required: required.includes(name), schema: plain(schema) }))

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

/** JSON Schema without our own keywords. */
function plain(schema: unknown): Schema {
  return JSON.parse(JSON.stringify(schema, (key, value: unknown) => (ownKeywords.has(key) ? undefined : value)))
}

const assets = { 'swagger-ui.css': 'text/css', 'swagger-ui-bundle.js': 'text/javascript' }
const policy = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'"

const page = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Sluice</title>
<link rel="stylesheet" href="/docs/swagger-ui.css">
<main id="docs"></main>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
</html>
`
const start = "SwaggerUIBundle({ url: '/openapi.json', dom_id: '#docs', deepLinking: true, docExpansion: 'list', validatorUrl: null })\n"

/** The page /docs, which shows the OpenAPI document by the package swagger-ui-dist. */
export function docsPage<State>(): Router<State> {
  const folder = inSource
    ? path.dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'))
    : fileURLToPath(new URL('swagger-ui', codeRoot))
  const router = new Router<State>({ sensitive: true, strict: true })
  router.get('/docs', (ctx) => {
    ctx.set('Content-Security-Policy', policy)
    ctx.type = 'html'
    ctx.body = page
  })
  router.get('/docs/start.js', (ctx) => {
    ctx.type = 'text/javascript'
    ctx.body = start
  })
  for (const [file, type] of Object.entries(assets)) {
    router.get(`/docs/${file}`, async (ctx) => {
      ctx.type = type
      ctx.set('Cache-Control', 'max-age=86400')
      ctx.body = await readFile(path.join(folder, file))
    })
  }
  return router
}
