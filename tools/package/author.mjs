// A folder of plugins outside of any checkout, as an author has it: types in the editor, and the contract tests by mocha.
import { expect } from 'chai'
import { copyFileSync, cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { kinds } from '../../test/docs/kinds.ts'
import { authorsFolder, environment, guide, install, nodeFrom, nodes, newPlugin, removePlace, root, run, runBeside } from './outside.mjs'

after(removePlace)

describe('the author of a plugin', () => {
  let cwd
  before(() => {
    cwd = authorsFolder()
    copyFileSync(path.join(cwd, 'ferryswap', 'tsconfig.json'), path.join(cwd, 'tsconfig.json'))
    startContracts()
  })
  // They wait for blocks more than they work: this machine's Node runs them beside the other tests, and others one after another.
  // The guide runs those of riverswap.
  const names = [...kinds.map(({ name }) => name), ...(process.env.PACKAGE_TEST_ALL ? ['riverswap'] : [])]
  const contracts = new Map()
  function startContracts() {
    // The test of docs/authors/testing-a-plugin.md besides.
    const files = [...names.map((each) => `${each}/contract.test.ts`), 'ferryswap/own.test.ts']
    // Of the long decks of perpetuals and order books their first cards: all of them take minutes.
    const some = process.env.PACKAGE_TEST_ALL ? [] : ['--grep', '^(?!.* (BOOK|PERP)-[1-9]\\d )']
    const args = ['mocha', '--import=tsx', '--parallel', '--jobs', '2', '--exit', ...some, ...files]
    for (const { name, version } of nodes) {
      const start = () => runBeside('npx', args, { cwd, env: environment(version && nodeFrom(version)) })
      const running = version === undefined ? start() : undefined
      contracts.set(name, () => running ?? start())
    }
  }
  /** By one checker: each of several checks what they share. */
  const tsc = (version, ...args) => {
    // TypeScript 5 is that of the checkout: it compiles what is installed here all the same.
    const [compiler, flags] =
      version === 5
        ? [path.join(root, 'node_modules', 'typescript-5'), []]
        : [path.join(cwd, 'node_modules', 'typescript'), ['--singleThreaded']]
    return run(process.execPath, [path.join(compiler, 'bin', 'tsc'), '--strict', ...flags, ...args], { cwd })
  }

  // The types of another family of chains need that family's library.
  const { exports } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'))
  const all = Object.keys(exports).filter((name) => !['./package.json', './solana'].includes(name))
  const some = all.filter((name) => !['./api', './client'].includes(name))
  const every = (file, entryPoints, use) =>
    writeFileSync(
      path.join(cwd, file),
      entryPoints.map((name, index) => `import * as entry${index} from 'sluice${name.slice(1)}'\n${use(index)}\n`).join(''),
    )
  const examples = ['client.mjs', 'market-maker.mjs']
  const errorsOf = (printed) => printed.match(/^\S.*error TS\d+.*$/gm) ?? []

  // TypeScript 5 takes the better part of a minute.
  for (const version of process.env.PACKAGE_TEST_ALL ? [5, 7] : [7]) {
    describe(`with TypeScript ${version}, declarations checked`, () => {
      let errors
      before(() => {
        every('every.ts', all, (index) => `export const keys${index}: string[] = Object.keys(entry${index})`)
        every('wrong.ts', some, (index) => `export const keys${index}: typeof entry${index} = 1`)
        newPlugin(cwd, 'my-amm', { kind: 'amm' })
        replaceIn(path.join(cwd, 'my-amm', 'index.ts'), "trading_type: ['AMM']", "trading_type: ['AMM', 'AMM_RANGE']")
        for (const file of examples) {
          cpSync(path.join(root, 'examples', file), path.join(cwd, 'examples', file))
          copyFileSync(path.join(cwd, 'examples', file), path.join(cwd, 'examples', `wrong-${file}`))
          replaceIn(path.join(cwd, 'examples', `wrong-${file}`), "('SELL')", "('SALE')")
        }
        // The examples are JavaScript that asks to be checked.
        const { code, printed } = tsc(version, '--skipLibCheck', 'false', '--allowJs')
        expect(code, printed).to.be.above(0)
        errors = errorsOf(printed)
        for (const made of ['every.ts', 'wrong.ts', 'my-amm', 'examples']) rmSync(path.join(cwd, made), { recursive: true })
      })

      it('compiles against every entry point', () => {
        expect(errors.filter((error) => !/^(wrong\.ts|my-amm\/|examples\/)/.test(error))).to.deep.equal([])
      })

      it('is told by the compiler of a wrong type at every entry point', () => {
        expect(errors.filter((error) => /^wrong\.ts.*error TS2322/.test(error))).to.have.length(some.length)
      })

      it('has examples of a client that compile strictly, and would not with a side that does not exist', () => {
        const ofExamples = errors.filter((error) => error.startsWith('examples/'))
        for (const file of examples) expect(ofExamples.join('\n')).to.match(new RegExp(`wrong-${file}.*error TS2345`))
        expect(ofExamples.filter((error) => !/wrong-.*error TS2345/.test(error))).to.deep.equal([])
      })

      it('is told by the compiler of a trading type that is declared and not implemented', () => {
        const ofPlugin = errors.filter((error) => error.startsWith('my-amm/'))
        expect(ofPlugin).to.have.length.above(0)
        expect(ofPlugin.join('\n')).to.include('my-amm/index.ts').and.include('AMM_RANGE')
      })
    })
  }

  it('is shown units and errors by the editor', () => {
    const ts = createRequire(path.join(root, 'package.json'))('typescript-5')
    const file = path.join(cwd, 'hover.ts')
    const text = `import { parseDecimal, toRaw } from 'sluice/decimal'\nimport type { Quote } from 'sluice/plugin'\nexport const raw = toRaw('1', 6)\nexport const parts = parseDecimal('1')\nexport const of = (quote: Quote) => quote.amountRaw\n`
    writeFileSync(file, text)
    const { options } = ts.parseJsonConfigFileContent(
      ts.readConfigFile(path.join(cwd, 'tsconfig.json'), ts.sys.readFile).config,
      ts.sys,
      cwd,
    )
    const service = ts.createLanguageService({
      ...ts.sys,
      useCaseSensitiveFileNames: () => ts.sys.useCaseSensitiveFileNames,
      getCompilationSettings: () => options,
      getScriptFileNames: () => [file],
      getScriptVersion: () => '1',
      getScriptSnapshot: (name) => (ts.sys.fileExists(name) ? ts.ScriptSnapshot.fromString(ts.sys.readFile(name)) : undefined),
      getCurrentDirectory: () => cwd,
      getDefaultLibFileName: ts.getDefaultLibFilePath,
    })
    const hover = (word) => {
      const info = service.getQuickInfoAtPosition(file, text.lastIndexOf(word))
      return [
        ...info.displayParts,
        ...info.documentation,
        ...(info.tags ?? []).flatMap((tag) => [{ text: ` @${tag.name} ` }, ...(tag.text ?? [])]),
      ]
        .map((part) => part.text)
        .join('')
    }
    expect(hover('toRaw')).to.include('Raw amount of a token; undefined if')
    expect(hover('parseDecimal')).to.include('@throws SyntaxError')
    expect(hover('amountRaw'))
      .to.match(/amountRaw: bigint/)
      .and.include('to the unit')
    // Decimals do not say by their names what they count.
    const program = service.getProgram()
    const [, plugin] = program.getSourceFile(file).statements
    const checker = program.getTypeChecker()
    const decimals = checker
      .getExportsOfModule(checker.getSymbolAtLocation(plugin.moduleSpecifier))
      .map((symbol) => (symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol))
      .flatMap(({ name, members }) => [...(members?.values() ?? [])].map((member) => ({ name: `${name}.${member.name}`, member })))
      .filter(({ member }) => member.valueDeclaration?.type?.getText() === 'Decimal')
    expect(decimals).to.have.length.above(50)
    const bare = decimals.filter(({ member }) => member.getDocumentationComment(checker).length === 0)
    expect(bare.map(({ name }) => name)).to.deep.equal([])
    writeFileSync(file, '')
  })

  it('compiles a new plugin in its own folder', () => {
    // Those of the other kinds were compiled above, together.
    expect(run('npm', ['run', '--silent', 'types'], { cwd: path.join(cwd, 'ferryswap') })).to.deep.equal({ code: 0, printed: '' })
  })

  describe('of a chain of the family of Solana', () => {
    const { peerDependencies } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'))
    before(() => install(cwd, ['--save-dev', `@solana/kit@${peerDependencies['@solana/kit']}`]))

    for (const version of process.env.PACKAGE_TEST_ALL ? [5, 7] : [7]) {
      it(`compiles against sluice/solana with that family's library and TypeScript ${version}, declarations checked`, () => {
        every(
          'every.ts',
          ['./solana'],
          (index) =>
            `export const keys${index}: string[] = Object.keys(entry${index})\nexport const wrong: number = entry${index}.solanaChainPlugin`,
        )
        // What is wrong, and nothing else.
        const { code, printed } = tsc(version, '--skipLibCheck', 'false')
        expect(code).to.be.above(0)
        expect(printed).to.match(/^every\.ts\(3,\d+\): error TS2322: Type '[^']*SolanaChainTables/)
        expect(printed.match(/error TS\d+/g)).to.have.length(1)
        rmSync(path.join(cwd, 'every.ts'))
      })
    }
  })

  // Last: they run beside what is above.
  describe('with mocha', () => {
    for (const { name } of nodes) {
      it(`runs the contract tests of a plugin of each kind, and of the guides, on ${name}`, async function () {
        this.timeout(600_000)
        const { code, printed } = await contracts.get(name)()
        expect(code, printed).to.equal(0)
        for (const plugin of names) expect(printed).to.match(new RegExp(`^ +(connector|chain|interface) ${plugin}$`, 'm'))
        expect(printed.match(/✔ (PLUGIN|CHAIN|IFC)-01/g)).to.have.length(names.length)
        expect(printed).to.match(/✔ AMM-06 the fill equals the quote/)
        for (const [, title] of guide('testing-a-plugin').matchAll(/^ {2}it\('([^']+)/gm)) expect(printed).to.include(`✔ ${title}`)
      })
    }

    it('is told by npm test of a plugin that is wrong', function () {
      this.timeout(600_000)
      newPlugin(cwd, 'my-pool', { kind: 'pool' })
      replaceIn(path.join(cwd, 'my-pool', 'pairs.ts'), '[3n, 1000n]', '[2n, 1000n]')
      const { code, printed } = run('npm', ['test', '--', '--grep', 'PLUGIN-01|AMM-0[1-6]'], {
        cwd: path.join(cwd, 'my-pool'),
        seconds: 500,
      })
      expect(code).to.be.above(0)
      expect(printed)
        .to.match(/\d+ failing/)
        .and.include('AMM-05')
    })
  })
})

function replaceIn(file, from, to) {
  const text = readFileSync(file, 'utf8')
  expect(text).to.include(from)
  writeFileSync(file, text.replace(from, to))
}
