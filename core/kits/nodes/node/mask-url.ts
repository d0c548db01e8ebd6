import { shownHost } from '../../../contracts/index.ts'

/** Path segments that providers use as words, whatever the chain; anything else may be a key. */
const plain = /^(v\d+|rpc|eth|evm|ext|bc|mainnet|sepolia|ethereum|public)$/i
const hidden = '***'

/** The URL without what may be secret in it: user info, query, and path segments that could be a key. */
export function maskUrl(url: string): string {
  if (!URL.canParse(url)) return hidden
  const { protocol, host, pathname } = new URL(url)
  const segments = pathname.split('/').filter((segment) => segment !== '')
  return [`${protocol}//${shownHost(host)}`, ...segments.map((segment) => (plain.test(segment) ? segment : hidden))].join('/')
}

/** What `maskUrl` hides, for taking it out of texts that a node wrote itself. */
export function secretsOf(url: string): readonly string[] {
  if (!URL.canParse(url)) return [url]
  const { username, password, host, pathname, searchParams } = new URL(url)
  const segments = pathname.split('/').filter((segment) => !plain.test(segment))
  const labels = host.split('.').filter((label) => shownHost(label) !== label)
  return [username, password, ...labels, ...segments, ...searchParams.values()].filter((secret) => secret.length > 2)
}
