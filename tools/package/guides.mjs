// The guides for authors of plugins, followed in a folder where the packages are installed: files, commands and trades as they are written.
import { expect } from 'chai'
import { randomUUID } from 'node:crypto'
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { printed as withoutFigures, unlike } from '../../test/docs/like.ts'
import { fencesOf } from '../../test/docs/page.ts'
import { typeCommands } from '../../test/docs/typed.ts'
import { authorsFolder, bot, environment, folder, guide, guides, page, removePlace, run, start } from './outside.mjs'

after(removePlace)

const network = { chain: 'ethereum', network: 'local' }
const wallet = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'

/** Times are printed where something took long, and the log comes when it comes. */
const shape = (text) => withoutFigures(text.replaceAll(/ \(\d+(?:ms|s|m)\)|^\{"level".*\n/gm, '').replaceAll(/\b[0-9a-f]{64}\b/g, '0x'))

/** Types the commands of a page, writes its files, and gives what was printed with what the page shows. */
async function follow(shownPage, first, compare) {
  const fences = fencesOf(shownPage)
  const setUp = fences.findIndex(({ text }) => text.startsWith('npx')) // authorsFolder() has typed what is before
  let [cwd, functions, server] = [first, '', undefined]
  const type = (text) => {
    const where = path.join(first, 'where.txt')
    const asked = text.replace(/plugin (add|update) .*/, '$& --yes').replaceAll('https://localhost:15888', server?.url ?? '')
    // The commands ask the server of the guide, which is at no other port for its reader.
    const env = { ...environment(), ...(server && { SLUICE_SERVER_PORT: new URL(server.url).port }) }
    const { code, printed } = run('sh', ['-euc', `exec 2>&1\n${functions}${asked}\npwd > "${where}"`], { cwd, env })
    expect(code, `${text}\n${printed}`).to.equal(0)
    cwd = readFileSync(where, 'utf8').trim()
    return printed
  }
  try {
    for (const [index, { language, file, text }] of fences.entries()) {
      if (index < setUp) continue
      const shown = fences[index + 1]
      if (file !== undefined) {
        mkdirSync(path.dirname(path.join(first, file)), { recursive: true })
        writeFileSync(path.join(first, file), text)
      } else if (language === 'bash') {
        await server?.stop()
        server = await start(cwd, ['--devnet', '--home', 'server'], { env: { ...environment(), SLUICE_DEVNET_PORT: '0' } })
      } else if (text.startsWith('ask()')) functions = text
      else if (language === 'sh') {
        const isShown = ['text', 'json'].includes(shown?.language)
        // A request that writes is sent again with its key: it is carried out once, however often its command is typed.
        const key = randomUUID()
        const typed = text.replace(/^ask (?=-H 'Content-Type)/m, `ask -H 'Idempotency-Key: ${key}' `)
        // What follows from a command, such as a transaction in a block, is there a little later.
        for (let left = text.includes('ask ') ? 120 : 0; ; left--) {
          try {
            const printed = type(typed)
            if (isShown) compare(printed, shown)
            break
          } catch (unlikeShown) {
            if (left === 0) throw unlikeShown
            await sleep(500)
          }
        }
      }
    }
  } finally {
    server?.kill()
  }
}

describe('the guides for authors, with the packages', () => {
  let cwd
  before(() => {
    cwd = authorsFolder()
  })

  // They take minutes: the tests of all packages may follow one of them.
  const followed = process.env.PACKAGE_TEST_GUIDES?.split(',') ?? [
    ...guides.filter((name) => name.startsWith('writing-')),
    'your-first-plugin',
  ]
  for (const name of followed.filter((each) => each !== 'your-first-plugin')) {
    it(`docs/authors/${name}.md shows commands that print what is shown`, () => {
      const fences = fencesOf(guide(name))
      for (const [index, { language, text, line }] of fences.entries()) {
        if (language !== 'sh') continue
        // It asks at a terminal.
        const typed = text.replace(/plugin trust \w+/, '$& --yes --trusted')
        const { code, printed } = run('sh', ['-euc', typed], { cwd })
        expect(code, printed).to.equal(0)
        const shown = fences[index + 1]
        if (shown?.language === 'text') expect(shape(printed), `line ${line}: ${printed}`).to.equal(shape(shown.text))
        if (text.includes('getCreateAddress')) expect(printed).to.equal(shown.text)
      }
    })
  }

  if (followed.includes('your-first-plugin')) {
    it('docs/authors/your-first-plugin.md and updating-a-plugin.md work as they are typed', async function () {
      this.timeout(600_000)
      // The home of the other guides' server.
      rmSync(path.join(cwd, 'server'), { recursive: true, force: true })
      await follow(`${guide('your-first-plugin')}\n${guide('updating-a-plugin')}`, cwd, (output, { line, language, text }) => {
        const printed = output.replaceAll(cwd, '/home/you/plugins')
        if (language === 'json') expect(unlike(JSON.parse(text), JSON.parse(printed)), `line ${line}: ${printed}`).to.equal(undefined)
        else expect(shape(printed), `line ${line}: ${printed}`).to.equal(shape(text))
      })
    })
  }

  describe('on a server', () => {
    const pools = ['riverswap', 'lakeswap', 'marshswap', 'ferryswap', 'rillswap']
    const home = folder('Zuhause der Anleitungen')
    let server
    let client
    before(async () => {
      mkdirSync(path.join(home, 'plugins'))
      for (const name of [...pools, 'tidebook']) cpSync(path.join(cwd, name), path.join(home, 'plugins', name), { recursive: true })
      server = await start(cwd, ['--devnet', '--home', home], { env: { ...environment(), SLUICE_DEVNET_PORT: '0' } })
      client = bot(server.url, home)
    })
    after(() => server?.kill())
    const until = async (ask, holds) => {
      let answer
      for (let tries = 0; tries < 1200; tries++) {
        answer = await ask()
        if (holds(answer)) return answer
        await sleep(100)
      }
      throw new Error(`The last answer was: ${JSON.stringify(answer)}`)
    }
    const mined = ({ txHash, ...answer }) => {
      expect(txHash, JSON.stringify(answer)).to.be.a('string')
      return until(
        () => client.get('/network/poll', { ...network, txHash }),
        ({ txStatus }) => txStatus === 1,
      )
    }

    it('docs/bots/tour.md has commands that work as typed and answer as shown', async () => {
      await typeCommands(fencesOf(page('bots/tour')), {
        url: server.url,
        type: (script) => {
          const { code, printed } = run('sh', ['-euc', script], { cwd: home })
          expect(code, `${script}\n${printed}`).to.equal(0)
          return printed
        },
        poll: (txHash, of) => client.get('/network/poll', { ...of, txHash }),
      })
    })

    for (const name of pools) {
      it(`${name} loads, quotes and trades as written`, async () => {
        const swap = { ...network, connector: name, base: 'WETH', quote: 'USDC', amount: '0.5', side: 'SELL' }
        const quote = await until(
          () => client.get('/amm/price', swap),
          (answer) => answer.name !== 'SERVICE_UNINITIALIZED',
        )
        await mined(await client.post('/evm/approve', { ...network, address: wallet, spender: name, token: 'WETH', amount: '0.5' }))
        const trade = await client.post('/amm/trade', { ...swap, address: wallet, limitPrice: quote.slippagePrice })
        const { fill } = await mined(trade)
        expect(fill).to.include({ amountIn: '0.500000000000000000', amountOut: trade.expectedAmount })
      })
    }

    it('tidebook loads, has a book, and takes an order as written', async () => {
      const venue = { ...network, connector: 'tidebook' }
      const book = await until(
        () => client.get('/clob/orderBook', { ...venue, market: 'WETH-DAI' }),
        ({ name }) => name !== 'SERVICE_UNINITIALIZED',
      )
      expect(book.buys, JSON.stringify(book)).to.have.length(3)
      await mined(await client.post('/evm/approve', { ...network, address: wallet, spender: 'tidebook', token: 'WETH' }))
      const order = { market: 'WETH-DAI', side: 'SELL', orderType: 'LIMIT', price: '3100', amount: '0.1', clientOrderId: 'tide-1' }
      const placed = await client.post('/clob/orders', { ...venue, address: wallet, ...order })
      expect(placed, JSON.stringify(placed)).to.have.property('clientOrderId', 'tide-1')
      await until(
        () => client.get('/clob/orders', { ...venue, address: wallet, clientOrderId: 'tide-1' }),
        ({ orders }) => orders?.[0]?.state === 'OPEN',
      )
    })
  })
})
