import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { expect } from 'chai'
import { pause } from '../../core/base/async.ts'
import { whyNotContained } from '../../core/plugins/isolate/backend.ts'
import { createClient } from '../../testkit/client.ts'
import { saveKey } from '../../core/keys/keystore.ts'
import { commandsInOneProcess, makeHome, sluiceWith, twoPlugins, type RunningCommand } from '../start/command.ts'

const router = '0x24aea0F351852FaeCDcE735E04cd16a80207cfA4'
const anotherRouter = '0x9999999999999999999999999999999999999999'
/** Of Uniswap's router. */
const swapRouter = '0x68b3465833fb72A70ecDF485E0e4C7bD8665Fc45'
/** Of Uniswap's position manager. */
const positions = '0xC36442b4a4522E871399CD717aBDD847Ab11FE88'

/** Where deposits from Base would go. */
const stranger = '0x5555555555555555555555555555555555555555'

/** A connector that writes down each process that runs it, and how much of its environment it saw. */
const teller = (marks: string) => `import { appendFileSync } from 'node:fs'
import { evm } from 'sluice/evm'
import { defineConnector } from 'sluice/plugin'

try {
  appendFileSync(${JSON.stringify(marks)}, process.pid + ' ' + Object.keys(process.env).filter((name) => name.startsWith('SLUICE_')) + '\\n')
} catch {
  // It is contained.
}

export default defineConnector({
  family: evm,
  manifest: {
    name: 'teller', apiVersion: '1.0', version: '1.0.0', trading_type: ['AMM'], schema: {
      type: 'object', required: ['apiKey', 'account'],
      properties: { ttl: { type: 'integer' }, apiKey: { type: 'string', pattern: '^k-[0-9]+$' }, account: { type: 'integer' } },
    },
    available_networks: [{ chain: 'ethereum', networks: ['mainnet'] }],
  },
  create: ({ contracts }) => ({ AMM: { quote() {}, swap() {}, fill() {} }, spenders: { router: contracts.routerAddress } }),
})
`
/** Code that answers in the place of the process which reads a plugin before it is allowed, by the descriptor of that process' channel. */
const answering = (declared: object) => `
import { writeSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'
if (isMainThread && process.argv.some((each) => each.includes('examine'))) {
  writeSync(3, ${JSON.stringify(JSON.stringify({ is: 'examined', what: declared }))})
  process.exit(0)
}
`

/** Complete only with the operator's file. */
const defaults = `allowedSlippage: 1/100
url: wss://stream.teller.example/v1
contractAddresses:
  mainnet: { routerAddress: '${anotherRouter}', "fake\\r\\e[2K\\nIt reaches nothing": '${swapRouter}' }
bridges:
  mainnet: { base: { network: mainnet, token: '${router}', recipient: '${stranger}' } }
`
const conf = `ttl: 300
apiKey: k-1234
account: \${TELLER_ACCOUNT}
contractAddresses:
  mainnet: { routerAddress: '${router}' }
`

/** No secret of the server reaches a plugin that is examined. */
const account = { TELLER_ACCOUNT: '77' }

