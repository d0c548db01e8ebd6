import Mocha from 'mocha'
import { expect } from 'chai'
import { connectorContract } from '../../testkit/index.ts'

const globalNames = [
  'describe',
  'it',
  'before',
  'after',
  'beforeEach',
  'afterEach',
  'context',
  'specify',
  'run',
  'xdescribe',
  'xit',
] as const

/** What mocha does with a connector's contract tests and `--grep`. */
async function runWith(grep: string): Promise<{ failures: number; messages: string[] }> {
  const before = Object.fromEntries(globalNames.map((name) => [name, Reflect.get(globalThis, name)]))
  const mocha = new Mocha({ grep, reporter: function silent() {} as never })
  try {
    mocha.suite.emit('pre-require', globalThis, '', mocha)
    connectorContract({
      folder: '/an-exchange',
      site: async () => {
        throw new Error('the site is started')
      },
    })
  } finally {
    Object.assign(globalThis, before)
  }
  const messages: string[] = []
  const failures = await new Promise<number>((resolve) => {
    mocha.run(resolve).on('fail', (_test: unknown, error: Error) => messages.push(error.message))
  })
  return { failures, messages }
}

describe('contract tests with --grep', () => {
  for (const grep of ['AMM-05', 'AMM-08', 'LP-03', 'PERP-07', 'BOOK-16', 'BOOK-32', 'deadline', 'an-exchange AMM-05'])
    it(`${grep} starts the server, though its cards are known only then`, async () => {
      expect(await runWith(grep)).to.deep.equal({ failures: 1, messages: ['the site is started'] })
    })

  it('runs nothing where no card has it', async () => {
    expect(await runWith('no such card')).to.deep.equal({ failures: 0, messages: [] })
  })
})
