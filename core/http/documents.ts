// What is served for people and their tools: the OpenAPI document and the page that shows it.
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type Koa from 'koa'
import type { Registry } from '../plugins/index.ts'
import { codeRoot, inSource } from '../base/layout.ts'

/** A document whose bytes stay the same: a client that has them is told so by their tag. */
class Document {
  readonly #type: string
  readonly #plain: EncodedDocument
  #gzipped: Promise<EncodedDocument> | undefined

  constructor(type: string, content: string | Buffer) {
    this.#type = type
    this.#plain = encoded(Buffer.from(content))
  }

  async answer(ctx: Koa.Context): Promise<void> {
    ctx.vary('Accept-Encoding')
    const isGzipped = ctx.acceptsEncodings('gzip', 'identity') === 'gzip'
    // Once, in another thread.
    const { bytes, tag } = isGzipped ? await (this.#gzipped ??= promisify(gzip)(this.#plain.bytes).then(encoded)) : this.#plain
    ctx.set({ 'Cache-Control': 'no-cache', 'Content-Security-Policy': policy, ETag: tag })
    ctx.status = 200
    if (ctx.fresh) {
      ctx.status = 304
      return
    }
    if (isGzipped) ctx.set('Content-Encoding', 'gzip')
    ctx.type = this.#type
    ctx.body = bytes
  }
}

interface EncodedDocument {
  readonly bytes: Buffer
  readonly tag: string
}

const encoded = (bytes: Buffer): EncodedDocument => ({
  bytes,
  tag: `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 27)}"`,
})

const policy =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"

const page = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Sluice</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/docs/swagger-ui.css">
<main id="docs"></main>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
</html>
`
/**
 * A reading that takes POST as well is shown once. There is nothing to authorize: the browser has the certificate. The filter of Swagger UI knows tags
 * alone, so another finds operations by path, method, name and summary.
 */
const start = `
fetch('/openapi.json').then((answer) => answer.json()).then((spec) => {
  for (const path of Object.values(spec.paths)) if (path.get && path.post && path.post.summary === path.get.summary) delete path.post
  delete spec.security
  delete spec.components.securitySchemes
  const isFound = (operation, words) => {
    const text = ['method', 'path'].map((key) => operation.get(key)).concat(['operationId', 'summary'].map((key) => operation.getIn(['operation', key]))).join(' ').toLowerCase()
    return words.every((word) => text.includes(word))
  }
  const opsFilter = (tags, phrase) => {
    const words = phrase.toLowerCase().split(/\\s+/)
    return tags.map((tag) => tag.set('operations', tag.get('operations').filter((each) => isFound(each, words)))).filter((tag) => tag.get('operations').size > 0)
  }
  SwaggerUIBundle({ spec, dom_id: '#docs', deepLinking: true, docExpansion: 'list', validatorUrl: null, filter: true, plugins: [() => ({ fn: { opsFilter } })] })
})
`

/** `/openapi.json`, and the page /docs, which shows it by the package swagger-ui-dist. Each is made with its first request. */
export function addDocuments(add: (path: string, answer: (ctx: Koa.Context) => Promise<void>) => void, registry: Registry): void {
  const folder = inSource
    ? path.dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'))
    : fileURLToPath(new URL('swagger-ui', codeRoot))
  const asset = (file: string, type: string) => async () => new Document(type, await readFile(path.join(folder, file)))
  const makers: Readonly<Record<string, () => Document | Promise<Document>>> = {
    '/docs': () => new Document('html', page),
    '/docs/start.js': () => new Document('text/javascript', start),
    '/docs/swagger-ui.css': asset('swagger-ui.css', 'text/css'),
    '/docs/swagger-ui-bundle.js': asset('swagger-ui-bundle.js', 'text/javascript'),
  }
  for (const [route, make] of Object.entries(makers)) {
    let made: Document | undefined
    add(route, async (ctx) => (made ??= await make()).answer(ctx))
  }
  let described: { readonly of: string; readonly document: Document } | undefined
  add('/openapi.json', async (ctx) => {
    // With its examples it is the largest text of the interface, and most servers are never asked for it.
    const { openapi } = await import('./openapi.ts')
    // Plugins may be loaded later.
    const of = JSON.stringify([
      registry.plugins.map(({ name, state }) => [name, state]),
      registry.networks.map(({ chain, network }) => [chain, network]),
    ])
    if (described?.of !== of) described = { of, document: new Document('json', JSON.stringify(openapi(registry))) }
    return described.document.answer(ctx)
  })
}