describe("the operator's word on a plugin", function () {
  this.timeout(300_000)
  let home: string
  let remove: () => Promise<void>
  let marks: string
  const servers: RunningCommand[] = []
  before(async () => {
    ;({ home, remove } = await makeHome({
      devnet: { enabled: false },
      // This is not about hosts: where the system has no namespaces, it runs as well.
      plugins: { folders: [...twoPlugins, 'third'], weakContainment: true },
    }))
    marks = path.join(home, 'marks')
    await mkdir(path.join(home, 'third', 'teller'), { recursive: true })
    await writeFile(path.join(home, 'third', 'teller', 'index.ts'), teller(marks))
    await writeFile(path.join(home, 'third', 'teller', 'defaults.yml'), defaults)
    await mkdir(path.join(home, 'conf', 'connectors'), { recursive: true })
    await writeFile(path.join(home, 'conf', 'connectors', 'teller.yml'), conf)
    await writeFile(path.join(home, 'passphrase'), 'correct horse battery\n', { mode: 0o600 })
  })
  afterEach(async () => {
    for (const { child, ended } of servers.splice(0)) {
      child.kill('SIGKILL')
      await ended
    }
  })
  after(() => remove())

  const type = commandsInOneProcess()
  const say = (...args: string[]) => type(account, home, ...args)

  /** What a server that starts now says of the plugin. */
  async function started(): Promise<{ printed: string; plugin: Record<string, unknown> }> {
    const server = sluiceWith(account, home, 'start')
    servers.push(server)
    const [, url = ''] = await server.until(/is ready at .*?(https:\/\/localhost:\d+)/)
    await server.until(/Ctrl-C stops the server/)
    const client = createClient(url, path.join(home, 'certs'))
    const entry = async () => (await client.get('/plugins')).body.find(({ name }: { name: string }) => name === 'teller')
    let plugin = await entry()
    // Its host starts when all else is ready.
    while (plugin.state === 'pending') {
      await pause(100)
      plugin = await entry()
    }
    client.close()
    server.child.kill('SIGTERM')
    await server.ended
    return { printed: server.printed(), plugin }
  }

  it('comes before any of its code runs, in a start, in doctor and in every other command', async () => {
    const { printed, plugin } = await started()
    expect(plugin).to.include({ state: 'refused' })
    expect(plugin['reason'])
      .to.match(/^consent: It was not allowed to run/)
      .and.contain('plugin allow teller')
    expect(printed)
      .to.match(/✗ teller .*plugin allow teller/)
      .and.match(/"step":"consent"/)
    expect((await say('doctor')).said).to.match(/✗ plugins +teller is refused \(consent\): .+\n +→ .+plugin allow teller/)
    expect((await say('plugin', 'list')).said).to.match(
      /^teller .* refused .*\n {2}consent: (.|\n {2})+\n {2}→ (.|\n {2})+plugin allow teller$/m,
    )
    expect((await say('plugin', 'show', 'teller')).said).to.contain('It was not allowed: it does not run.')
    expect((await say('plugin', 'show', 'uniswap')).said)
      .to.match(/^uniswap \S+, a connector, built in: this release allows it$/m)
      .and.match(/^On ethereum\/mainnet, where wallets may be made to call$/m)
      .and.match(/^ {2}0x\w{40} {2}\w+, and approve tokens to it$/m)
    expect((await say('plugin', 'show', 'ethereum')).said).to.match(/^On ethereum\/mainnet, chain id 1\.$/m)
    await say('wallet', 'add', '--new', '--chain', 'teller')
    await say('devnet', '--help')
    expect(existsSync(marks), 'none of its code ran').to.equal(false)
  })

  it('shows what it may do and what it learns, and needs a yes', async () => {
    const asked = await say('plugin', 'allow', 'teller')
    expect(asked.code).to.equal(1)
    expect(asked.said).to.contain('There is no terminal to ask at')
    expect(existsSync(path.join(home, 'sluice.lock'))).to.equal(false)

    const { child, ended, printed } = sluiceWith(account, home, 'plugin', 'allow', 'teller', '--yes')
    const { code } = await ended
    const [said, { pid }] = [printed(), child]
    expect(code, said).to.equal(0)
    for (const line of [
      /^teller 1\.0\.0, a connector, allowed$/m,
      /^On ethereum\/mainnet, where wallets may be made to call\n {2}0x24ae\w+ {2}routerAddress, and approve tokens to it$/m,
      /^ {2}0x68b\w+ {2}"fake\uFFFD\uFFFD\[2K\uFFFDIt reaches nothing" \(of uniswap too: it reaches what your wallets have there\)$/m,
      /^It has no typed data signed\.$/m,
      /^It may ask these hosts on the web: stream\.teller\.example$/m,
      /^It learns the orders that are sent to it, and may tell them to these hosts\.$/m,
    ])
      expect(said).to.match(line)
    const lock = await readFile(path.join(home, 'sluice.lock'), 'utf8')
    expect(lock)
      .to.match(/^ {2}teller:\n {4}version: 1\.0\.0\n {4}sha256: \w{64}\n {4}tier: contained$/m)
      .and.contain(router)
      .and.not.contain(stranger)
    expect(said).to.not.contain(stranger)
    // Where the system can contain it, it wrote no file; and anywhere it was another process, with nothing of the command's environment.
    expect(existsSync(marks)).to.equal((await whyNotContained({ plugins: { weakContainment: true }, data: { dir: home } })) !== undefined)
    const ran = existsSync(marks) ? (await readFile(marks, 'utf8')).trimEnd().split('\n') : []
    for (const line of ran) expect(line).to.match(/^\d+ ?$/)
    expect(ran.map(Number)).not.to.include(pid)
    expect((await say('plugin', 'verify')).said).to.contain('teller has the files that were allowed.')
  })

  it('shows the plugin no secret of conf before it is allowed, and no package above its folder', async () => {
    const above = path.join(home, 'node_modules', 'private')
    await mkdir(above, { recursive: true })
    await writeFile(path.join(above, 'index.js'), `module.exports = 'hidden-4711'`)
    const folder = path.join(home, 'third', 'curious')
    await mkdir(folder)
    const code = teller(marks)
      .replace("name: 'teller'", "name: 'curious'")
      .replace(/create: .+/, 'create: ({ config }) => { throw new Error(JSON.stringify(config) + Object.values(found)) },')
    await writeFile(path.join(folder, 'index.ts'), `const found = await import('private').catch(String)\n${code}`)
    await writeFile(path.join(folder, 'defaults.yml'), defaults)
    await writeFile(
      path.join(home, 'conf', 'connectors', 'curious.yml'),
      `${conf}node: https://node.example/v3/\${TELLER_ACCOUNT}8d3a91b2c4\n`,
    )
    const { said } = await say('plugin', 'allow', 'curious', '--yes')
    expect(said.replace(/^SHA-256 .*$/m, ''), said)
      .to.contain(`'routerAddress':'${router}'`)
      .and.contain('https://node.example/v3/***')
      .and.not.contain('k-1234')
      .and.not.contain('77')
      .and.not.contain('hidden-4711')
    await rm(above, { recursive: true })
    await rm(folder, { recursive: true })
  })

  it('believes nothing of where it runs that a plugin answers in the place of the process that reads it', async () => {
    const folder = path.join(home, 'third', 'forger')
    await mkdir(folder)
    const networks = { 'ethereum/mainnet': { contracts: { routerAddress: router }, spenders: [router] } }
    const declared = { version: '1.0.0', kind: 'connector', networks, signs: [], deposits: [], tier: 'trusted' }
    await writeFile(path.join(folder, 'index.ts'), teller(marks).replaceAll('teller', 'forger') + answering(declared))
    await writeFile(
      path.join(folder, 'defaults.yml'),
      `allowedSlippage: 1/100\nttl: 300\napiKey: k-1\naccount: 77\ncontractAddresses: { mainnet: { routerAddress: '${router}' } }\n`,
    )
    try {
      const { code: ended, said } = await say('plugin', 'allow', 'forger', '--yes')
      expect(ended, said).to.equal(1)
      expect(said).to.match(/tier is not something that a plugin of the kind connector declares/)
      const lock = path.join(home, 'sluice.lock')
      expect(existsSync(lock) && (await readFile(lock, 'utf8')).includes('forger')).to.equal(false)
    } finally {
      await rm(folder, { recursive: true })
    }
  })

  it('refuses a plugin that is of another kind at a start than it said before it was allowed', async () => {
    const folder = path.join(home, 'third', 'shifter')
    await mkdir(folder)
    const template = await readFile(path.join(import.meta.dirname, '..', '..', 'templates', 'pair-prices', 'index.ts'), 'utf8')
    const asInterface = template.replace("name: 'pair-prices'", "name: 'shifter'").replace('export default', 'const other =')
    const asConnector = teller(marks)
      .replaceAll('teller', 'shifter')
      .replace('export default', 'const first =')
      .replace(/schema: \{[\s\S]*?\},\n {4}\},/, "schema: { type: 'object' },")
    const reads = 'process.argv.some((each) => /examine|trial-thread/.test(each))'
    await writeFile(path.join(folder, 'index.ts'), `${asInterface}\n${asConnector}\nexport default ${reads} ? first : other\n`)
    await writeFile(
      path.join(folder, 'defaults.yml'),
      `allowedSlippage: 1/100\nttl: 300\nchain: ethereum\nnetwork: mainnet\ncontractAddresses: { mainnet: { routerAddress: '${router}' } }\n`,
    )
    try {
      const { code, said } = await say('plugin', 'allow', 'shifter', '--yes')
      expect(code, said).to.equal(0)
      expect(said).to.match(/^shifter 1\.0\.0, a connector, allowed$/m)
      const list = await say('plugin', 'list')
      expect(list.said.replaceAll(/\s+/g, ' ')).to.match(/shifter .*refused .*consent: It was allowed as a connector, and is an interface/)
    } finally {
      await say('plugin', 'remove', 'shifter', '--yes')
      await rm(folder, { recursive: true })
    }
  })

  it('shows what a package says of itself as its word, and nothing of it as a command to the terminal', async () => {
    const [escape, override] = ['\u001b', '\u202e']
    const lie = `1.0 (signed by Sluice)${escape}[2K\r${override}`
    const package_ = { name: 'liar', version: lie, description: `safe${escape}[8m`, author: `Sluice${override}`, type: 'module' }
    const folder = path.join(home, 'elsewhere', 'liar')
    await mkdir(folder, { recursive: true })
    const code = teller(marks)
      .replace(/schema: \{[\s\S]*?\},\n {4}\},/, "schema: { type: 'object' },")
      .replace("name: 'teller'", "name: 'liar'")
    await writeFile(path.join(folder, 'index.ts'), code.replace("version: '1.0.0'", `version: ${JSON.stringify(lie)}`))
    await writeFile(path.join(folder, 'defaults.yml'), defaults.replace('allowedSlippage: 1/100', 'allowedSlippage: 1/100\nttl: 300'))
    await writeFile(path.join(folder, 'package.json'), JSON.stringify(package_))
    const all = [await say('plugin', 'add', folder)]
    await mkdir(path.join(home, 'third', 'liar'))
    for (const file of ['index.ts', 'defaults.yml', 'package.json'])
      await writeFile(path.join(home, 'third', 'liar', file), await readFile(path.join(folder, file)))
    try {
      all.push(await say('plugin', 'allow', 'liar'), await say('plugin', 'show', 'liar'), await say('plugin', 'list'))
      // Without a yes, nothing is recorded.
      for (const { said } of all) {
        expect(said).to.contain('liar')
        // oxlint-disable-next-line no-control-regex -- it is about control characters
        expect(said).not.to.match(/[\u202e\r]|\u001b\[(?:2K|8m)/)
        // What it says of who signed it stands in quotes, wherever it stands.
        for (const [line] of said.matchAll(/^.*signed by Sluice.*$/gm)) expect(line).to.match(/"[^"]*signed by Sluice[^"]*"/)
      }
      expect(all[0]?.said).to.match(
        /^liar, by its own word of the version "1\.0 \(signed by Sluice\)\uFFFD\[2K\uFFFD\uFFFD", a connector, allowed$/m,
      )
    } finally {
      await rm(path.join(home, 'third', 'liar'), { recursive: true })
    }
  })

  for (const [where, givenAs] of [
    ["a package's name", 'tarball'],
    ["a folder's name", 'folder'],
  ] as const)
    it(`shows ${where} in quotes and without its commands to the terminal, where it is none of a plugin`, async () => {
      const lie = '\u001b[2K\rok" is added. Now send \u202e'
      const parts = path.join(home, 'named')
      const folder = path.join(parts, givenAs === 'folder' ? lie : 'package')
      await mkdir(folder, { recursive: true })
      await writeFile(path.join(folder, 'index.ts'), teller(marks))
      await writeFile(path.join(folder, 'package.json'), JSON.stringify({ name: lie, version: '1.0.0', type: 'module' }))
      const tarball = path.join(parts, 'liar-1.0.0.tgz')
      if (givenAs === 'tarball') execFileSync('tar', ['czf', tarball, '-C', parts, 'package'])
      try {
        const { code, said } = await say('plugin', 'add', givenAs === 'folder' ? folder : tarball, '--yes')
        expect(code, said).to.equal(1)
        expect(said).to.contain(`"\uFFFD[2K\uFFFDok' is added. Now send \uFFFD" is not a valid name of a plugin`)
        // oxlint-disable-next-line no-control-regex -- it is about control characters
        expect(said).not.to.match(/[\u202e\r]|\u001b/)
      } finally {
        await rm(parts, { recursive: true })
      }
    })

  it('allows an interface, and trusts it, and a server that starts then listens for it', async () => {
    const fixture = path.join(import.meta.dirname, '..', '..', 'templates', 'pair-prices')
    await cp(fixture, path.join(home, 'third', 'pair-prices'), { recursive: true })
    await mkdir(path.join(home, 'conf', 'interfaces'), { recursive: true })
    await writeFile(path.join(home, 'conf', 'interfaces', 'pair-prices.yml'), 'port: 0\n')
    const allowed = await say('plugin', 'allow', 'pair-prices', '--yes')
    expect(allowed.code, allowed.said).to.equal(0)
    expect(allowed.said)
      .to.contain('pair-prices 0.1.0, an interface, allowed')
      .and.contain('with the rights of that caller:\n  GET /price/:pair: AMMPrice\n  POST /wrap: EVMWrap\n')
      .and.contain('Its paths sign what their callers sent, once for each endpoint.')
      .and.contain('takes it up when it is restarted: listeners are opened when it starts')
      .and.not.contain('\uFFFD')

    const trusted = await say('plugin', 'trust', 'pair-prices', '--yes', '--trusted')
    expect(trusted.code, trusted.said).to.equal(0)
    expect(trusted.said)
      .to.match(/^Its tier changes: it was contained, in a process of its own\. From now on it is trusted, in the server itself\.$/m)
      .and.match(/^A trusted plugin runs in the server: it reads what the server reads, the keystore among it/m)
    expect(trusted.said)
      .to.contain('pair-prices 0.1.0, an interface, trusted')
      .and.contain('POST /wrap: EVMWrap')
      .and.not.contain('\nIts paths sign')
    const { printed } = await started()
    expect(printed).to.match(/pair-prices +interface +.*https:\/\/localhost:\d+/)
    await say('plugin', 'remove', 'pair-prices', '--yes')
    await rm(path.join(home, 'third', 'pair-prices'), { recursive: true, force: true })
  })

  it('does not allow what cannot be contained, and names the command that trusts it', async () => {
    const folder = path.join(home, 'third', 'vault')
    await mkdir(folder)
    const signs = "name: 'vault', signs: [{ domain: 'Vault', primaryType: 'Order' }]"
    await writeFile(path.join(folder, 'index.ts'), teller(path.join(home, 'of-vault')).replace("name: 'teller'", signs))
    await writeFile(
      path.join(folder, 'defaults.yml'),
      `${defaults}${conf.slice(0, conf.indexOf('contract'))}`.replace('${TELLER_ACCOUNT}', '77'),
    )
    const allowed = await say('plugin', 'allow', 'vault', '--yes')
    expect(allowed.code).to.equal(1)
    expect(allowed.said).to.match(/It cannot be contained.*signed actions.+\nIf you trust it: .*bin\/sluice plugin trust vault$/m)
    expect(await readFile(path.join(home, 'sluice.lock'), 'utf8')).to.not.contain('vault')
    const answered = await say('plugin', 'trust', 'vault', '--yes')
    expect(answered.code).to.equal(1)
    expect(answered.said).to.match(/nothing was changed\. .*say --yes and --trusted: --yes alone trusts nothing\.$/m)
    expect(await readFile(path.join(home, 'sluice.lock'), 'utf8')).to.not.contain('vault')
    const trusted = await say('plugin', 'trust', 'vault', '--yes', '--trusted')
    expect(trusted.code, trusted.said).to.equal(0)
    expect(trusted.said).to.match(
      /A running server takes it up when it is restarted: code that runs in the server cannot be changed while it runs\.$/m,
    )
    expect(trusted.said).to.match(/^It may have typed data signed:\n {2}Order of Vault$/m)
    expect(trusted.said).to.match(
      /^It may have deposits sent to these addresses, .*:\n {2}0x5555\w+ {2}of the token 0x24ae\w+ on base\/mainnet$/m,
    )
    expect((await say('plugin', 'remove', 'vault')).code).to.equal(0)
    await rm(folder, { recursive: true })
  })

  it('does not allow it to have wallets call a contract in which they have positions by another connector', async () => {
    const folder = path.join(home, 'third', 'taker')
    await mkdir(folder)
    await writeFile(path.join(folder, 'index.ts'), teller(path.join(home, 'of-taker')).replace("name: 'teller'", "name: 'taker'"))
    await writeFile(
      path.join(folder, 'defaults.yml'),
      `${defaults}${conf.slice(0, conf.indexOf('contract'))}`.replace('${TELLER_ACCOUNT}', '77').replace(swapRouter, positions),
    )
    const allowed = await say('plugin', 'allow', 'taker', '--yes')
    expect(allowed.code).to.equal(1)
    expect(allowed.said).to.match(
      /ethereum\/mainnet is 0xC36442\w+, in which wallets have what they hold by the built-in connector 'uniswap'/,
    )
    expect(allowed.said).to.match(/^The plugin taker says: "Trade there by 'uniswap'\. If you trust it: .*sluice plugin trust taker"$/m)
    const lock = path.join(home, 'sluice.lock')
    expect(existsSync(lock) && (await readFile(lock, 'utf8')).includes('taker')).to.equal(false)
    expect((await say('plugin', 'trust', 'taker', '--yes', '--trusted')).code).to.equal(0)
    expect((await say('plugin', 'remove', 'taker')).code).to.equal(0)
    await rm(folder, { recursive: true })
  })

  it('lets a server load exactly what was allowed, and says so', async () => {
    const { printed, plugin } = await started()
    expect(plugin, printed).to.include({ state: 'loaded', tier: 'contained', allowedBy: 'operator' })
    const [, sha256] = /sha256: (\w{64})/.exec(await readFile(path.join(home, 'sluice.lock'), 'utf8')) ?? []
    expect(plugin['sha256']).to.equal(sha256)
    expect((await say('doctor')).said).to.contain(`teller loads. It is allowed with SHA-256 ${sha256}`)
  })

  it('has to come again when a file has changed, and shows which', async () => {
    await writeFile(path.join(home, 'third', 'teller', 'defaults.yml'), defaults.replace('stream', 'thief'))
    await rm(marks, { force: true })
    expect((await started()).plugin['reason']).to.match(/^consent: Its files are not those that were allowed/)
    const verified = await say('plugin', 'verify', 'teller')
    expect(verified.code).to.equal(1)
    expect(verified.said).to.contain('error: teller: its folder holds other files')
    expect(existsSync(marks), 'none of its code ran').to.equal(false)

    const { code, said } = await say('plugin', 'allow', 'teller', '--yes')
    expect(code, said).to.equal(0)
    for (const line of [
      /^ {2}changed {2}defaults\.yml$/m,
      /^\+ It may ask these hosts on the web: thief\.teller\.example$/m,
      /^- It may ask these hosts on the web: stream\.teller\.example$/m,
    ])
      expect(said).to.match(line)
    expect((await say('plugin', 'allow', 'teller')).said).to.contain('teller is allowed already')
  })

  it('has to come again when conf has other contracts, and says what the signer does until then', async () => {
    const file = path.join(home, 'conf', 'connectors', 'teller.yml')
    await writeFile(file, conf.replace(router, anotherRouter))
    expect((await say('plugin', 'show', 'teller')).said).to.match(
      /Your conf has other contracts than were allowed\. .+goes by those in conf.+plugin allow teller again/,
    )
    const { code, said } = await say('plugin', 'allow', 'teller', '--yes')
    expect(code, said).to.equal(0)
    expect(said)
      .to.match(new RegExp(`^\\+ {3}${anotherRouter} {2}routerAddress`, 'm'))
      .and.match(new RegExp(`^- {3}${router} {2}routerAddress`, 'm'))
    expect((await say('plugin', 'allow', 'teller')).said).to.contain('teller is allowed already')
    await writeFile(file, conf)
  })

  it('can be taken back', async () => {
    expect((await say('plugin', 'remove', 'teller')).said).to.contain('teller is not allowed any more')
    expect((await say('plugin', 'remove', 'teller')).code).to.equal(1)
    expect((await say('plugin', 'list')).said).to.match(/^teller .* refused /m)
  })

  it('has its explanation in --help of each command', async () => {
    for (const name of ['list', 'show', 'add', 'update', 'allow', 'verify', 'trust', 'remove']) {
      const { code, said } = await say('plugin', name, '--help')
      expect(code, name).to.equal(0)
      expect(said)
        .to.match(new RegExp(`^Usage: bin/sluice plugin ${name}`))
        .and.match(name === 'list' ? /^Options:$/m : /^Arguments:\n(?: {2}.*\n)+\nOptions:$/m)
        .and.match(new RegExp(`^For example:\n {2}\\S*sluice plugin ${name}`, 'm'))
    }
  })

  it('takes the same words for data alone: none of it runs, here or later, and there is nothing to trust', async () => {
    const folder = path.join(home, 'third', 'rill')
    await mkdir(folder)
    await writeFile(
      path.join(folder, 'defaults.yml'),
      `allowedSlippage: 1/100\nttl: 300\ncontractAddresses:\n  mainnet: { routerAddress: '${router}' }\n`,
    )
    const factory = `factory: '${positions}', initCodeHash: '0x${'ab'.repeat(32)}'`
    await writeFile(
      path.join(folder, 'plugin.yml'),
      `kind: fork\nkit: uniswap-v2\nname: rill\napiVersion: '1.0'\nversion: 0.1.0\nfee: 3/1000\nnetworks:\n  ethereum/mainnet: { ${factory} }\n`,
    )
    expect((await say('plugin', 'trust', 'rill', '--yes')).said).to.match(
      /rill is data alone: there is no code to trust.+plugin allow rill/,
    )
    const { code, said } = await say('plugin', 'allow', 'rill', '--yes')
    expect(code, said).to.equal(0)
    expect(said).to.not.include('Its code is run once now')
    for (const line of [
      /^rill 0\.1\.0, a connector, allowed: it is data alone, without code$/m,
      /^On ethereum\/mainnet, where wallets may be made to call\n {2}0x24ae\w+ {2}routerAddress, and approve tokens to it$/m,
      /^It has no typed data signed\.$/m,
      /^It reaches no host on the web, and learns no orders\.$/m,
      /^It is data alone: nothing of it is run\. A kit of this release reads it\./m,
    ])
      expect(said).to.match(line)
    expect((await say('plugin', 'list')).said).to.match(/^rill +connector +data /m)
    expect((await say('doctor')).said).to.match(/^! plugins +rill: plugin\.yml is deprecated: .+ plugin show rill prints/m)
    expect((await say('plugin', 'show', 'rill')).said).to.match(/plugin\.yml is deprecated.+\n--- index\.ts\nimport \{ sharesConnector \}/)
    expect((await say('plugin', 'verify', 'rill')).said).to.contain('rill has the files that were allowed.')
    expect((await say('plugin', 'remove', 'rill')).code).to.equal(0)
    await rm(folder, { recursive: true })
  })

  describe('where the keystore has keys', () => {
    const passphrase = 'correct horse battery'
    const lock = () => path.join(home, 'sluice.lock')
    const sayWith = (file: string, ...args: string[]) =>
      type({ ...account, SLUICE_WALLET_PASSPHRASE_FILE: path.join(home, file) }, home, ...args)
    before(async () => {
      await writeFile(path.join(home, 'wrong'), 'wrong horse battery\n', { mode: 0o600 })
      await saveKey({
        dataDir: path.join(home, 'data'),
        chain: 'ethereum',
        privateKey: `0x${'a1b2c3d4'.repeat(8)}`,
        passphrase,
        scryptN: 1024,
      })
    })

    it('takes its seal from the passphrase, and from no other', async () => {
      expect((await say('plugin', 'allow', 'teller', '--yes')).said).to.contain('passphrase')
      expect((await sayWith('wrong', 'plugin', 'allow', 'teller', '--yes')).said).to.contain('passphrase does not open')
      expect(existsSync(lock()) && (await readFile(lock(), 'utf8')).includes('seal')).to.equal(false)
      const { code, said } = await sayWith('passphrase', 'plugin', 'allow', 'teller', '--yes')
      expect(code, said).to.equal(0)
      expect(await readFile(lock(), 'utf8')).to.match(/ {4}seal: \w{64}$/m)
      expect((await sayWith('passphrase', 'plugin', 'verify')).said).to.contain('The seals hold.')
      expect((await sayWith('passphrase', 'plugin', 'allow', 'teller')).said).to.contain('is allowed already')
      expect((await say('plugin', 'verify')).said).to.contain('The seals were not checked')
    })

    it('has to come again where the seal is missing or broken: verify, doctor and the log say so', async () => {
      const sealed = await readFile(lock(), 'utf8')
      await writeFile(lock(), sealed.replace(router, '0x1111111111111111111111111111111111111111'))
      const verified = await sayWith('passphrase', 'plugin', 'verify')
      expect(verified.code).to.equal(1)
      expect(verified.said).to.match(/teller: the signer does not sign for it: its record was changed.+plugin allow teller/)
      expect((await sayWith('passphrase', 'doctor')).said).to.match(
        /✗ plugins +The signer does not sign for teller: .+\n +→ .+plugin allow teller/,
      )
      await writeFile(lock(), sealed.replace(/ +seal: \w+\n/, ''))
      expect((await say('doctor')).said).to.match(/✗ plugins +The signer does not sign for teller: its record has no seal/)
      const again = await sayWith('passphrase', 'plugin', 'allow', 'teller', '--yes')
      expect(again.said).to.contain('The signer does not sign for teller: its record has no seal')
      expect(again.code).to.equal(0)
      expect((await sayWith('passphrase', 'plugin', 'verify')).code).to.equal(0)
    })

    it('takes its seal from a passphrase of the seals, where one is named, without that of the keystore', async () => {
      const sealed = await readFile(lock(), 'utf8')
      await writeFile(path.join(home, 'seals'), 'the seals have their own\n', { mode: 0o600 })
      const sayBy = (...args: string[]) => type({ ...account, SLUICE_SEAL_PASSPHRASE_FILE: path.join(home, 'seals') }, home, ...args)
      expect((await sayBy('plugin', 'verify')).said).to.match(/teller: the signer does not sign for it: .+ another passphrase/)
      expect((await sayBy('doctor')).said).to.match(/The signer does not sign for teller: .+ another passphrase/)
      const { code, said } = await sayBy('plugin', 'allow', 'teller', '--yes')
      expect(code, said).to.equal(0)
      expect((await sayBy('plugin', 'verify')).said).to.contain('The seals hold.')
      expect((await sayWith('passphrase', 'plugin', 'verify')).said).to.match(/another passphrase/)
      await writeFile(path.join(home, 'seals'), 'short\n')
      expect((await sayBy('plugin', 'verify')).said).to.match(/SLUICE_SEAL_PASSPHRASE_FILE names .+, which has fewer than 8 characters/)
      await writeFile(lock(), sealed)
    })

    it('ends at a removal, which names the requests that revoke its allowances, where no server runs', async () => {
      const { code, said } = await say('plugin', 'remove', 'teller')
      expect(code, said).to.equal(0)
      expect(said).to.match(/could not be read: .+\nWhat was approved stays on the chain/)
      expect(said).to.match(new RegExp(`POST /evm/approve .+"network":"mainnet".+"spender":"${router}".+"amount":"0"`))
      expect(said).to.contain('wallet.allowedSpenders')
      expect(said).to.contain('teller is not allowed any more')
    })

    it('moves on at an update, which names the requests that revoke what spenders may take that it has no more', async () => {
      const made = path.join(home, 'made', 'drip')
      await mkdir(made, { recursive: true })
      const code = teller(marks).replaceAll('teller', 'drip').replace("required: ['apiKey', 'account'],", '')
      await writeFile(path.join(made, 'index.ts'), code)
      await writeFile(
        path.join(made, 'defaults.yml'),
        `allowedSlippage: 1/100\nttl: 300\ncontractAddresses:\n  mainnet: { routerAddress: '${router}' }\n`,
      )
      const added = await sayWith('passphrase', 'plugin', 'add', made, '--yes')
      expect(added.code, added.said).to.equal(0)
      await writeFile(
        path.join(made, 'defaults.yml'),
        `allowedSlippage: 1/100\nttl: 300\ncontractAddresses:\n  mainnet: { routerAddress: '${anotherRouter}' }\n`,
      )
      const updated = await sayWith('passphrase', 'plugin', 'update', 'drip', made, '--yes')
      expect(updated.code, updated.said).to.equal(0)
      expect(updated.said).to.match(
        new RegExp(`Spenders that it has no more:(.|\\n)+POST /evm/approve .+"spender":"${router}".+"amount":"0"`),
      )
      expect(updated.said).to.contain('wallet.allowedSpenders').and.contain('drip 1.0.0 is updated')
      expect(updated.said).not.to.contain(`"spender":"${anotherRouter}"`)
    })
  })
})
