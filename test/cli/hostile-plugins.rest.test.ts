// The operator's commands, with the table of hostile plugins in the folder: they answer, whatever a plugin does.
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect } from 'chai'
import { fixtures } from '../core-plugins/fixtures.ts'
import { harmlessFixtures, plantFixture, refusedFixtures, refusedInHosts } from '../core-plugins/hostile-plugins.ts'
import { commandsInOneProcess, makeHome, sluiceWith, twoPlugins } from '../start/command.ts'

const all = { ...refusedFixtures, ...refusedInHosts, ...harmlessFixtures }
/** One for each way to end, to hang, or to be wrong, and what `plugin allow` says of it. */
const deadly = {
  'abort-at-import': /abort/,
  'event-malformed': /events: /,
  'exit-in-create': /ended the process in create\(\)/,
  'loop-at-import': /Loading was not done after 3 s of processor time/,
  'schema-backtracks': /by its schema was not done after 3 s of processor time/,
}

describe('with hostile plugins in the folder', function () {
  this.timeout(300_000)
  let home: string
  let remove: () => Promise<void>
  let marker: string
  before(async () => {
    ;({ home, remove } = await makeHome({
      devnet: { enabled: false },
      plugins: { folders: [...twoPlugins, 'third'] },
      limits: { pluginLoadSeconds: 3 },
    }))
    const third = path.join(home, 'third')
    for (const [name, fixture] of Object.entries(all)) plantFixture(third, name, fixture)
    cpSync(path.join(fixtures, 'contained', 'plain-swap'), path.join(third, 'plain-swap'), { recursive: true })
    marker = path.join(home, 'was-here')
    const mark = `touch ${marker}`
    const scripts = Object.fromEntries(['preinstall', 'install', 'postinstall', 'prepare', 'prepublish'].map((name) => [name, mark]))
    writeFileSync(path.join(third, 'plain-swap', 'package.json'), JSON.stringify({ type: 'module', scripts }))
    const chosen = path.join(home, 'chosen')
    mkdirSync(chosen)
    for (const name of [...Object.keys(deadly), 'plain-swap']) cpSync(path.join(third, name), path.join(chosen, name), { recursive: true })
  })
  after(() => remove())

  const type = commandsInOneProcess()
  const say = (variables: Readonly<Record<string, string>>, ...args: string[]) => type(variables, home, ...args)
  /** By a process of its own, which such a plugin may end. */
  async function testPlugin(name: string): Promise<{ code: number | null; said: string }> {
    const { ended, printed } = sluiceWith({}, home, 'plugin', 'test', path.join(home, 'tested', name))
    const { code } = await ended
    return { code, said: printed() }
  }
  /** What `plugin list` says of each: state and step, or the state alone. */
  async function list(variables: Readonly<Record<string, string>>): Promise<{ code: number | null; states: ReadonlyMap<string, string> }> {
    const { code, said } = await say(variables, 'plugin', 'list', '--json')
    const { plugins }: { plugins: { name: string; state: string; step?: string; reason?: string; remedy?: string }[] } = JSON.parse(said)
    for (const { state, reason, remedy } of plugins) if (state === 'refused') expect([reason, remedy]).to.not.include(undefined)
    return { code, states: new Map(plugins.map(({ name, state, step }) => [name, step === undefined ? state : `${state}: ${step}`])) }
  }
  /** Where a server only tries, and so runs what nobody has allowed. */
  const trying = () => ({
    SLUICE_DEVNET_ENABLED: 'true',
    SLUICE_PLUGINS_FOLDERS: [...twoPlugins, path.join(home, 'chosen')].join(),
  })

  it('`plugin list` names each with step, reason and remedy, and runs none that was not allowed', async () => {
    const { code, states } = await list({})
    expect(code).to.equal(1)
    for (const name of [...Object.keys(all), 'plain-swap']) expect(states.get(name), name).to.equal('refused: consent')
    expect(states.get('uniswap')).to.not.match(/refused/)
  })

  it('`doctor` goes on to what else it looks at', async () => {
    const { said } = await say({}, 'doctor')
    for (const name of Object.keys(all)) expect(said).to.include(`${name} is refused (consent)`)
    expect(said)
      .to.match(/✓ plugins +uniswap loads/)
      .and.match(/certificates/)
  })

  for (const [name, reason] of Object.entries(deadly))
    it(`\`plugin show\` reads and \`plugin allow\` refuses ${name}, with a remedy, and records nothing`, async () => {
      expect(await say({}, 'plugin', 'show', name)).to.deep.include({ code: 0 })
      const { code, said } = await say({}, 'plugin', 'allow', name, '--yes')
      expect(code, said).to.equal(1)
      expect(said)
        .to.match(reason)
        .and.match(/\n[A-Z].+\.\n$/)
      expect(existsSync(path.join(home, 'sluice.lock'))).to.equal(false)
    })

  for (const [name, atImport, reason] of [
    ['throws-at-import', `setInterval(() => {}, 1_000); throw new Error('no luck')`, /refused \(import\): .*no luck/],
    ['throws-in-create', '', /refused \(create\): events: /],
  ] as const)
    it(`\`plugin test\` ends where it refuses ${name}, with the reason`, async () => {
      const harm = atImport === '' ? (refusedFixtures['event-malformed'] ?? {}) : { atImport }
      plantFixture(path.join(home, 'tested'), name, { what: '', ...harm })
      const { code, said } = await testPlugin(name)
      expect(said).to.match(reason)
      expect(code).to.equal(1)
    })

  it('`plugin test` names the file of a plugin whose reason names none', async () => {
    const name = 'tojson-manifest'
    plantFixture(path.join(home, 'tested'), name, { what: '', manifest: `toJSON() { for (;;); },` })
    const { code, said } = await testPlugin(name)
    expect(code).to.equal(1)
    expect(said).to.include(`\nIts code begins in ${path.join(home, 'tested', name, 'index.ts')}.`)
  })

  it('`plugin test` advises no trust where a file of the plugin is a pipe', async () => {
    const name = 'piped-defaults'
    plantFixture(path.join(home, 'tested'), name, { what: '' })
    const defaults = path.join(home, 'tested', name, 'defaults.yml')
    rmSync(defaults, { force: true })
    execFileSync('mkfifo', [defaults])
    const { code, said } = await testPlugin(name)
    expect(code).to.equal(1)
    expect(said)
      .to.match(/defaults\.yml is neither a file nor a folder/)
      .and.not.match(/--trusted/)
  })

  it('`plugin list` tells those that are tried from those that load', async () => {
    const { code, states } = await list(trying())
    expect(code).to.equal(1)
    for (const name of Object.keys(deadly)) expect(states.get(name), name).to.match(/^refused: (import|manifest|create)$/)
    expect(states.get('plain-swap')).to.not.match(/refused/)
  })

  it('`plugin allow` and `plugin verify` work for the honest one, none of whose scripts for its installation is run', async () => {
    const allowed = await say({}, 'plugin', 'allow', 'plain-swap', '--yes')
    expect(allowed.code, allowed.said).to.equal(0)
    expect((await say({}, 'plugin', 'verify')).said).to.contain('plain-swap has the files that were allowed.')
    expect(existsSync(marker)).to.equal(false)
  })

  it('`plugin verify` names what has another hash in sluice.lock', async () => {
    const lock = path.join(home, 'sluice.lock')
    writeFileSync(lock, readFileSync(lock, 'utf8').replace(/sha256: \w{64}/, `sha256: ${'a'.repeat(64)}`))
    const { code, said } = await say({}, 'plugin', 'verify')
    expect(code).to.equal(1)
    expect(said).to.match(/plain-swap: its folder holds other files: SHA-256 \w{64}, allowed a{64}/)
    expect((await list({})).states.get('plain-swap')).to.equal('refused: consent')
  })
})
