import { expect } from 'chai'
import type { Grant } from '../../core/contracts/index.ts'
import type { LoadedPlugin } from '../../core/plugins/loaded-plugin.ts'
import { examineRights } from '../../core/cli/standing-rights.ts'

const address = (digit: string) => `0x${digit.repeat(40)}`
const [wallet, weth, router, manager, own] = [address('1'), address('2'), address('a'), address('b'), address('c')]
const on = { chain: 'ethereum', network: 'mainnet' }

describe('what wallets have approved, as doctor says it', () => {
  /** @param standing what the chain says, or an error */
  async function said(standing: readonly Grant[] | Error, tier: 'contained' | 'trusted' = 'contained') {
    const asked: string[][] = []
    const evm = {
      async standing(_owner: string, spenders: readonly string[]) {
        asked.push([...spenders])
        if (standing instanceof Error) throw standing
        return { head: { number: 1n, timestamp: 1 }, grants: standing }
      },
    }
    const tokens = [{ symbol: 'WETH', address: weth, decimals: 18 }]
    const uniswap = { spenders: { v2: router }, AMM_RANGE: { positionManager: manager } }
    const loaded = [
      { kind: 'chain', name: 'ethereum', venues: [{ ...on, implementation: { evm }, tokens }] },
      { kind: 'connector', name: 'uniswap', builtIn: true, tier: 'built in', venues: [{ ...on, implementation: uniswap, contracts: {} }] },
      { kind: 'connector', name: 'rogue', builtIn: false, tier, venues: [{ ...on, implementation: {}, contracts: { executor: own } }] },
    ] as unknown as LoadedPlugin[]
    const settings = { wallet: { allowedSpenders: [] }, devnet: { enabled: false } } as unknown as Parameters<typeof examineRights>[2]
    const findings = await examineRights(loaded, [{ chain: 'ethereum', address: wallet }], settings)
    return { asked, findings }
  }
  const ofRouter: Grant = { token: weth, spender: router, amountRaw: 10n ** 19n }

  it('names each right that a contract of a plugin could use, whose it is, and the request that takes it back', async () => {
    const { asked, findings } = await said([ofRouter, { token: manager, spender: own }, { token: manager, spender: own, tokenId: 7n }])
    expect(asked).to.deep.equal([[router, own]])
    expect(findings.map(({ state, what }) => `${state} ${what}`)).to.deep.equal([
      `warn ${router} (uniswap) may take 10 of WETH from ${wallet} on ethereum/mainnet. A contract that rogue calls could use that.`,
      `warn ${own} may take everything of ${manager} from ${wallet} on ethereum/mainnet. A contract that rogue calls could use that.`,
      `warn ${own} may take number 7 of ${manager} from ${wallet} on ethereum/mainnet. A contract that rogue calls could use that.`,
    ])
    const remedies = findings.map((each) => ('remedy' in each ? each.remedy : ''))
    expect(remedies[0]).to.include(`POST /evm/approve {"chain":"ethereum","network":"mainnet","address":"${wallet}","spender":"${router}"`)
    expect(remedies[0]).to.include('"amount":"0"}')
    expect(remedies[1]).to.include(`setApprovalForAll(${own}, false) of ${manager}`)
    expect(remedies[2]).to.include(`approve(0x${'0'.repeat(40)}, 7) of ${manager}`)
  })

  it('says any amount where there is no limit', async () => {
    const { findings } = await said([{ ...ofRouter, amountRaw: 2n ** 256n - 1n }])
    expect(findings[0]?.what).to.include('may take any amount of WETH')
  })

  it('is silent where no plugin of a third party is contained there', async () => {
    expect((await said([ofRouter], 'trusted')).findings).to.deep.equal([])
  })

  it('says so where the nodes do not', async () => {
    expect((await said(new Error('no node'))).findings[0]?.what).to.match(/could not be read/)
  })
})
