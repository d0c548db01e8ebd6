import { expect } from 'chai'
import { readFile, symlink } from 'node:fs/promises'
import path from 'node:path'
import type { TestServer } from '../../testkit/server.ts'
import { printed, unlike } from './like.ts'
import { withSupported } from '../../tools/supported.ts'
import { packageJson } from './package-json.ts'
import { fencesOf, readPage, root, type Fence } from './page.ts'
import { readyServer } from './ready-server.ts'
import { run } from './run.ts'

describe('the README and the first steps', () => {
  let server: TestServer
  let home: string
  let fences: readonly Fence[]

  before(async () => {
    const pages = await Promise.all(['README.md', 'docs/first-steps.md', 'docs/going-to-mainnet.md'].map(readPage))
    fences = pages.flatMap(fencesOf)
    server = await readyServer()
    home = server.settings.home
    // What a checkout has besides what the test's home has.
    for (const folder of ['bin', 'examples', 'plugins']) await symlink(path.join(root, folder), path.join(home, folder))
  })
  after(() => server?.stop())

  const environment = () => ({ HOME: home, SLUICE_URL: server.kernel.url })

  it('has commands that work as typed and answer as shown', async () => {
    let functions = ''
    for (const [index, { language, text, line }] of fences.entries()) {
      if (language !== 'sh' || text.startsWith('npm ')) continue
      const script = `${functions}${text.replaceAll('https://localhost:15888', server.kernel.url)}`
      // Each block runs in a shell of its own; what they share is defined in one, and what is sent is waited for.
      if (/^\w+\(\)/.test(text)) functions = text
      const output = await run('sh', ['-euc', script], { cwd: home, env: environment() })
      const shown = fences[index + 1]
      if (shown?.language === 'json') {
        const answer: unknown = JSON.parse(output)
        expect(unlike(JSON.parse(shown.text), answer), `line ${line}: ${output}`).to.equal(undefined)
        // Elsewhere nothing follows that needs it.
        if (!/"chain": "(?!ethereum)/.test(text)) await confirmed(answer)
      } else if (shown?.language === 'text') expect(printed(output), `line ${line}`).to.equal(printed(shown.text))
    }
  })

  for (const [program, file] of [
    ['node', 'examples/trade.mjs'],
    ['python3', 'examples/trade.py'],
  ] as const) {
    it(`shows ${file} as it is, and what it prints`, async () => {
      const index = fences.findIndex((each) => each.file === file)
      expect(fences[index]?.text).to.equal(await readFile(path.join(root, file), 'utf8'))
      const output = await run(program, [file], { cwd: home, env: environment() })
      expect(printed(output)).to.equal(printed(fences[index + 1]?.text ?? ''))
    })
  }

  it('names two commands, which package.json has', async () => {
    const { scripts } = await packageJson()
    const commands = fencesOf(await readPage('README.md'))
      .filter(({ text }) => text.startsWith('npm '))
      .map(({ text }) => text.trim().split(' ')[1] ?? '')
    expect(commands).to.deep.equal(['start', 'test'])
    expect(scripts).to.include.keys(commands)
  })

  it('lists the exchanges and chains that the plugins declare, as npm run supported writes them', async () => {
    const page = await readPage('README.md')
    expect(page).to.equal(await withSupported(page))
  })

  it('has fewer than 9,000 bytes', async () => {
    expect(Buffer.byteLength(await readPage('README.md'))).to.be.below(9_000)
  })

  it('has beside it docs/errors.md, which shows an error as it is', async () => {
    const [shown] = fencesOf(await readPage('docs/errors.md'))
    const { body } = await server.client.post('/amm/trade', {
      chain: 'ethereum',
      network: 'local',
      connector: 'sushiswap',
      address: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
      base: 'WETH',
      quote: 'USDC',
      amount: '1',
      side: 'SELL',
    })
    expect(unlike(JSON.parse(shown?.text ?? ''), body)).to.equal(undefined)
    expect(body.name).to.equal('INSUFFICIENT_ALLOWANCE')
  })

  /** A person takes longer to the next command than the chain to the next block. */
  async function confirmed(answer: unknown): Promise<void> {
    if (typeof answer !== 'object' || answer === null || !('txHash' in answer)) return
    for (let tries = 0; tries < 400; tries++) {
      const { body } = await server.client.get('/network/poll', { chain: 'ethereum', network: 'local', txHash: String(answer.txHash) })
      if (body.txState === 'CONFIRMED') return
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    throw new Error(`${String(answer.txHash)} was not confirmed.`)
  }
})
