// Who may use the local process of `sluice dashboard`: the browser that was opened by its link, which counts once.
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { isObject } from '../base/json.ts'
import { command } from '../base/layout.ts'
import { isOfForeignPage } from '../http/origins.ts'
import { refusalOfAddress, type ProxyDoor } from './local-proxy.ts'

export interface DashboardDoor extends ProxyDoor {
  /** The secret stands behind the #, which browsers keep to themselves: it is in no request but the one that exchanges it. */
  link(port: number): string
}

const page = (text: string, script = ''): string => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Sluice</title>
<main><p id="text">${text}</p></main>
${script}</html>
`
const closed = page(
  `This page is for the browser that has opened the link of “${command} dashboard”. Start that command again: each link works once.`,
)
const opening = page('Opening…', '<script src="/open.js"></script>\n')

/** The secret leaves the address before anything else happens, so that it stands in no history. */
const script = `
const secret = location.hash.slice(1)
history.replaceState(null, '', '/')
const open = secret === ''
  ? Promise.resolve({ ok: true })
  : fetch('/open', { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ secret }) })
open.then(async (answer) => {
  if (answer.ok) location.replace('/dashboard')
  else document.querySelector('#text').textContent = (await answer.json()).message
})
`

const policy = "default-src 'none'; script-src 'self'; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"

export function createDashboardDoor(): DashboardDoor {
  const secret = newSecret()
  const session = newSecret()
  let isUsed = false

  const isOpen = ({ headers, socket }: IncomingMessage): boolean => {
    const name = `${cookieName(socket.localPort)}=`
    const given = (headers.cookie ?? '').split('; ').find((each) => each.startsWith(name))
    return given !== undefined && isSame(given.slice(name.length), session)
  }

  function open(request: IncomingMessage, response: ServerResponse, body: Buffer): void {
    if (!isSame(secretIn(body), secret)) return answerJson(response, 403, 'This is not the link of this process.')
    if (isUsed) return answerJson(response, 403, `This link was used already. Start “${command} dashboard” again: each link works once.`)
    isUsed = true
    response.writeHead(204, { 'set-cookie': `${cookieName(request.socket.localPort)}=${session}; HttpOnly; SameSite=Strict; Path=/` }).end()
  }

  return {
    link: (port) => `http://localhost:${port}/#${secret}`,
    passed: ['if-none-match', 'last-event-id'],
    hasKeys: true,
    refusalOf(request) {
      if (isOfForeignPage(request.headers, 'http')) return 'a page of another origin may not use the dashboard'
      return refusalOfAddress(request)
    },
    answers(request, response, body) {
      const { method, url } = request
      if (method === 'GET' && url === '/') return answered(response, 200, 'text/html', opening)
      if (method === 'GET' && url === '/open.js') return answered(response, 200, 'text/javascript', script)
      if (method === 'POST' && url === '/open') {
        open(request, response, body)
        return true
      }
      return isOpen(request) ? false : answered(response, 403, 'text/html', closed)
    },
  }
}

/** Cookies are shared by all ports of a host: each process has its own. */
const cookieName = (port: number | undefined): string => `sluice-dashboard-${port}`

const newSecret = (): string => randomBytes(32).toString('base64url')

/** In a time that does not depend on where they differ. */
const isSame = (one: string, other: string): boolean => timingSafeEqual(hashOf(one), hashOf(other))
const hashOf = (text: string): Buffer => createHash('sha256').update(text).digest()

function secretIn(body: Buffer): string {
  try {
    const given: unknown = JSON.parse(body.toString())
    return isObject(given) && typeof given['secret'] === 'string' ? given['secret'] : ''
  } catch {
    return ''
  }
}

const headers = (type: string, text: string) => ({
  'content-type': `${type}; charset=utf-8`,
  'content-length': Buffer.byteLength(text),
  'content-security-policy': policy,
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
})

function answered(response: ServerResponse, status: number, type: string, text: string): true {
  response.writeHead(status, headers(type, text)).end(text)
  return true
}

function answerJson(response: ServerResponse, status: number, message: string): void {
  answered(response, status, 'application/json', JSON.stringify({ message }))
}
