/**
 * Numbers of the classes of pools that everybody may make, from 0.25 % up. Source: https://api-v3.raydium.io/main/cpmm-config, and the addresses
 * that the program derives of them: number 0 is D4FPEruKEHrG5TenZ2mpDGEfu1iUvTiqBxvpU8HLBvC2.
 */
export const classes = [0, 1, 2, 3] as const

/**
 * The bytes of the program that quotes were held against, by their sha256, as core/devnet/solana-programs.json has them. Which bytes mainnet has was
 * asked of no node: a configuration adds them.
 */
export const programs: Readonly<Record<string, 'creator-fees' | 'early-2025'>> = {
  '4ec452fc44ad608c638a08355b8f964c92109a646f63ab481f98ee5e90c00e7b': 'early-2025',
}
