/** As curl and most other programs read them, in either case. */
const proxyVariables = ['HTTPS_PROXY', 'HTTP_PROXY', 'ALL_PROXY']

/** A sentence about proxies of the environment, through which no connection goes. Their values may have a password, and are not shown. */
export function unusedProxy(environment: Readonly<Record<string, string | undefined>>): string | undefined {
  const found = proxyVariables.flatMap((name) => [name, name.toLowerCase()]).filter((name) => (environment[name] ?? '') !== '')
  if (found.length === 0) return undefined
  const [verb, pronoun] = found.length === 1 ? ['is', 'it'] : ['are', 'them']
  return `${found.join(' and ')} ${verb} set, and Sluice does not use ${pronoun}: it connects to nodes, exchanges, webhooks and token lists directly. Where this machine reaches them only through a proxy, give addresses of a relay in its network, such as rpcUrls in conf/chains`
}
