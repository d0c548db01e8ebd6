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
  memoryMs: number
  /** For how long heads must all be lower than one that was shown before that is believed: a chain can be set back, by a restart. */
  patienceMs: number
}

export const defaultHealthPolicy: HealthPolicy = {
  probeMs: 5_000,
  maxLagBlocks: 3,
  maxLagSeconds: 5,
  forkDepth: 12,
  slowMs: 1_000,
  slowFactor: 4,
  firstBackoffMs: 250,
  memoryMs: 30_000,
  patienceMs: 8_000,
}
