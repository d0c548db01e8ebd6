/**
 * Numbers of the classes of pools that everybody may make, from 0.25 % up. Source: https://api-v3.raydium.io/main/cpmm-config, and the addresses
 * that the program derives of them: number 0 is D4FPEruKEHrG5TenZ2mpDGEfu1iUvTiqBxvpU8HLBvC2.
 */
export const classes = [0, 1, 2, 3] as const

/**
 * What the program's bytes are of, by network. mainnet: assumed, no node was asked: ec3b20d of its source and later ones, with creator fees; local: those that
 * core/devnet/solana-programs.json pins.
 */
export const programVersions: Readonly<Record<string, 'creator-fees' | 'early-2025'>> = {
  mainnet: 'creator-fees',
  local: 'early-2025',
}
