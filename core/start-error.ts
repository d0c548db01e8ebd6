/** Why the server cannot start, for the operator: what is wrong and what to do. */
export class StartError extends Error {
  override readonly name = 'StartError'
}
