/** Accounts of the program's pools, by network. local: tools/solana-node/seeds/pool.ts makes them at these addresses. */
export const pools: Readonly<Record<string, readonly string[]>> = {
  local: ['4CjDFQvKQuG8shQDVweGED8gfnRToFMViqGiwxtxP9LM', '68HaQ5GwBpW1WKvjuaGMQyig33nCMDVVdvFPxszv7Nmd'],
}
