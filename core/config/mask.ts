import { shownHost } from '../contracts/index.ts'
import { mapTexts, setAt, type Section } from './tree.ts'
import { isObject } from '../base/json.ts'
import { quoted } from '../base/printable.ts'

/** Keys whose text is always a secret. */
const secretName =
  /secret|passw(or)?d|passphrase|mnemonic|credential|(api|access|private|signing)[-_]?keys?|(access|auth|api|bearer)[-_]?token/i

/**
 * Masks the secrets of a URL: protocol, host, port and the readable part of the path stay; user info, query and fragment become `***`, and so
 * do path segments and long labels of the host that look like keys.
 *
 * A segment looks like a key when it has 16 characters or more, or 8 or more with both letters and digits; words of
 * a path (`/v3`, `/eth-mainnet`, `/ext/bc/C/rpc`) have neither. Text that is not a URL is masked whole.
 */
export function maskUrl(url: string): string {
  if (!URL.canParse(url)) return '***'
  const { protocol, host, pathname, username, password, search, hash } = new URL(url)
  const path = pathname
    .split('/')
    .map((segment) => (looksLikeKey(segment) ? '***' : segment))
    .join('/')
  const user = username || password ? '***@' : ''
  return `${protocol}//${user}${shownHost(host)}${path === '/' && !url.endsWith('/') ? '' : path}${search ? '?***' : ''}${hash ? '#***' : ''}`
}

function looksLikeKey(segment: string): boolean {
  return segment.length >= 16 || (segment.length >= 8 && /\d/.test(segment) && /[a-z]/i.test(segment))
}

/** The value of a header that identifies the caller, in a text or in JSON (whose quotes may be escaped). */
const credentials =
  /\b((?:proxy-)?authorization|x-api-key|cookie)(\\?["']?\s*[:=]\s*\\?["']?)((?:basic|bearer|digest|negotiate)\s+)?[^\s"'\\,;}]+/gi

/** Masks every URL in a text, e.g. in the message of a library, and the credentials of headers. File URLs of a stack stay readable. */
export function maskUrls(text: string): string {
  return text
    .replaceAll(/\b(?!file:)[a-z][a-z0-9+.-]*:\/\/[^\s"'<>`\\]+/gi, (url) => maskUrl(url))
    .replaceAll(credentials, (_all, name: string, between: string, scheme: string | undefined) => `${name}${between}${scheme ?? ''}***`)
}

/** What `maskUrl` hides of a URL: an outside party may repeat it without the rest. */
export function secretsOfUrl(url: string): readonly string[] {
  if (!URL.canParse(url)) return [url]
  const { pathname, username, password, search, searchParams, hash } = new URL(url)
  return [username, password, search.slice(1), hash.slice(1), ...searchParams.values(), ...pathname.split('/').filter(looksLikeKey)]
}

const maxSaid = 200

/** What an outside party said, in quotes, for the operator: without these secrets, as they are, as in a URL, or in Base64. Empty where it said nothing. */
export function saidWithout(secrets: readonly string[], text: string): string {
  const spelt = secrets
    .filter((secret) => secret.length > 2)
    .flatMap((secret) => [secret, encodeURIComponent(secret), Buffer.from(secret).toString('base64').replaceAll('=', '')])
    .toSorted((one, other) => other.length - one.length)
  const masked = spelt.reduce((rest, secret) => rest.replaceAll(secret, '***'), text.slice(0, 10 * maxSaid))
  const line = maskUrls(masked)
    .replaceAll(/\*{3}=+/g, '***')
    .replaceAll(/\s+/g, ' ')
    .trim()
  return line === '' ? '' : quoted(line, maxSaid)
}

/**
 * A copy of a configuration without its secrets: URLs are masked, and so are texts under the name of a secret.
 * @param instead by JSON pointer, the texts shown for values from outside of the files
 */
export function maskedCopy(tree: Section, instead: ReadonlyMap<string, string>): Section {
  const copy = mapTexts(tree, (text, pointer) => (secretName.test(pointer) ? '***' : maskUrls(text)))
  if (!isObject(copy)) return {}
  for (const [pointer, text] of instead) setAt(copy, pointer, maskUrls(text))
  return copy
}
