/** In what one exchange of this kind differs from another. */
export interface PerpOptions {
  /**
   * The base tokens of its markets, by `<chain>/<network>`: its contracts list none, and know of each whether it is theirs. Those that
   * are paused or closed belong here, too, as long as somebody has a position in them.
   */
  readonly markets: Readonly<Record<string, readonly string[]>>
}
