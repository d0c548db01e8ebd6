import type { SolanaNetwork } from 'sluice/solana'

// Numbers as in the solana-labs token list (@solana/spl-token-registry, ENV), which has none for one's own machine. Genesis hashes begin
// with what chains are called by in CAIP-30 (https://namespaces.chainagnostic.org/solana/caip2).
export const networks = {
  mainnet: { chainId: 101, genesisHash: '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d' },
  testnet: { chainId: 102, genesisHash: '4uhcVJyU9pJkvQyS88uRDiswHXSCkY3zQawwpjk2NsNY' },
  devnet: { chainId: 103, genesisHash: 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG' },
  local: { chainId: 104, local: true },
} satisfies Record<string, SolanaNetwork>
