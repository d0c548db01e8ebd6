/** Something that keeps the devnet from starting. `message` is for the operator and says what to do. */
export class DevnetError extends Error {
  override readonly name = 'DevnetError'
}
