/** An operator's settings for the nodes of a network, in `conf/chains/<chain>.yml`. */
export interface NodeSettings {
  /** The first healthy one answers, the others take over. Without any, the network is not configured. */
  rpcUrls?: readonly string[]
  /** Where transactions go, if not to all of `rpcUrls`. */
  sendUrls?: readonly string[]
  pollingSeconds?: number
  /** For one attempt at one node. */
  requestTimeoutSeconds?: number
}

const url = { type: 'string', pattern: '^https?://[^\\s/]+' } as const

/** Properties of the JSON Schema of one network's settings. */
export const nodeSettings = {
  rpcUrls: { type: 'array', items: url, uniqueItems: true },
  sendUrls: { type: 'array', items: url, uniqueItems: true },
  pollingSeconds: { type: 'number', minimum: 0.05, maximum: 600 },
  requestTimeoutSeconds: { type: 'number', minimum: 0.1, maximum: 120 },
} as const

/** Leaves time for a second and a third node within a request's 30 s. */
export const defaultRequestTimeoutSeconds = 8

/** Four polls a block, but at most one in 0.33 s and at least one in 3 s. */
export function defaultPollingSeconds(blockSeconds: number): number {
  return Math.min(3, Math.max(0.33, blockSeconds / 4))
}

/** Relays: where transactions of requests with `privateOnly` go, and nowhere else. */
export interface RelaySettings {
  privateUrls?: readonly string[]
}

export const relaySettings = { privateUrls: { type: 'array', items: url, uniqueItems: true } } as const

/** The schema checks the form. This checks what only a parser sees. The error does not show the URL, which may hold a key. */
export function refuseBadUrls(network: string, { rpcUrls = [], sendUrls = [], privateUrls = [] }: NodeSettings & RelaySettings): void {
  if (![...rpcUrls, ...sendUrls, ...privateUrls].every((url) => URL.canParse(url)))
    throw new Error(`${network}: an entry of rpcUrls, sendUrls or privateUrls is not a URL. Write it like https://host/path.`)
  const open = new Set([...rpcUrls, ...sendUrls].map((url) => new URL(url).href))
  if (privateUrls.some((url) => open.has(new URL(url).href)))
    throw new Error(
      `${network}: an entry of privateUrls is in rpcUrls or sendUrls too, which all transactions go to. Give a relay that keeps them to itself, and leave it out there.`,
    )
}

/** When a node is not asked while there is a better one. */
export interface HealthPolicy {
  /** How often the nodes of a network are compared. They are compared only while the network is in use. */
  probeMs: number
  /** A node lags when the best is further ahead than this, in blocks and in seconds: fast chains make many blocks between two requests. */
  maxLagBlocks: number
  maxLagSeconds: number
  /** Nodes whose blocks differ so far below the head are on different forks, not in an ordinary reorganisation. */
  forkDepth: number
  /** A node is slow when a probe takes longer than this, and so many times longer than at the fastest node. */
  slowMs: number
  slowFactor: number
  /** The first pause after a failure. It doubles with each further failure. */
  firstBackoffMs: number
  /** For how long the head that a node reported counts against others: the node may have been wrong. */
  reportTtlMs: number
  /** For how long all heads must be lower than one given out before, until that is believed: a restart can set a chain back. */
  rollbackAfterMs: number
}

export const defaultHealthPolicy: HealthPolicy = {
  probeMs: 5_000,
  maxLagBlocks: 3,
  maxLagSeconds: 5,
  forkDepth: 12,
  slowMs: 1_000,
  slowFactor: 4,
  firstBackoffMs: 250,
  reportTtlMs: 30_000,
  rollbackAfterMs: 8_000,
}
