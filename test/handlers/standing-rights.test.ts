import { expect } from 'chai'
import type { Chain, Grant, Plan } from '../../core/contracts/index.ts'
import type { NetworkEntry, Registry, VenueEntry } from '../../core/handlers/registry.ts'
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
  /** The error of such a plan, or `signed`. @param standing all that the wallet allows */
  async function judged(steps: Plan['steps'], needs: Plan['needs'], standing: readonly Grant[]): Promise<string> {
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
    const registry: Pick<Registry, 'venuesOn'> = { venuesOn: () => [uniswap, rogue] }
    const at = { signal: AbortSignal.timeout(10_000) }
    return refuseStandingRights({ plan: { steps, needs }, wallet, tokens: [weth, odd] }, network, rogue, registry, at).then(
      () => 'signed',
      ({ name, message }: Error) => `${name} ${message}`,
    )
  }
  const ether = 10n ** 18n
  const step = (to: string, data = '0x12345678'): Plan['steps'] => [{ to, data, value: '0' }]
  const allows = (spender: string, token = weth): Grant => ({ token, spender, amountRaw: 10n * ether })
  const need = (spender: string, amountRaw: bigint): Plan['needs'] => [{ is: 'allowance', token: weth, spender, amountRaw }]

  it('is refused where it calls a spender of another connector that may take more than it needs, and says how that is revoked', async () => {
    for (const needs of [[], need(router, ether)]) {
      const said = await judged(step(router), needs, [allows(router)])
      expect(said).to.match(/^TRADE_FAILED 0xa+ may take 10 of WETH from the wallet, and the plan of rogue.*nothing was signed/)
      expect(said).to.include(`POST /evm/approve {"chain":"ethereum","network":"mainnet","address":"${wallet}","spender":"${router}"`)
      expect(said).to.include('"amount":"0"')
    }
  })

  it('is signed where the spender may take what the plan needs, or nothing', async () => {
    expect(await judged(step(router), need(router, 10n * ether), [allows(router)])).to.equal('signed')
    expect(await judged(step(router), [], [])).to.equal('signed')
  })

  it('is refused where a contract is told of such a spender, however deep', async () => {
    expect(await judged(step(executor, `0x12345678${'0'.repeat(24)}${router.slice(2)}`), [], [allows(router)])).to.match(/^TRADE_FAILED/)
    expect(await judged(step(executor, `0x12345678${router.slice(2).toUpperCase()}`), [], [allows(router)])).to.match(/^TRADE_FAILED/)
  })

  it('is refused for a token of the request that is on no list, and for all positions', async () => {
    expect(await judged(step(router), [], [allows(router, odd)])).to.match(/^TRADE_FAILED .* may take 10{19} of 0x3+/)
    expect(await judged(step(router), [], [{ token: manager, spender: router }])).to.include(
      `setApprovalForAll(${router}, false) of ${manager}`,
    )
  })

  it('is refused for a right by Permit2, and not for that of Permit2 itself, which moves nothing by it', async () => {
    expect(await judged(step(universal), [], [allows(universal)])).to.match(/^TRADE_FAILED/)
    expect(await judged(step(executor, `0x12345678${permit2.slice(2)}`), [], [allows(permit2)])).to.equal('signed')
  })

  it('is not held against rights that it does not name', async () => {
    expect(await judged(step(executor), [], [allows(router), allows(universal)])).to.equal('signed')
  })
})
