/**
 * Numbers of the configurations that everybody may make pools with and whose pools are looked for, beside the one pool of a pair that has no
 * configuration. There are 72: https://docs.meteora.ag/developer-guides/damm-v2/pool-fee-configs
 */
export const configs = [0, 1, 2, 3, 4, 5, 6, 7] as const

/**
 * The bytes of the program that quotes were held against, by their sha256, as core/devnet/solana-programs.json has them. Which bytes mainnet has was
 * asked of no node: a configuration adds them.
 */
export const programs = {
  '171e53bbc797459dde7f62d7b57943b0b596087e9364e25f4c3127e9893cb1b1': 'damm-v2',
} as const
