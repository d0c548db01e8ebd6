/**
 * Numbers of the configurations that everybody may make pools with and whose pools are looked for, beside the one pool of a pair that has no
 * configuration. There are 72: https://docs.meteora.ag/developer-guides/damm-v2/pool-fee-configs
 */
export const configs = [0, 1, 2, 3, 4, 5, 6, 7] as const
