import { evm } from 'sluice/evm'
import { defineConnector, withOptionalAddresses } from 'sluice/plugin'
import { networksIn, poolAMM } from 'sluice/pools'
import { stableEvents, stableSwap, type StablePool } from 'sluice/stable'

const DAI = { address: '0x6B175474E89094C44Da98b954EedeAC495271d0F', decimals: 18 }
const USDC = { address: '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48', decimals: 6 }
const USDT = { address: '0xdAC17F958D2ee523a2206206994597C13D831ec7', decimals: 6 }
const sUSD = { address: '0x57Ab1ec28D129707052df4dF418D58a2D46d5f51', decimals: 18 }
const EURS = { address: '0xdB25f211AB05b1c97D595516F45794528a807ad8', decimals: 2 }
const sEUR = { address: '0xD71eCFF9342A5Ced620049e616c5035F1dB98620', decimals: 18 }
const LINK = { address: '0x514910771AF9Ca656af840dff83E8264EcF986CA', decimals: 18 }
const sLINK = { address: '0xbBC455cb4F1B9e4bFC4B73970d360c8f032EfEE6', decimals: 18 }

// POOLS_DATA_ETHEREUM of npm @curvefi/api 2.70.1; what contract each of them is: https://github.com/curvefi/curve-contract,
// contracts/pools. local: this folder's devnet.ts.
export const pools: Readonly<Record<string, readonly StablePool[]>> = {
  'ethereum/mainnet': [
    {
      address: '0xbEbc44782C7dB0a1A60Cb6fe97d0b483032FF1C7',
      kind: 'second',
      coins: [DAI, USDC, USDT],
      shares: { label: '3pool', token: '0x6c3F90f043a72FA612cbac8115EE7e52BDe6E490' },
    },
    {
      address: '0xA5407eAE9Ba41422680e2e00537571bcC53efBfD',
      kind: 'first',
      coins: [DAI, USDC, USDT, sUSD],
      shares: { label: 'susd', token: '0xC25a3A3b969415c80451098fa907EC722572917F' },
    },
    {
      address: '0x0Ce6a5fF5217e38315f87032CF90686C96627CAA',
      kind: 'template',
      coins: [EURS, sEUR],
      shares: { label: 'eurs', token: '0x194eBd173F6cDacE046C53eACcE9B953F28411d1' },
    },
    {
      address: '0xF178C0b5Bb7e7aBF4e12A4838C7b7c5bA2C623c0',
      kind: 'template',
      coins: [LINK, sLINK],
      shares: { label: 'link', token: '0xcee60cFa923170e4f8204AE08B4fA6A3F5656F3a' },
    },
  ],
  'ethereum/local': [
    {
      address: '0xd4b14607BffC707613Ee4D82A59e3630F5aAD2A0',
      kind: 'first',
      coins: [
        { address: '0x2459b5a628dBF27fb068B28084288fc5b12D219A', decimals: 18 },
        { address: '0x009829c5C756656bbD423fF6b5F8D61B722ce18F', decimals: 6 },
        { address: '0xb79285e9C7943A805a2A85F3E2642e55A0F7301A', decimals: 6 },
        { address: '0x55837b1cBB63cbEDcb1e0871Fa15D451c4E9f12E', decimals: 18 },
      ],
      shares: { label: 'susd', token: '0xc395141DB2C0ED9226EA1a839C3fe7A638f2c907' },
    },
  ],
}

const poolKeys = [
  ...new Set(Object.values(pools).flatMap((listed) => listed.flatMap(({ shares }) => (shares ? [`${shares.label}Address`] : [])))),
]

export default defineConnector({
  family: evm,
  manifest: {
    name: 'curve',
    apiVersion: '1.0',
    trading_type: ['AMM', 'AMM_SHARES'],
    available_networks: networksIn(pools),
    // The pools take deposits themselves. A network has those that are on it.
    schema: withOptionalAddresses(['routerAddress'], ['exchangeRouterAddress', ...poolKeys]),
  },
  create(venue) {
    const stable = stableSwap(venue, { pools })
    const AMM = poolAMM(venue, stable)
    return { AMM, AMM_SHARES: stable.shares, spenders: AMM.spenders, events: stableEvents }
  },
})
