// Which requests a page of another origin makes. A browser sends a certificate or a cookie along with them by itself, and says whose page it is.
import type { IncomingHttpHeaders } from 'node:http'

/** Whether a page of another origin than the one that is asked makes the request. Who is no browser sends neither header. */
export function isOfForeignPage(headers: IncomingHttpHeaders, scheme: 'http' | 'https'): boolean {
  const { origin, host, 'sec-fetch-site': site } = headers
  if (origin !== undefined && origin.toLowerCase() !== `${scheme}://${String(host).toLowerCase()}`) return true
  // `none`: a person typed the address, or opened a link outside of the browser.
  return site !== undefined && site !== 'same-origin' && site !== 'none'
}
