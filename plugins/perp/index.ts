import { evm } from 'sluice/evm'
import { perp, perpEvents, perpRefusals } from 'sluice/perp'
import { addressesSchema, defineConnector } from 'sluice/plugin'
import { networksIn } from 'sluice/pools'

// Base tokens of the markets. optimism: pools in optimism/core/metadata.json of npm @perp/curie-deployments@2023.4.12-1681295833590.
// local: this folder's devnet.ts.
export const markets: Readonly<Record<string, readonly string[]>> = {
  'optimism/mainnet': [
    '0x34235C8489b06482A99bb7fcaB6d7c467b92d248', // AAVE
    '0x9d34F1D15C22e4C0924804e2a38cBe93DFB84bc2', // APE
    '0x5f714B5347f0b5de9F9598E39840E176CE889b9c', // ATOM
    '0x5FAa136Fc58B6136fFDAeAAC320076C4865c070F', // AVAX
    '0xb6599Bd362120Dc70D48409B8a08888807050700', // BNB
    '0x86f1e0420c26a858fc203A3645dD1A36868F18e5', // BTC
    '0x7161C3416E08AbAa5cd38E68D9A28E43a694e037', // CRV
    '0x8711ac690984BAdC42e7AbE71f351b5Ac2a2Ad0d', // DOGE
    '0x8C835DFaA34e2AE61775e80EE29E2c724c6AE2BB', // ETH
    '0x7EAdA83e15AcD08d22ad85A1dCE92E5A257Acb92', // FLOW
    '0x2dB8d2DB86cA3a4C7040E778244451776570359B', // FTM
    '0x2F198182eC54469195a4A06262a9431A42462373', // LINK
    '0xB24F50Dd9918934AB2228bE7A097411ca28F6C14', // LUNA
    '0xBe5de48197fc974600929196239E264EcB703eE8', // MATIC
    '0x3Fb3282e3BA34A0Bff94845f1800Eb93CC6850d4', // NEAR
    '0x77d0cc9568605bFfF32F918C8FFaa53F72901416', // ONE
    '0x5A7eD3ce6096228a9fE1B673830e6A78C9CFB71b', // OP
    '0x9482AaFdCed6b899626f465e1FA0Cf1B1418d797', // PERP
    '0x333b1eA429a88d0dd48cE7C06C16609CD76F43A8', // SAND
    '0x151Bb01c79F4516c233948D69daE39869BCcB737', // SOL
  ],
  'ethereum/local': [
    '0xBb40fd6d4fD058a00a3Dc8Dddb135B7AfA9E0413', // ETH
    '0xF3FAF5F38be894fe113197dC09c54780B6Bb6B7D', // BTC
  ],
}

export default defineConnector({
  family: evm,
  manifest: {
    name: 'perp',
    apiVersion: '1.0',
    trading_type: ['PERP_AMM'],
    available_networks: networksIn(markets),
    schema: addressesSchema('routerAddress', 'vaultAddress'),
  },
  create(venue) {
    const PERP_AMM = perp(venue, { markets })
    return { PERP_AMM, spenders: { perp: PERP_AMM.spender }, events: perpEvents, refusals: perpRefusals, start: PERP_AMM.start }
  },
})
