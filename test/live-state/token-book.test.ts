import { expect } from 'chai'
import { createTokenBook } from '../../core/live-state/token-book.ts'
import type { Chain, Token } from '../../core/contracts/index.ts'
import { SluiceError } from '../../core/base/errors.ts'
import { evmHandlers } from '../../core/handlers/evm.ts'
import { networkHandlers } from '../../core/handlers/network.ts'
import { networks } from '../../plugins/polygon/index.ts'
import { evmChain } from '../../kits/evm/chain.ts'
import { multicall3 } from '../../kits/evm/network.ts'

const at = { signal: AbortSignal.timeout(60_000) }
const wpol = { symbol: 'WPOL', address: '0x0d500B1d8E8eF31E21C99d1Db9A6444d3ADf1270', decimals: 18 }
const placeholder = '0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE'
const log = { info() {}, warn() {} }
const polygon = evmChain(
  { chain: 'polygon', network: 'mainnet', config: { rpcUrls: ['http://127.0.0.1:1'] }, log, meter: { rpc() {} } },
  { ...networks.mainnet, wrapped: wpol, intermediates: [], multicall: multicall3 },
)

describe('tokens that are on no list', () => {
  const addressOf = (index: number) => polygon.address(`0x${(index + 0xabc000).toString(16).padStart(40, '0')}`) ?? ''
  const asked: (readonly string[])[] = []
  const book = createTokenBook(
    {
      ...polygon,
      async tokens(addresses) {
        asked.push(addresses)
        return addresses.map((address) => (address === addressOf(3) ? undefined : { symbol: 'T', address, decimals: 1 }))
      },
    },
    [wpol],
    'polygon/mainnet',
  )
  const all = (count: number, from = 0) => Array.from({ length: count }, (_, index) => addressOf(from + index))
  beforeEach(() => asked.splice(0))

  it('need one round trip, each asked for once, and are known from then on', async () => {
    const names = ['WPOL', ...all(20, 10), addressOf(10).toLowerCase(), 'POL']
    const found = await book.resolveAll(names, 'tokenSymbols', at)
    expect(found.map(({ address }) => address)).to.deep.equal([wpol.address, ...all(20, 10), addressOf(10), polygon.nativeCurrency.address])
    expect(asked).to.deep.equal([all(20, 10)])
    await book.resolveAll([...all(20, 10), ...all(20, 40)], 'tokenSymbols', at)
    expect(asked).to.deep.equal([all(20, 10), all(20, 40)])
  })

  it('fail where a request has more than 20, without asking for one', async () => {
    for (const count of [21, 1_000]) {
      const error: unknown = await book.resolveAll(all(count, 1_000), 'tokenSymbols', at).catch((thrown: unknown) => thrown)
      expect(error).to.include({ name: 'INCOMPLETE_PARAMS' })
      expect(String(error)).to.contain('more than 20 addresses that are on no list').and.contain('20 of them')
    }
    expect(asked).to.deep.equal([])
  })

  it('cause an error where one address has no token', async () => {
    const error: unknown = await book.resolveAll(all(5), 'tokenSymbols', at).catch((thrown: unknown) => thrown)
    expect(error).to.include({ name: 'TOKEN_NOT_SUPPORTED' })
    expect(asked).to.have.length(1)
  })
})

describe('the native coin among the tokens of a network', () => {
  const named = { symbol: 'POL', address: '0x00000000000000000000000000000000000000a1', decimals: 18 }
  const standIns = [`0x${'0'.repeat(40)}`, placeholder, '0x0000000000000000000000000000000000001010']
  const listed = standIns.map((address) => ({ symbol: 'POL', address, decimals: 18 }))
  const book = createTokenBook(polygon, [wpol, named, ...listed], 'polygon/mainnet')

  it('keeps its symbol, whatever a list names so', async () => {
    expect(await book.resolve('POL', 'token', at)).to.equal(polygon.nativeCurrency)
    expect(await book.resolve(named.address, 'token', at)).to.include({ address: named.address })
  })

  for (const address of [...standIns, placeholder.toLowerCase()])
    it(`answers for ${address}, which has no entry of its own`, async () => {
      expect(await book.resolve(address, 'token', at)).to.equal(polygon.nativeCurrency)
      expect(book.listed.filter((token) => token.address === address)).to.have.length(address === standIns[0] ? 1 : 0)
      expect(book.listedAt(polygon.address(address) ?? '')).to.equal(polygon.nativeCurrency)
    })
})

