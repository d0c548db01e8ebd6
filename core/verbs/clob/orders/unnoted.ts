/** So many of a wallet's orders that are not known to have ended are looked through at once, the newest. */
export const mostUnnoted = 1_000
