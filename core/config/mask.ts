import { mapTexts } from './tree.ts'
import type { Substitution } from './substitute.ts'

/**
 * A URL fit to be shown: protocol, host, port and the readable part of the path stay; user info, query and fragment
 * become `***`, and so does each path segment that looks like a key.
 *
 * A segment looks like a key when it has 20 characters or more, or 12 or more with both letters and digits; words of
 * a path (`/v3`, `/eth-mainnet`, `/ext/bc/C/rpc`) have neither. What cannot be read as a URL is masked whole.
 */
export function maskUrl(url: string): string {
  if (!URL.canParse(url)) return '***'
  const { protocol, host, pathname, username, password, search, hash } = new URL(url)
  const path = pathname.split('/').map((segment) => (looksLikeKey(segment) ? '***' : segment)).join('/')
  const user = username || password ? '***@' : ''
  return `${protocol}//${user}${host}${path === '/' && !url.endsWith('/') ? '' : path}${search ? '?***' : ''}${hash ? '#***' : ''}`
}

function looksLikeKey(segment: string): boolean {
  return segment.length >= 20 || (segment.length >= 12 && /\d/.test(segment) && /[a-z]/i.test(segment))
}

/** Masks every URL inside of a text, e.g. of an error of a library. */
export function maskUrls(text: string): string {
  return text.replaceAll(/\b[a-z][a-z0-9+.-]*:\/\/[^\s"'<>`]+/gi, (url) => maskUrl(url))
}

/** A copy of a configuration that may be shown: what came from outside of the files is `***`, and URLs lose their secrets. */
export function shownCopy(tree: unknown, substitutions: ReadonlyMap<string, Substitution>): unknown {
  return mapTexts(tree, (text, pointer) => maskUrls(substitutions.get(pointer)?.shown ?? text))
}
