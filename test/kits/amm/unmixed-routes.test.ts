import { expect } from 'chai'
import { AbiCoder, id } from 'ethers'
import type { Head, KnownOf, Quote, Swap, Token, Venue } from '../../../core/contracts/index.ts'
import { poolAMM, type PoolProtocol } from '../../../kits/amm/index.ts'
import { pairAddress, v2Protocol } from '../../../kits/amm/v2/pools.ts'
import { v2Router } from '../../../kits/amm/v2/router.ts'
import { v3Router } from '../../../kits/amm/v3/router.ts'
import type { Call, Evm, EvmReader } from '../../../kits/evm/index.ts'
import { rejection } from './v2/rejection.ts'

const tokenOf = (end: string): Token => ({ symbol: end, address: `0x${end.padStart(40, '0')}`, decimals: 18 })
const [a, b, wrapped] = [tokenOf('1'), tokenOf('2'), tokenOf('3')]
const factories = { v2: tokenOf('72').address, v3: tokenOf('73').address, stranger: tokenOf('79').address }
const routers = { v2: tokenOf('82').address, v3: tokenOf('83').address }
const swap: Swap = { tokenIn: a, tokenOut: b, exact: 'in', amountRaw: 10n ** 18n }
const head: Head = { number: 1n, timestamp: 1 }
const at = { signal: new AbortController().signal }
const coder = AbiCoder.defaultAbiCoder()
const ether = 10n ** 18n

/** As many pairs as are rated to one token: they are the best way in of all, the others the best way out. */
const kinds = [
  ...Array.from({ length: 6 }, (_, index) => ({ version: 'v2', index, inRaw: 1000n + BigInt(index), outRaw: 900n })),
  { version: 'v3', index: 9, inRaw: 995n, outRaw: 1000n },
]
/** Pairs of both kinds: only who takes routes through them matters. */
const protocols = kinds.map(({ version, index }): PoolProtocol => v2Protocol(version, [3n, 1000n], originOf(index)))
function originOf(index: number) {
  return { factory: tokenOf(`5${index}`).address, initCodeHash: `0x${'00'.repeat(32)}` }
}

const pairs = new Map(
  kinds.flatMap(({ index, inRaw, outRaw }) =>
    (
      [
        [a, 1000n, inRaw],
        [b, outRaw, 1000n],
      ] as const
    ).map(
      ([token, reserveRaw, wrappedRaw]) =>
        [
          pairAddress(originOf(index), [token.address, wrapped.address]),
          coder.encode(['uint112', 'uint112', 'uint32'], [reserveRaw * ether, wrappedRaw * ether, 0]),
        ] as const,
    ),
  ),
)

/**
 * An exchange of two kinds of pools, whose router of both says that its pairs are of this factory.
 * @param silent how often routers do not answer what they are asked about themselves
 */
