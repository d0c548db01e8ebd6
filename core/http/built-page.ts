// A page that the build made (tools/build.mjs): its files are compressed there, and are read with the first request for one of them.
import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import type Router from '@koa/router'
import type { ParameterizedContext } from 'koa'
import { SluiceError } from '../base/errors.ts'
import { requirePermission } from '../handlers/context.ts'
import type { RequestState } from './request.ts'
import { pageHeaders } from './responses.ts'

export interface BuiltPage {
  /** Of its document; its other files lie below. */
  readonly path: string
  /** With `index.html` and files whose names change with their content, each compressed by Brotli and gzip beside it. */
  readonly folder: URL
}

const encodings = { br: '.br', gzip: '.gz', identity: '' } as const
type Encoding = keyof typeof encodings

interface BuiltFile {
  readonly type: string
  readonly encoded: Readonly<Record<Encoding, Buffer>>
  /** Of all its encodings: an ETag has the encoding behind it. */
  readonly hash: string
}

const document = 'index.html'

/** Nothing of the page comes from elsewhere, and nothing of it goes elsewhere; no other page shows it, and no text becomes markup or code. */
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'"

type Context = ParameterizedContext<RequestState>

/** For certificates that may read. What the page shows and does it asks the endpoints for, as its certificate may. */
export function addBuiltPage(router: Router<RequestState>, { path: at, folder }: BuiltPage): void {
  let files: Promise<ReadonlyMap<string, BuiltFile>> | undefined

  async function fileOf(name: string): Promise<BuiltFile | undefined> {
    files ??= readFiles(folder)
    try {
      return (await files).get(name)
    } catch (cause) {
      files = undefined
      throw new SluiceError('SERVICE_UNINITIALIZED', 'The files of the page are missing here: build them (npm run build).', { cause })
    }
  }

  async function answer(ctx: Context, name: string): Promise<void> {
    ctx.set(pageHeaders(ctx.state.requestId))
    requirePermission(ctx.state.caller, 'read')
    const file = await fileOf(name)
    // An older document may name files of its time.
    if (!file) throw new SluiceError('INCOMPLETE_PARAMS', `${at} has no such file now: load the page again.`, { http: 404 })
    // The smallest that is taken, whatever the order in which they are named.
    const encoding = (['br', 'gzip'] as const).find((each) => ctx.acceptsEncodings(each) === each) ?? 'identity'
    ctx.vary('Accept-Encoding')
    ctx.set({
      'Cache-Control': name === document ? 'no-cache' : 'private, max-age=31536000, immutable',
      'Content-Security-Policy': policy,
      'Cross-Origin-Opener-Policy': 'same-origin',
      'Referrer-Policy': 'no-referrer',
      ETag: `"${file.hash}-${encoding}"`,
    })
    ctx.status = 200
    if (ctx.fresh) {
      ctx.status = 304
      return
    }
    if (encoding !== 'identity') ctx.set('Content-Encoding', encoding)
    ctx.type = file.type
    ctx.body = file.encoded[encoding]
  }

  router.get(at, (ctx) => answer(ctx, document))
  router.get(`${at}/:file`, (ctx) => answer(ctx, String(ctx.params['file'])))
}

async function readFiles(folder: URL): Promise<ReadonlyMap<string, BuiltFile>> {
  const names = (await readdir(folder)).filter((name) => !/\.(br|gz|tmp)$/.test(name))
  const read = (name: string) => readFile(path.join(fileURLToPath(folder), name))
  const entries = await Promise.all(
    names.map(async (name): Promise<[string, BuiltFile]> => {
      const [identity, br, gzip] = await Promise.all([read(name), read(`${name}.br`), read(`${name}.gz`)])
      const hash = createHash('sha256').update(identity).digest('base64url').slice(0, 22)
      return [name, { type: path.extname(name), encoded: { identity, br, gzip }, hash }]
    }),
  )
  return new Map(entries)
}
