import type { Pair } from './pairs.ts'

const weth = '0x1b9f902252Ad25601aCB5E70ac1E2035B285D348'
const usdc = '0x009829c5C756656bbD423fF6b5F8D61B722ce18F'
const dai = '0x2459b5a628dBF27fb068B28084288fc5b12D219A'

/** The pools, by `<chain>/<network>`. The tokens of each are in the order in which its contract has them. */
export const deployments: Readonly<Record<string, readonly Pair[]>> = {
  'ethereum/local': [
    { address: '0x6d4C1D5032a5f638B228aBde7455e310B09141FC', tokens: [usdc, weth] },
    { address: '0x9FbabB801646F70d0c664151193cDe5cA2Df7D9B', tokens: [weth, dai] },
  ],
}
