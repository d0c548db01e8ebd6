/** The network that the devnet is, of the chain whose plugin brings its tokens. */
export const devnetNetwork = { chain: 'ethereum', network: 'local' } as const
