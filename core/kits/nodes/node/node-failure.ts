import { SluiceError } from '../../../contracts/index.ts'

export type FailureKind = 'unreachable' | 'rate-limited' | 'wrong-chain'

/** One node could not do its work; another may. The message holds no secret. */
export class NodeFailure extends Error {
  override readonly name = 'NodeFailure'
  readonly kind: FailureKind
  readonly retryAfterSeconds: number | undefined

  constructor(kind: FailureKind, message: string, retryAfterSeconds?: number) {
    super(message)
    this.kind = kind
    this.retryAfterSeconds = retryAfterSeconds
  }
}

/** What the caller is told when no node of a network is left. */
export function noNodeLeft(network: string, failures: readonly NodeFailure[], retryAfterSeconds: number): SluiceError {
  if (failures.length === 0) {
    return new SluiceError('NETWORK', `${network} has no RPC node: set rpcUrls for it in conf/chains.`, { retryAfterSeconds })
  }
  const reasons = failures.map((failure) => failure.message).join('; ')
  return failures.every((failure) => failure.kind === 'rate-limited')
    ? new SluiceError(
        'RATE_LIMIT',
        `Every RPC node of ${network} is over its limit: ${reasons}. Try again later, or add nodes to its rpcUrls.`,
        { retryAfterSeconds },
      )
    : new SluiceError('NETWORK', `No RPC node of ${network} can be used: ${reasons}. Try again, or check its rpcUrls.`, {
        retryAfterSeconds,
      })
}
