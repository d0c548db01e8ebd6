// What of a node's URL may be a key: it stands in no log, error or answer.
import { shownHost } from '../../core/contracts/index.ts'
import { isObject } from '../../core/base/json.ts'
import type { RpcAnswer } from './dialect.ts'

/** Path segments that are plain words at providers of any chain. Anything else may be a key. */
const plain = /^(v\d+|rpc|eth|evm|ext|bc|mainnet|sepolia|ethereum|public)$/i
const hidden = '***'

/** The URL without its possible secrets: user info, query, and path segments that could be a key. */
export function maskUrl(url: string): string {
  if (!URL.canParse(url)) return hidden
  const { protocol, host, pathname } = new URL(url)
  const segments = pathname.split('/').filter((segment) => segment !== '')
  return [`${protocol}//${shownHost(host)}`, ...segments.map((segment) => (plain.test(segment) ? segment : hidden))].join('/')
}

/**
 * The texts that `maskUrl` hides, to remove them from messages of the node: as they stand in the URL, decoded, and as the header that is made
 * of user and password. The longest come first, because one may be a part of another.
 */
export function secretsOf(url: string): readonly string[] {
  if (!URL.canParse(url)) return [url]
  const { username, password, host, pathname, search, searchParams } = new URL(url)
  const segments = pathname.split('/').filter((segment) => !plain.test(segment))
  const labels = host.split('.').filter((label) => shownHost(label) !== label)
  const values = search
    .slice(1)
    .split('&')
    .map((pair) => pair.slice(pair.indexOf('=') + 1))
  // Without the padding: what follows it tells nothing.
  const header = username === '' ? '' : credentialsOf(username, password).replaceAll('=', '')
  const spelt = [header, username, password, ...labels, ...segments, ...values]
  const all = new Set([...spelt, ...spelt.map(decoded), ...searchParams.values()])
  return [...all].filter((secret) => secret.length > 2).toSorted((one, other) => other.length - one.length)
}

/** What the header `Authorization` has after `Basic`. */
export const credentialsOf = (username: string, password: string): string =>
  Buffer.from(`${decoded(username)}:${decoded(password)}`).toString('base64')

/** As it is where it is not a valid encoding. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Some nodes quote the API key that they refuse, or the headers of the request. */
export function maskAnswer(answer: RpcAnswer, secrets: readonly string[]): RpcAnswer {
  if (!answer.error) return answer
  const { code, message, data } = answer.error
  return { error: { code, message: masked(message, secrets), ...(data !== undefined && { data: maskTexts(data, secrets) }) } }
}

const masked = (text: string, secrets: readonly string[]): string => secrets.reduce((rest, secret) => rest.replaceAll(secret, hidden), text)

function maskTexts(value: unknown, secrets: readonly string[]): unknown {
  // A contract's words in hexadecimal stay whole: a short secret may be a part of them by chance.
  if (typeof value === 'string') return /^0x[0-9a-f]*$/i.test(value) ? value : masked(value, secrets)
  if (Array.isArray(value)) return value.map((each) => maskTexts(each, secrets))
  return isObject(value) ? Object.fromEntries(Object.entries(value).map(([key, each]) => [key, maskTexts(each, secrets)])) : value
}
