import { expect } from 'chai'
import type { Chain, Grant, Plan } from '../../core/contracts/index.ts'
import type { NetworkEntry, Registry, VenueEntry } from '../../core/plugins/registry.ts'
import type { OutcomeBounds } from '../../core/handlers/outcome.ts'
import { refuseStandingRights } from '../../core/handlers/standing-rights.ts'

const address = (digit: string) => `0x${digit.repeat(40)}`
const [wallet, coin, weth, odd] = [address('1'), `0x${'0'.repeat(40)}`, address('2'), address('3')]
const [router, universal, permit2, manager, own, executor] = ['a', 'b', 'c', 'd', 'e', 'f'].map(address) as [
  string,
  string,
  string,
  string,
  string,
  string,
]

const uniswap = {
  connector: 'uniswap',
  builtIn: true,
  impl: {
    spenders: { v2: router, v4: universal, permit2 },
    permit2: { address: permit2, spenders: [universal] },
    AMM_RANGE: { positionManagers: { v3: manager } },
  },
} as unknown as VenueEntry
const rogue = { connector: 'rogue', builtIn: false, impl: { spenders: { v2: own } } } as unknown as VenueEntry

describe('a plan of a plugin that is not built in, by what the wallet has allowed', () => {
  interface Circumstances {
    readonly bounds?: OutcomeBounds
    readonly allowedSpenders?: readonly string[]
    readonly of?: Partial<VenueEntry>
  }
  /** The error of such a plan, or `signed`. @param standing all that the wallet allows */
  async function judged(
    steps: Plan['steps'],
    needs: Plan['needs'],
    standing: readonly Grant[],
    { of = {}, ...circumstances }: Circumstances = {},
  ): Promise<string> {
    const planning = { ...rogue, ...of }
    const evm = {
      async standing(_owner: string, spenders: readonly string[], { tokens, collections, permit2s }: Record<string, readonly string[]>) {
        expect(permit2s).to.deep.equal([permit2])
        return standing.filter(
          (each) => spenders.includes(each.spender) && [...(tokens ?? []), ...(collections ?? [])].includes(each.token),
        )
      },
    } as unknown as Chain['evm']
    const nativeCurrency = { symbol: 'ETH', address: coin, decimals: 18 }
    const listed = [nativeCurrency, { symbol: 'WETH', address: weth, decimals: 18 }]
    const network = {
      chain: 'ethereum',
      network: 'mainnet',
      impl: { evm, nativeCurrency, address: (text: string) => text } as unknown as Chain,
      tokens: { listed, listedAt: (at: string) => listed.find((each) => each.address === at) },
    } as unknown as NetworkEntry
    const registry: Pick<Registry, 'venuesOn'> = { venuesOn: () => [uniswap, planning] }
    const at = { signal: AbortSignal.timeout(10_000) }
    const planned = { plan: { steps, needs }, wallet, tokens: [weth, odd], ...circumstances }
    return refuseStandingRights(planned, network, planning, registry, at).then(
      () => 'signed',
      ({ name, message }: Error) => `${name} ${message}`,
    )
  }
  const ether = 10n ** 18n
  const step = (to: string, data = '0x12345678'): Plan['steps'] => [{ to, data, value: '0' }]
  const allows = (spender: string, token = weth): Grant => ({ token, spender, amountRaw: 10n * ether })
  const need = (spender: string, amountRaw: bigint): Plan['needs'] => [{ is: 'allowance', token: weth, spender, amountRaw }]

  it('fails where it calls a spender of another connector that may take more than it needs, and says how that is revoked', async () => {
    for (const needs of [[], need(router, ether)]) {
      const said = await judged(step(router), needs, [allows(router)])
      expect(said).to.match(/^TRADE_FAILED 0xa+ may take 10 of WETH from the wallet, and the plan of rogue.*nothing was signed/)
      expect(said).to.include(`POST /evm/approve {"chain":"ethereum","network":"mainnet","address":"${wallet}","spender":"${router}"`)
      expect(said).to.include('"amount":"0"')
    }
  })

  it('passes where the spender may take what the plan needs, or nothing', async () => {
    expect(await judged(step(router), need(router, 10n * ether), [allows(router)])).to.equal('signed')
    expect(await judged(step(router), [], [])).to.equal('signed')
  })

  it('fails where a contract is told of such a spender, however deep', async () => {
    expect(await judged(step(executor, `0x12345678${'0'.repeat(24)}${router.slice(2)}`), [], [allows(router)])).to.match(/^TRADE_FAILED/)
    expect(await judged(step(executor, `0x12345678${router.slice(2).toUpperCase()}`), [], [allows(router)])).to.match(/^TRADE_FAILED/)
  })

  it('fails for a token of the request that is on no list, and for all positions', async () => {
    expect(await judged(step(router), [], [allows(router, odd)])).to.match(/^TRADE_FAILED .* may take 10{19} of 0x3+/)
    expect(await judged(step(router), [], [{ token: manager, spender: router }])).to.include(
      `setApprovalForAll(${router}, false) of ${manager}`,
    )
  })

  it('fails for a right by Permit2, and not for that of Permit2 itself, which moves nothing by it', async () => {
    expect(await judged(step(universal), [], [allows(universal)])).to.match(/^TRADE_FAILED/)
    expect(await judged(step(executor, `0x12345678${permit2.slice(2)}`), [], [allows(permit2)])).to.equal('signed')
  })

  const like = (spenders: Record<string, string>, more: object = {}) => ({ of: { impl: { spenders }, ...more } as Partial<VenueEntry> })

  it("fails by what its own spenders may take, another exchange's router among them, and says what to approve", async () => {
    for (const [spender, circumstances] of [
      [own, {}],
      [router, like({ v2: router })],
    ] as const) {
      const said = await judged(step(spender), need(spender, ether), [allows(spender)], circumstances)
      expect(said).to.match(/^TRADE_FAILED .* may take 10 of WETH .* needs 1 of it at most: nothing was signed/)
      expect(said).to.match(/approve exactly what is needed: POST \/evm\/approve \{.*"amount":"1"\}.*"amount":"0"/)
      expect(await judged(step(spender), need(spender, 10n * ether), [allows(spender)], circumstances)).to.equal('signed')
    }
  })

  it('passes by what was approved to the spenders of a trusted plugin, or to those that it alone has where nobody allowed it', async () => {
    for (const of of [{ trusted: true }, { tried: true }] as const) {
      expect(await judged(step(own), need(own, ether), [allows(own)], { of })).to.equal('signed')
      expect(await judged(step(router), need(router, ether), [allows(router)], { of })).to.match(/^TRADE_FAILED/)
    }
    const [trusted, tried] = [like({ v2: router }, { trusted: true }), like({ v2: router }, { tried: true })]
    expect(await judged(step(router), need(router, ether), [allows(router)], trusted)).to.equal('signed')
    expect(await judged(step(router), need(router, ether), [allows(router)], tried)).to.match(/^TRADE_FAILED/)
    const listed = { of: { tried: true as const }, allowedSpenders: [own] }
    expect(await judged(step(own), need(own, ether), [allows(own)], listed)).to.match(/^TRADE_FAILED/)
  })

  it('may need what the request lets leave, whatever it says itself', async () => {
    const leaves = (amountRaw: bigint, acceptedRaw?: bigint) => ({
      bounds: new Map([[weth, { minRaw: -amountRaw, ...(acceptedRaw !== undefined && { acceptedRaw }) }]]),
    })
    expect(await judged(step(own), need(own, 10n * ether), [allows(own)], leaves(ether))).to.match(/^TRADE_FAILED .* needs 1 of it at most/)
    expect(await judged(step(own), need(own, 9n * ether), [allows(own)], leaves(10n * ether))).to.equal('signed')
    // A purchase: what it costs at most by the caller's limit may stand, though the price is lower.
    expect(await judged(step(own), need(own, 9n * ether), [allows(own)], leaves(9n * ether, 10n * ether))).to.equal('signed')
    expect(await judged(step(own), need(own, 9n * ether), [allows(own)], leaves(9n * ether, 10n * ether - 1n))).to.match(/^TRADE_FAILED/)
    // What comes in is not needed.
    const gains = { bounds: new Map([[weth, { minRaw: ether }]]) }
    expect(await judged(step(own), [], [allows(own)], gains)).to.match(/^TRADE_FAILED .* needs none of it/)
  })

  it('may need it of one spender, and not of each', async () => {
    const bounds = new Map([[weth, { minRaw: -10n * ether }]])
    const both = [...step(own), ...step(router)] as unknown as Plan['steps']
    const said = await judged(both, need(own, 10n * ether), [allows(own), allows(router)], { bounds })
    expect(said).to.match(new RegExp(`^TRADE_FAILED ${router} may take 10 of WETH .* needs none of it`))
  })

  it('fails where it calls somebody whom no connector has, or is told of whom the operator lets approve', async () => {
    const rest = like({ v2: own })
    expect(await judged(step(executor), [], [allows(executor)], rest)).to.match(/^TRADE_FAILED/)
    const told = step(own, `0x12345678${executor.slice(2)}`)
    expect(await judged(told, [], [allows(executor)], { ...rest, allowedSpenders: [executor] })).to.match(/^TRADE_FAILED/)
  })

  it('fails for one position, and for what Permit2 lets somebody take whom no connector has', async () => {
    expect(await judged(step(router), [], [{ token: manager, spender: router, tokenId: 7n }])).to.include(
      `may take number 7 of ${manager} from the wallet`,
    )
    expect(await judged(step(router), [], [{ token: manager, spender: router, tokenId: 7n }])).to.include(
      `approve(0x${'0'.repeat(40)}, 7) of ${manager}`,
    )
    const said = await judged(step(executor), [], [{ ...allows(executor), byPermit2: permit2 }])
    expect(said).to.include(`"spender":"${permit2}"`)
  })

  it('passes beside rights that it does not name', async () => {
    expect(await judged(step(executor), [], [allows(router), allows(universal)])).to.equal('signed')
  })
})