describe('an address of a network', () => {
  const victim = '0x00000000000000000000000000000000000000AA'
  const checksummed = polygon.address(victim.toLowerCase()) ?? ''
  const unlisted = polygon.address(`0x${'b'.repeat(40)}`) ?? ''
  const [thief, other] = [`0x${'1'.repeat(40)}`, `0x${'2'.repeat(40)}`]
  const known = { symbol: 'GOOD', address: checksummed, decimals: 18 }
  const book = createTokenBook(
    { ...polygon, token: async (address) => ({ symbol: 'READ', address, decimals: 1 }) },
    [known, { symbol: checksummed, address: thief, decimals: 6 }, { symbol: unlisted, address: other, decimals: 6 }],
    'polygon/mainnet',
  )

  it('is that of its token, whatever a list calls so', async () => {
    for (const name of [checksummed, checksummed.toLowerCase()]) {
      expect(await book.resolve(name, 'token', at)).to.equal(known)
      expect(book.known(name, 'token')).to.equal(known)
    }
    for (const name of [unlisted, unlisted.toLowerCase()]) {
      expect(book.known(name, 'token')).to.equal(undefined)
      expect(await book.resolve(name, 'token', at)).to.include({ symbol: 'READ', address: unlisted })
    }
  })

  it('stands for no token where its checksum is wrong, whatever a list calls so', () => {
    const wrong = unlisted.replaceAll(/[a-f]/gi, (letter) =>
      letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
    )
    const listed = createTokenBook(polygon, [{ symbol: wrong, address: thief, decimals: 6 }], 'polygon/mainnet')
    expect(() => listed.known(wrong, 'token')).to.throw('checksum')
  })
})

describe('an answer about several tokens', () => {
  const addressOf = (digit: string) => `0x${digit.repeat(40)}`
  const listed = ['A', 'B', 'DEAD', 'TWIN', 'TWIN'].map((symbol, index) => ({ symbol, address: addressOf(String(index + 1)), decimals: 0 }))
  const [foreign, nothing, away] = [addressOf('7'), addressOf('8'), addressOf('9')]
  const raws = (tokens: readonly Token[]) => tokens.map(({ symbol }) => (symbol === 'DEAD' ? undefined : 5n))
  const chain = {
    ...polygon,
    balances: async (_: string, tokens: readonly Token[]) => raws(tokens),
    async token(address: string) {
      if (address === away) throw new SluiceError('NETWORK', 'no node')
      return address === nothing ? undefined : { symbol: 'FOREIGN', address, decimals: 0 }
    },
    tokens: undefined,
    evm: { allowances: async (_: string, spenders: readonly string[], tokens: readonly Token[]) => spenders.map(() => raws(tokens)) },
  } as unknown as Chain
  const on = { chain: 'polygon', network: 'mainnet' }
  const network = { ...on, impl: chain, tokens: createTokenBook(chain, listed, 'polygon/mainnet') }
  const services = { registry: { hasConnector: () => false, pending: () => undefined, venuesOn: () => [] } }
  const context = { network, services, ...at } as never
  const owner = addressOf('a')
  const balancesOf = async (...tokenSymbols: string[]) => networkHandlers.NetworkBalances({ ...on, address: owner, tokenSymbols }, context)
  const allowancesOf = async (...tokenSymbols: string[]) =>
    evmHandlers.EVMAllowances({ ...on, address: owner, spender: addressOf('b'), tokenSymbols }, context)
  const codeOf = async (work: Promise<unknown>) =>
    work.then(
      () => 'answered',
      (error: unknown) => Object(error).name,
    )

  it('has the good ones, and says what it lacks: a dead one, unknown ones, one of several, no address', async () => {
    const bad = ['DEAD', 'NOPE', nothing, 'TWIN', placeholder.replace('0xEe', '0xee')]
    const { balances, unavailable } = await balancesOf('a', ...bad, 'B', foreign)
    expect(balances).to.deep.equal({ A: '5', B: '5', [foreign]: '5' })
    expect(unavailable?.map(({ token }) => token)).to.have.members(bad)
    for (const { reason } of unavailable ?? [])
      expect(reason).to.match(/does not answer as a token|has no token|no token at|several tokens|checksum/)
    const allowed = await allowancesOf('a', ...bad, 'B', foreign)
    expect(allowed.approvals).to.deep.equal(balances)
    expect(allowed.unavailable).to.deep.equal(unavailable)
    expect(await balancesOf('a')).to.not.have.property('unavailable')
  })

  it('fails where no token is good, and where nodes are in trouble', async () => {
    for (const ask of [balancesOf, allowancesOf]) {
      expect(await codeOf(ask('DEAD'))).to.equal('TOKEN_NOT_SUPPORTED')
      expect(await codeOf(ask('DEAD', 'NOPE'))).to.equal('TOKEN_NOT_SUPPORTED')
      expect(await codeOf(ask('TWIN'))).to.equal('INCOMPLETE_PARAMS')
      expect(await codeOf(ask('A', away))).to.equal('NETWORK')
    }
  })
})
