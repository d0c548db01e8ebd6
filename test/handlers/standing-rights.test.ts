import { expect } from 'chai'
import type { Chain, Grant, Plan } from '../../core/contracts/index.ts'
import type { NetworkEntry, Registry, VenueEntry } from '../../core/plugins/registry.ts'
import type { OutcomeBounds } from '../../core/handlers/outcome.ts'
import type { TransactionState } from '../../core/transactions/entry.ts'
import type { RightsUnderWay } from '../../core/transactions/transactions.ts'
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
    readonly underWay?: Partial<RightsUnderWay>
    /** The block in which the chain has the transaction of an approval. */
    readonly found?: bigint
    /** The block by which the chain says what stands; `untold`: it answers a list alone, as in 0.2.0. */
    readonly head?: bigint | 'untold'
  }
  /** The error of such a plan, or `signed`. @param standing all that the wallet allows */
  async function judged(
    steps: Plan['steps'],
    needs: Plan['needs'],
    standing: readonly Grant[],
    { of = {}, underWay = {}, found, head = 7n, ...circumstances }: Circumstances = {},
  ): Promise<string> {
    const planning = { ...rogue, ...of }
    const evm = {
      async standing(_owner: string, spenders: readonly string[], { tokens, collections, permit2s }: Record<string, readonly string[]>) {
        expect(permit2s).to.deep.equal([permit2])
        const grants = standing.filter(
          (each) => spenders.includes(each.spender) && [...(tokens ?? []), ...(collections ?? [])].includes(each.token),
        )
        return head === 'untold' ? grants : { head: { number: head, timestamp: 1 }, grants }
      },
    } as unknown as Chain['evm']
    const nativeCurrency = { symbol: 'ETH', address: coin, decimals: 18 }
    const listed = [nativeCurrency, { symbol: 'WETH', address: weth, decimals: 18 }]
    const network = {
      chain: 'ethereum',
      network: 'mainnet',
      impl: { evm, nativeCurrency, address: (text: string) => text, find: async () => ({ blockNumber: found }) } as unknown as Chain,
      tokens: { listed, listedAt: (at: string) => listed.find((each) => each.address === at) },
    } as unknown as NetworkEntry
    const registry: Pick<Registry, 'venuesOn'> = { venuesOn: () => [uniswap, planning] }
    const at = { signal: AbortSignal.timeout(10_000) }
    const soon = async () => ({ approvals: [], permits: [], ...underWay })
    const planned = { plan: { steps, needs }, wallet, tokens: [weth, odd], underWay: soon, ...circumstances }
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

  /** The journal's entry of an approval that is in no block. */
  const approval = (to: string, spender: string, state: TransactionState = 'BROADCAST'): RightsUnderWay['approvals'][number] => ({
    key: '1',
    state,
    step: { to, data: `0x095ea7b3${'0'.repeat(24)}${spender.slice(2)}${'f'.repeat(64)}`, value: '0' },
    attempts: [{ id: '0x77', raw: new Uint8Array(), fees: null, signedAt: 0, sends: 1 }],
    ...(state === 'MINED' && { landed: { id: '0x77', ok: true, blockNumber: 7, receipt: null } }),
  })

  it('fails while an approval for somebody whom it names, or for Permit2, is under way', async () => {
    const bounds = new Map([[weth, { minRaw: -10n * ether }]])
    for (const [spender, approved] of [
      [router, router],
      [universal, permit2],
      [universal, universal],
    ] as const) {
      const approvals = [approval(approved === universal ? permit2 : weth, approved)]
      const said = await judged(step(spender), [], [allows(spender)], { bounds, underWay: { approvals } })
      expect(said).to.match(new RegExp(`^OVERLOADED An approval of the wallet for ${approved} is under way \\(0x77\\)`))
    }
    const mined = { bounds, underWay: { approvals: [approval(weth, router, 'MINED')] } }
    expect(await judged(step(router), [], [allows(router)], mined)).to.equal('signed')
    expect(
      await judged(step(router), [], [allows(router)], { bounds, underWay: { approvals: [approval(weth, router)] }, found: 7n }),
    ).to.equal('signed')
    const others = { bounds, underWay: { approvals: [approval(weth, own)] } }
    expect(await judged(step(router), [], [allows(router)], others)).to.equal('signed')
  })

  it('fails while what stands is read of an older block than the one that an approval is in', async () => {
    const bounds = new Map([[weth, { minRaw: -10n * ether }]])
    for (const [state, found] of [['MINED'], ['BROADCAST', 7n]] as const) {
      const circumstances = { bounds, underWay: { approvals: [approval(weth, router, state)] }, ...(found !== undefined && { found }) }
      const by = (head: bigint | 'untold') => judged(step(router), [], [], { ...circumstances, head })
      expect(await by(6n), state).to.match(/^OVERLOADED An approval of the wallet for 0xa+ is under way/)
      for (const head of [7n, 8n]) expect(await by(head), state).to.equal('signed')
      expect(await by('untold'), state).to.match(/is under way/)
    }
  })

  const permit = (spender: string, amountRaw: bigint, more: object = {}): RightsUnderWay['permits'][number] => {
    const right = { permit2, token: weth, decimals: 18, spender, amountRaw: amountRaw.toString(), expires: 1_800_000_000, nonce: 0 }
    return { permit: { ...right, state: 'outstanding', ...more }, txHash: '0x78' }
  }

  it('fails by a permit that somebody may still use whom it names, and passes where that is what it may take', async () => {
    const bounds = new Map([[weth, { minRaw: -10n * ether }]])
    const by = (permits: RightsUnderWay['permits'], standing: readonly Grant[] = []) =>
      judged(step(universal), [], standing, { bounds, underWay: { permits } })
    const said = await by([permit(universal, 11n * ether)])
    expect(said).to.match(/^TRADE_FAILED A permit of the wallet lets 0xb+ take 11 of 0x2+ until 2027-01-15T08:00:00.000Z/)
    expect(said).to.include('0x78')
    expect(await by([permit(universal, ether)], [allows(universal)])).to.match(/^TRADE_FAILED A permit/)
    expect(await by([permit(universal, 10n * ether)])).to.equal('signed')
    expect(await by([permit(router, 11n * ether)])).to.equal('signed')
    // A block shows that it is used.
    expect(await by([permit(universal, 11n * ether, { since: 7 })])).to.equal('signed')
  })
})
