import type { Answer } from './answer.ts'

/** An error as a node says it. Its numbers are those of @solana/errors, SOLANA_ERROR__JSON_RPC__*. */
export class RpcError extends Error {
  readonly code: number
  readonly data: Answer | undefined

  constructor(code: number, message: string, data?: Answer) {
    super(message)
    this.code = code
    this.data = data
  }
}

export const invalidParams = (message: string): RpcError => new RpcError(-32602, message)
