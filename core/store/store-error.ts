/** Why the store cannot be opened, for the operator: what is wrong and what to do. */
export class StoreError extends Error {
  override readonly name = 'StoreError'
}