function exchangeOf(factoryV2: string, silent = 0) {
  let unanswered = silent
  let asked = 0
  const views = new Map([
    [`${routers.v2} ${id('factory()').slice(0, 10)}`, factories.v2],
    [`${routers.v3} ${id('factory()').slice(0, 10)}`, factories.v3],
    [`${routers.v3} ${id('factoryV2()').slice(0, 10)}`, factoryV2],
    ...Object.values(routers).flatMap((router) =>
      ['WETH()', 'WETH9()'].map((view) => [`${router} ${id(view).slice(0, 10)}`, wrapped.address] as const),
    ),
  ])
  const isOfRouter = ({ to }: Call) => Object.values(routers).includes(to)
  const answerOf = ({ to, data }: Call): string => {
    const address = views.get(`${to} ${data}`)
    return address === undefined ? (pairs.get(to) ?? '0x') : coder.encode(['address'], [address])
  }
  const reader: EvmReader = {
    chainId: 1,
    nativeCurrency: tokenOf('0'),
    wrapped,
    intermediates: [wrapped, a, b],
    async read(calls) {
      const ofRouters = calls.filter((call) => 'to' in call && isOfRouter(call)).length
      asked += ofRouters
      const isSilent = ofRouters > 0 && (unanswered -= 1) >= 0
      const results = calls.map((call) => {
        if (!('to' in call)) throw new Error('Pairs are read by calls.')
        return isSilent && isOfRouter(call) ? { ok: false, data: '0x' } : { ok: true, data: answerOf(call) }
      })
      return { head, results }
    },
    call: () => Promise.reject(new Error('Nothing is tried.')),
    logs: () => Promise.reject(new Error('There are no logs.')),
    gasPriceRaw: () => 0n,
  }
  const venue: Venue<Evm> = {
    chain: 'ethereum',
    network: 'local',
    config: {},
    contracts: {},
    reader,
    nativeCurrency: reader.nativeCurrency,
    tokens: [],
    log: { info() {}, warn() {} },
  }
  const listed: ReadonlySet<string> = new Set()
  const amm = poolAMM(venue, {
    protocols,
    routers: [
      v2Router({ version: 'v2', address: routers.v2, factory: factories.v2, wrapped: wrapped.address, coin: 'ETH' }),
      v3Router(
        {
          version: 'v3',
          factory: factories.v3,
          router: routers.v3,
          routerKind: 'SwapRouter02',
          mixedWith: { version: 'v2', factory: factories.v2 },
          listed,
        },
        wrapped.address,
      ),
    ],
  })
  /** As the server asks: what a quote depends on, its states, the quote, and whether it may be shown. */
  const fromMemory = async (): Promise<Quote> => {
    const { followed } = amm
    if (!followed) throw new Error('Its pools are followed.')
    const basis = followed.basis(swap, {})
    const states: unknown[] = []
    for (const { followed: pools, key, about } of basis) {
      const known = new Map<string, KnownOf>([[key, { about, more: [] }]])
      states.push((await pools.load([key], head, at, known)).states.get(key))
    }
    const quote = followed.quote(swap, {}, states, head, 0)
    if ('missing' in quote) throw new Error('Nothing is missing.')
    await followed.vet(quote, states, at)
    return quote
  }
  const bySpenders = () => amm.quote(swap, { spenders: Object.values(routers) }, at)
  return { amm, fromMemory, fromChain: () => amm.quote(swap, {}, at), bySpenders, asked: () => asked }
}

const versionsOf = ({ route }: Quote) => route.map(({ version }) => version)
const terms = { recipient: tokenOf('99').address, boundRaw: 1n, deadline: 9 }

describe('an exchange whose router takes pools of both kinds', () => {
  for (const way of ['fromChain', 'fromMemory'] as const)
    it(`mixes them in a route (${way})`, async () => {
      const { amm, [way]: quoteBy } = exchangeOf(factories.v2)
      const quote = await quoteBy()
      expect(versionsOf(quote)).to.deep.equal(['v2', 'v3'])
      expect(amm.swap(quote, terms)).to.have.property('steps')
    })

  for (const [first, second] of [
    ['fromChain', 'fromMemory'],
    ['fromMemory', 'fromChain'],
  ] as const)
    it(`gives the best route of one kind where its pairs are of another exchange, from the first quote on (${first})`, async () => {
      const { amm, ...quotes } = exchangeOf(factories.stranger)
      for (const way of [first, first, second, second]) {
        const quote = await quotes[way]()
        expect(versionsOf(quote), way).to.deep.equal(['v3', 'v3'])
        expect(amm.swap(quote, terms)).to.have.property('steps')
      }
    })

  it('refuses a route that its router turns out not to take, and gives the best that it takes when asked again', async () => {
    const { amm, fromMemory } = exchangeOf(factories.stranger, 1)
    const error = await rejection(fromMemory())
    expect(error).to.include({ name: 'SERVICE_UNINITIALIZED' })
    expect(error.message).to.match(/does not take routes through v2, v3: ask again/)
    const quote = await fromMemory()
    expect(versionsOf(quote)).to.deep.equal(['v3', 'v3'])
    expect(amm.swap(quote, terms)).to.have.property('steps')
  })

  it('is asked about itself once, by whatever spenders a quote may go', async () => {
    const { fromChain, bySpenders, asked } = exchangeOf(factories.v2)
    await bySpenders()
    const once = asked()
    expect(once).to.be.above(0)
    for (const quoteBy of [bySpenders, bySpenders, fromChain]) await quoteBy()
    expect(asked()).to.equal(once)
  })
})
