import { expect } from 'chai'
import { SluiceError } from '../../core/base/errors.ts'
import { booksVerifyHandlers } from '../../core/handlers/books-verify.ts'
import { createTokenBook } from '../../core/live-state/token-book.ts'
import { at, startDevnetChain, wallet, type TestChain } from '../kits/evm/test-chain.ts'

describe('an answer of /books/verify', function () {
  this.timeout(300_000)
  let test: TestChain

  before(async () => {
    test = await startDevnetChain()
    await test.chain.start?.(at.signal)
    for (let blocks = 0; blocks < 4; blocks += 1) await test.rpc('evm_mine')
  })
  after(() => test.stop())

  /** The chain's second token is on no list. */
  async function verified(resolve?: () => never) {
    const { chain: impl } = test
    const unlisted = impl.reader.intermediates[1]?.address ?? ''
    const tokens = createTokenBook(impl, [], 'ethereum/local')
    const context = {
      network: { chain: 'ethereum', network: 'local', impl, tokens: { ...tokens, ...(resolve && { resolve }) } },
      services: {
        checkpoints: { between: async () => new Map() },
        transactions: { list: async () => ({ entries: [] }), find: async () => undefined },
        settings: { books: { rebasingTokens: [] } },
      },
      caller: { id: 'one' },
      signal: at.signal,
    }
    const head = Number(await test.rpc('eth_blockNumber'))
    const request = {
      chain: 'ethereum',
      network: 'local',
      address: wallet,
      tokens: [unlisted],
      cursor: `${head - 4}-${head - 4}-${head - 2}`,
    }
    const answer = await booksVerifyHandlers.BooksVerify(request, context as never)
    return answer.tokens.find(({ token }) => token === unlisted)
  }

  it('is refused where a node does not tell the decimals of a token, which other answers count in', async () => {
    expect(await verified()).to.include({ symbol: 'USDC' })
    const refused = await verified(() => {
      throw new SluiceError('NETWORK', 'No node answers.')
    }).catch((error: unknown) => error)
    expect(refused).to.include({ name: 'NETWORK' })
  })

  it('tells smallest units of a token that has no decimals', async () => {
    const shown = await verified(() => {
      throw new SluiceError('TOKEN_NOT_SUPPORTED', 'There is no such token.')
    })
    expect(shown).to.not.have.property('symbol')
    expect(shown?.end).to.match(/^\d{7,}$/)
  })
})
