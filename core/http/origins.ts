// Which requests a page of another origin makes. A browser sends a certificate or a cookie along with them by itself, and says whose page it is.
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'

/** Whether a page of another origin than the one that is asked makes the request. Who is no browser sends neither header. */
export function isOfForeignPage(headers: IncomingHttpHeaders, scheme: 'http' | 'https'): boolean {
  const { origin, host, 'sec-fetch-site': site } = headers
  if (origin !== undefined && origin.toLowerCase() !== `${scheme}://${String(host).toLowerCase()}`) return true
  // `none`: a person typed the address, or opened a link outside of the browser.
  return site !== undefined && site !== 'same-origin' && site !== 'none'
}

/**
 * Whether such a page asks for what it may not have. It reads no answer, but asking alone would use up what its visitor's certificate may ask for.
 * A person may follow a link from elsewhere, in a window that is no frame of that page.
 */
export function isForeignRequest({ method, headers }: IncomingMessage): boolean {
  if (!isOfForeignPage(headers, 'https')) return false
  const { 'sec-fetch-mode': mode, 'sec-fetch-dest': place } = headers
  return !((method === 'GET' || method === 'HEAD') && mode === 'navigate' && place === 'document')
}
