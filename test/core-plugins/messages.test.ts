import { expect } from 'chai'
import { cpSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { SluiceError } from '../../core/contracts/index.ts'
import { callPlugin } from '../../core/plugins/code/boundary.ts'
import type { LoadResult } from '../../core/plugins/load.ts'
import { logWarnings } from '../../core/plugins/code/uncaught.ts'
import { goodPlugins, keptLog, load, type LogLine } from './fixtures.ts'

/** A good plugin with one mistake: what is replaced in which file, and what its author is told. */
interface Mistake {
  readonly file: 'index.ts' | 'amm.ts' | 'defaults.yml'
  /** Absent: the file is not there. */
  readonly change?: readonly [from: string, to: string]
  readonly step: string
  readonly reason: RegExp
  readonly remedy: RegExp
}

const mistakes: Record<string, Mistake> = {
  'throws-in-create': {
    file: 'amm.ts',
    change: ['AMM => ({', "AMM => {\n  if (spender) throw new Error('no factory is known')\n  return {"],
    step: 'create',
    reason: /^amm\.ts:5: no factory is known$/,
    remedy: /^Correct what create\(\) does for fixture-chain mainnet/,
  },
  'throws-at-import': {
    file: 'index.ts',
    change: ['export default', 'const fee: number = facts.fees.low\nexport default'],
    step: 'import',
    reason: /^index\.ts:5: TypeError: .*low/,
    remedy: /^Correct the plugin/,
  },
  'no-defaults': {
    file: 'defaults.yml',
    step: 'configuration',
    reason: /^no-defaults\/defaults\.yml: does not exist; no-defaults\/defaults\.yml allowedSlippage: is missing/,
    remedy: /^Add it beside the plugin's index, .* Add allowedSlippage: /,
  },
  'bad-address': {
    file: 'defaults.yml',
    // Of two networks the other one would be served.
    change: ["mainnet: { routerAddress: '0xAA01' }\n  testnet: { routerAddress: '0xAA02' }", "testnet: { routerAddress: '0xAA0g' }"],
    step: 'configuration',
    reason: /^bad-address\/defaults\.yml:4 contractAddresses\.testnet\.routerAddress '0xAA0g' is not an address on fixture-chain testnet$/,
    remedy: /^Correct it in bad-address\/defaults\.yml: /,
  },
  'misspelt-network': {
    file: 'index.ts',
    change: ["'mainnet', 'testnet'", "'mainet', 'testnet'"],
    step: 'networks',
    reason: /^index\.ts:12: available_networks has 'mainet', which is not a network of fixture-chain, while contractAddresses has mainnet$/,
    remedy: /^Write 'mainnet' instead of 'mainet' in available_networks of the manifest \(index\.ts:12\)\.$/,
  },
  'misspelt-chain': {
    file: 'index.ts',
    change: ["chain: 'fixture-chain'", "chain: 'fixture-chian'"],
    step: 'networks',
    reason: /There is no chain 'fixture-chian'/,
    remedy: /^Did you mean 'fixture-chain'\? Correct available_networks of the manifest \(index\.ts:12\)/,
  },
  'unknown-address-key': {
    file: 'defaults.yml',
    change: ['testnet:', 'tesnet:'],
    step: 'configuration',
    reason: /^unknown-address-key\/defaults\.yml:5 contractAddresses has tesnet, which the connector does not serve$/,
    remedy: /^In unknown-address-key\/defaults\.yml, use mainnet, /,
  },
}

/** What a plugin answers, and what the log says of it. */
const answers: Record<string, { change: readonly [string, string]; at: RegExp; message: RegExp }> = {
  'amount-is-a-number': {
    change: ['amountRaw: swap.amountRaw', 'amountRaw: 5'],
    at: /^amm\.ts:6$/,
    message: /^amountRaw must be a bigint above 0, of at most 256 bits, and is 5, a number: write 5n, or BigInt\(…\)$/,
  },
  'amount-is-text': {
    change: ['amountRaw: swap.amountRaw', "amountRaw: '5'"],
    at: /^amm\.ts:6$/,
    message: /^amountRaw must be a bigint above 0, of at most 256 bits, and is '5', text: write BigInt\(…\)$/,
  },
  'throws-in-a-quote': {
    change: ['gasUnits: 1n', 'gasUnits: 1n + Number(swap.amountRaw)'],
    at: /^amm\.ts:12$/,
    message: /Cannot mix BigInt/,
  },
}

describe('what an author is told', function () {
  this.timeout(120_000)
  let folder: string
  let result: LoadResult
  let lines: LogLine[]

  function plant(name: string, file: string, change: readonly [string, string] | undefined): void {
    const planted = path.join(folder, name)
    cpSync(path.join(goodPlugins, 'fixture-swap'), planted, { recursive: true })
    const index = path.join(planted, 'index.ts')
    writeFileSync(index, readFileSync(index, 'utf8').replaceAll('fixture-swap', name))
    if (!change) return rmSync(path.join(planted, file))
    const text = readFileSync(path.join(planted, file), 'utf8')
    if (!text.includes(change[0])) throw new Error(`${file} has no ${change[0]}`)
    const closed = change[1].includes('return {') ? text.replace(/\}\)\n$/, '}}\n') : text
    writeFileSync(path.join(planted, file), closed.replace(...change))
  }

  before(async () => {
    folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'sluice-messages-')))
    for (const [name, { file, change }] of Object.entries(mistakes)) plant(name, file, change)
    for (const [name, { change }] of Object.entries(answers)) plant(name, 'amm.ts', change)
    const own = keptLog()
    lines = own.lines
    result = await load([path.join(goodPlugins, 'fixture-chain'), folder], { logOf: () => own.log })
  })
  after(() => rmSync(folder, { recursive: true, force: true }))

  for (const [name, { step, reason, remedy }] of Object.entries(mistakes))
    it(`names the plugin, the place and the remedy: ${name}`, () => {
      const refusal = result.refused.find((each) => each.name === name)
      expect(refusal?.step).to.equal(step)
      expect(refusal?.reason).to.match(reason)
      expect(refusal?.remedy).to.match(remedy)
    })

  for (const [name, { at, message }] of Object.entries(answers))
    it(`names the plugin, the method, the line and the field in the log: ${name}`, async () => {
      const plugin = result.loaded.find((each) => each.name === name)
      if (plugin?.kind !== 'connector') throw new Error(`${name} was not loaded`)
      const token = { symbol: 'A', address: '0x0a', decimals: 1 }
      const swap = { tokenIn: token, tokenOut: token, exact: 'in', amountRaw: 1n } as const

      const thrown = await plugin.venues[0]?.implementation.AMM?.quote(swap, {}, { signal: new AbortController().signal }).catch(
        (error: unknown) => error,
      )

      expect(thrown).to.be.instanceOf(SluiceError).and.include({ name: 'UNKNOWN_ERROR' })
      const line = lines.find(({ fields }) => 'plugin' in fields && fields.plugin === name)
      if (!line) throw new Error(`the log says nothing of ${name}`)
      const { verb, at: place, err } = line.fields as { verb: string; at: string; err: Error }
      expect(verb).to.equal('AMM.quote')
      expect(place).to.match(at)
      expect(err.message).to.match(message)
    })
})

describe('the log of a server', () => {
  it("has Node's warnings as lines, with the plugin and the line that is to blame, and no warning of many questions at once", async () => {
    const folder = '/plugins/river'
    const own = keptLog()
    const stop = logWarnings({ plugins: () => [{ name: 'river', folder }], log: own.log })
    const warning = Object.assign(new Error('11 abort listeners added'), { name: 'MaxListenersExceededWarning' })
    warning.stack = `${warning.name}: ${warning.message}\n    at add (node:events:1:1)\n    at quote (file://${folder}/amm.ts:12:3)`
    try {
      const { signal } = new AbortController()
      await Promise.all(Array.from({ length: 20 }, () => callPlugin({ plugin: 'river', log: own.log }, 'AMM.quote', async () => 1, signal)))
      process.emitWarning(warning)
      await setImmediate()
      await setImmediate()
    } finally {
      stop()
    }

    expect(own.lines).to.deep.equal([
      {
        level: 'warn',
        fields: { warning: 'MaxListenersExceededWarning', plugin: 'river', at: 'amm.ts:12' },
        message: '11 abort listeners added',
      },
    ])
  })
})
