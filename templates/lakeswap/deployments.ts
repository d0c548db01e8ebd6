// By network: the factory, and the keccak256 of the pools' creation code.
export const deployments = {
  'ethereum/local': {
    factory: '0x6a2D5a83EBF7E86184cB21405D2BDC4ca3c9e038',
    initCodeHash: '0xe34f199b19b2b4f47f68442619d555527d244f78a3297ea89325f843f87b8b54',
  },
}
