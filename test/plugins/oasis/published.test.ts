import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { Interface } from 'ethers'
import { parse } from 'yaml'
import { deployerAddress, readArtifact } from '../../../core/devnet/build-state.ts'
import { oasisAbi } from '../../../kits/oasis/contract.ts'
import { oasisDevnetMarket } from '../../../kits/oasis/devnet.ts'
import { markets } from '../../../plugins/oasis/markets.ts'

const read = (file: string) => readFileSync(new URL(`../../../${file}`, import.meta.url), 'utf8')
const { facts } = JSON.parse(read('test/fixtures/published/makerdao-dai.json'))
const { contractAddresses } = parse(read('plugins/oasis/defaults.yml'))
const { tokens } = JSON.parse(read('plugins/ethereum/tokens.json'))
const artifacts = new URL('../../../kits/oasis/devnet.ts', import.meta.url).href

describe('the published facts about the Oasis market', () => {
  it('agree with the configuration of mainnet', () => {
    expect(contractAddresses.mainnet).to.deep.equal({ routerAddress: facts.market })
  })

  it('include all functions and events that the kit uses, in its contract and in the one on the devnet', async () => {
    const asked = oasisAbi.fragments.map((each) => each.format())
    expect(asked.filter((each) => !facts.signatures.includes(each))).to.deep.equal([])
    const local = new Interface((await readArtifact('TestOasisDex', artifacts)).abi)
    expect(asked.filter((each) => !local.fragments.some((fragment) => fragment.format() === each))).to.deep.equal([])
  })

  it('include markets of listed tokens only, under the symbols of the lists', () => {
    const symbolOf = (chainId: number, address: string) =>
      tokens.find((each: { chainId: number; address: string }) => each.chainId === chainId && each.address === address)?.symbol
    const names = (network: string, chainId: number) =>
      markets[network]?.map((pair) => pair.map((token) => symbolOf(chainId, token)).join('-'))
    expect(names('ethereum/mainnet', 1)).to.deep.equal([
      'WETH-DAI',
      'WETH-USDC',
      'WBTC-DAI',
      'WBTC-USDC',
      'MKR-DAI',
      'MKR-WETH',
      'DAI-USDC',
    ])
    expect(names('ethereum/local', 31337)).to.deep.equal(['WETH-DAI', 'WETH-USDC', 'WBTC-USDC'])
    const [, , , , [mkr] = [], [, weth] = []] = markets['ethereum/mainnet'] ?? []
    expect([mkr, weth]).to.deep.equal([facts.mkr, facts.weth])
  })

  it('agree with the address of the contract on the devnet', () => {
    expect(contractAddresses.local).to.deep.equal({ routerAddress: oasisDevnetMarket(deployerAddress('oasis')) })
  })
})
