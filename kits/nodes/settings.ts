/** What an operator says of a network's nodes in `conf/chains/<chain>.yml`. */
export interface NodeSettings {
  /** First healthy wins, the others take over. Without any, the network is not configured. */
  rpcUrls?: readonly string[]
  /** Where transactions go, when not to all of `rpcUrls`. */
  sendUrls?: readonly string[]
  pollingSeconds?: number
  /** For one try at one node. */
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

/** Several looks a block, at most one a third of a second and at least one every three seconds. */
export function defaultPollingSeconds(blockSeconds: number): number {
  return Math.min(3, Math.max(0.33, blockSeconds / 4))
}

/** The schema asks for the form; what only the parser sees is said here, without the URL, which may hold a key. */
export function refuseBadUrls(network: string, { rpcUrls = [], sendUrls = [] }: NodeSettings): void {
  if (![...rpcUrls, ...sendUrls].every((url) => URL.canParse(url)))
    throw new Error(`${network}: an entry of rpcUrls or sendUrls is no URL. Write it like https://host/path.`)
}

/** When a node is not the one to ask while a better one is there. */
export interface HealthPolicy {
  /** How often the nodes of a network are compared, and only while somebody asks it for anything. */
  probeMs: number
  /** A node lags when the best is further ahead than this, both in blocks and in their time: fast chains make many blocks while two nodes are asked. */
  maxLagBlocks: number
  maxLagSeconds: number
  /** Nodes whose blocks differ so far below the head are on different forks, and not amid an ordinary reorganisation. */
  forkDepth: number
  /** A node is slow when a probe takes it longer than this, and so many times longer than the fastest. */
  slowMs: number
  slowFactor: number
  /** How long a node that failed is left alone at first; twice as long each time that it fails again. */
  firstBackoffMs: number
  /** For how long a node's word counts against the others: it may have been wrong. */
  reportTtlMs: number
  /** For how long heads must all be lower than one that was shown before that is believed: a chain can be set back, by a restart. */
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
