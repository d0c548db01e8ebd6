/** What differs between the exchange's networks beside its URLs. */
export interface HyperliquidNetwork {
  /** What signed actions of the exchange's own chain name it by: `isTestnet` in signing/mod.js of @nktkas/hyperliquid@0.31.0. */
  readonly source: 'a' | 'b'
  /** What actions that are signed in plain words name it by: `HyperliquidChainSchema` there, api/exchange/_methods/_base/commonSchemas.js. */
  readonly name: 'Mainnet' | 'Testnet'
  /** The chain id that such actions are signed for. The exchange takes any; the signer only the network's own. */
  readonly signatureChainId: number
}

export const networks: Readonly<Record<string, HyperliquidNetwork>> = {
  mainnet: { source: 'a', name: 'Mainnet', signatureChainId: 999 },
  testnet: { source: 'b', name: 'Testnet', signatureChainId: 998 },
}
