import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import path from 'node:path'
import Router from '@koa/router'

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

/** A page to read the OpenAPI document, from files of the package swagger-ui-dist. */
export function docsPage<State>(): Router<State> {
  const folder = path.dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'))
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
