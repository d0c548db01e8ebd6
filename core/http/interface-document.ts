import { parametersOf, type PathOutline, type ServedInterface } from '../plugins/index.ts'
import { plain } from './openapi.ts'

/** The OpenAPI 3.1 document of a plugin's interface. */
export function interfaceDocument(name: string, { paths }: Pick<ServedInterface, 'paths'>): object {
  const described: Record<string, Record<string, object>> = {}
  for (const each of paths) (described[each.path.replace(/:(\w+)/g, '{$1}')] ??= {})[each.method.toLowerCase()] = operation(each)
  return {
    openapi: '3.1.0',
    info: { title: name, version: '1', description: `The interface \`${name}\` of a Sluice server, over mutual TLS.` },
    servers: [{ url: '/' }],
    paths: described,
    components: { securitySchemes: { mutualTLS: { type: 'mutualTLS' } } },
    security: [{ mutualTLS: [] }],
  }
}

function operation({ method, path, summary, permission, request, response }: PathOutline): object {
  const inPath = parametersOf(path)
  const required: readonly string[] = request.required ?? []
  const others = Object.entries(request.properties).filter(([field]) => !inPath.includes(field))
  const needed = others.flatMap(([field]) => (required.includes(field) ? [field] : []))
  const body = { type: 'object', properties: Object.fromEntries(others.map(([field, schema]) => [field, plain(schema)])), required: needed }
  return {
    summary,
    ...(permission !== undefined && { description: `Needs the permission \`${permission}\`.` }),
    parameters: [
      ...inPath.map((field) => ({ name: field, in: 'path', required: true, schema: plain(request.properties[field]) })),
      ...(method === 'GET'
        ? others.map(([field, schema]) => ({ name: field, in: 'query', required: required.includes(field), schema: plain(schema) }))
        : []),
    ],
    ...(method !== 'GET' && others.length > 0 && { requestBody: { content: { 'application/json': { schema: body } } } }),
    responses: {
      200: { description: 'OK', content: { 'application/json': { schema: plain(response) } } },
      default: { description: 'An error, in the shape of this interface.' },
    },
  }
}
