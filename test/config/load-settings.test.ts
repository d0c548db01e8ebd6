import { expect } from 'chai'
import { chmod, mkdir, rm } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { describeSettings } from '../../core/config/settings-schema.ts'
import { loadSettings } from '../../core/config/settings.ts'
import { described, eachWithHome, problemsOf } from './home.ts'

describe('the settings', () => {
  const home = eachWithHome()
  const load = (env: Record<string, string> = {}, flags = {}) => loadSettings({ confDir: home.confDir, env, flags })

  it('hold their defaults with an empty conf folder', () => {
    const settings = load()
    expect(settings.server).to.deep.equal({ host: '127.0.0.1', port: 15888, requestTimeoutSeconds: 30, drainSeconds: 6 })
    expect(settings.market).to.deep.equal({
      staleBlocks: 2,
      staleBlockSeconds: 60,
      staleSeconds: 15,
      checkSeconds: 30,
      cachedQuotes: 10_000,
    })
    expect(settings.limits).to.deep.equal({
      bodyBytes: 100_000,
      clientBodyBytes: 8_000_000,
      allBodyBytes: 64_000_000,
      walletQueue: 256,
      inFlight: 1024,
      clientInFlight: 256,
      connectionInFlight: 16,
      clientConnections: 2048,
      clientStreams: 64,
      streams: 512,
      clientUnsentBytes: 32_000_000,
      handshakes: 2048,
      addressHandshakes: 256,
      pageSize: 500,
      maxPriceImpact: 5,
      marketMinutes: 20,
      marketDepth: 20_000,
      referenceTokens: ['USDC', 'USDT', 'DAI', 'USDG'],
      maxDailyLossPercent: 2,
      minDailyLoss: 20,
      maxFeePercent: 10,
      maxDailyGasPercent: 100,
      approvalMinutes: 15,
      waitingApprovals: 20,
      onLocalNetworks: false,
      pluginLoadSeconds: 10,
      pluginStallSeconds: 10,
    })
    // Sluice's own, wherever the configuration lies.
    expect(settings.plugins).to.deep.equal({
      folders: [fileURLToPath(new URL('../../plugins', import.meta.url))],
      disabled: [],
      weakContainment: false,
    })
    expect(settings.data.dir).to.equal(path.join(home.folder, 'data'))
    expect(settings.ssl.certsDir).to.equal(path.join(home.folder, 'certs'))
    expect([settings.store, settings.wallet, settings.devnet, settings.log]).to.deep.equal([
      {},
      { allowedSpenders: [], keySources: [{ kind: 'keystore' }] },
      { enabled: false, port: 8545 },
      { level: 'info' },
    ])
    expect(settings.books).to.deep.equal({ verifyDaily: true, rebasingTokens: [], coinAsWrapped: false, opening: [] })
    expect([settings.clients, settings.warnings]).to.deep.equal([[], []])
  })

  it('take a flag before the environment before the file before the default', async () => {
    await home.write('conf/server.yml', 'server: { host: 0.0.0.0, port: 1, requestTimeoutSeconds: 5 }\n')
    const { server } = load({ SLUICE_SERVER_PORT: '2', SLUICE_SERVER_REQUEST_TIMEOUT_SECONDS: '6' }, { 'server.port': '3' })
    expect(server).to.deep.equal({ host: '0.0.0.0', port: 3, requestTimeoutSeconds: 6, drainSeconds: 6 })
  })

  it('read lists, booleans and numbers from the environment', () => {
    const settings = load({
      SLUICE_PLUGINS_DISABLED: 'a, b',
      SLUICE_PLUGINS_FOLDERS: '["/x,y"]',
      SLUICE_DEVNET_ENABLED: 'true',
      SLUICE_SERVER_DRAIN_SECONDS: '0.5',
    })
    expect(settings.plugins).to.deep.equal({ disabled: ['a', 'b'], folders: ['/x,y'], weakContainment: false })
    expect(settings.devnet.enabled).to.equal(true)
    expect(settings.server.drainSeconds).to.equal(0.5)
  })

  it('have a working environment variable for every key', () => {
    const flags = {
      'devnet.enabled': 'true',
      'plugins.weakContainment': 'true',
      'limits.onLocalNetworks': 'true',
      'books.verifyDaily': 'false',
      'books.coinAsWrapped': 'true',
    }
    const opening = '2026-01-01 ethereum/mainnet 0x7099 2 WETH 6000 USDC'
    const values: Record<string, string> = {
      'books.opening': opening,
      'store.url': 'postgres://h/d',
      'wallet.keySources': 'devnet',
      ...flags,
      'log.level': 'debug',
    }
    for (const { name, environmentName } of describeSettings().filter(({ file }) => file !== 'none')) {
      const before = JSON.stringify(load())
      expect(JSON.stringify(load({ [environmentName]: values[name] ?? '77' })), environmentName).not.to.equal(before)
    }
    expect(describeSettings()).to.deep.include({
      name: 'ssl.certsDir',
      file: 'conf/ssl.yml',
      default: 'certs',
      environmentName: 'SLUICE_SSL_CERTS_DIR',
      description: 'text (Folder of the certificates and keys)',
    })
  })

  it('refuse an opening balance of a day that is none, with file and line', async () => {
    await home.write('conf/server.yml', 'books:\n  opening:\n    - 2026-02-31 ethereum/mainnet 0x7099 2 WETH 6000 USDC\n')
    expect(await described(() => load())).to.match(
      /conf\/server\.yml:3 {2}books\.opening\[0\]: has a date that is none\n.*a date, chain\/network/,
    )
  })

  it('read key sources by their kind alone or with their options, from the file and from the environment', async () => {
    await home.write('conf/server.yml', 'wallet:\n  keySources: [keystore, { kind: devnet, chain: solana }]\n')
    const both = [{ kind: 'keystore' }, { kind: 'devnet', chain: 'solana' }]
    expect(load().wallet.keySources).to.deep.equal(both)
    expect(load({ SLUICE_WALLET_KEY_SOURCES: 'devnet' }).wallet.keySources).to.deep.equal([{ kind: 'devnet' }])
    expect(load({ SLUICE_WALLET_KEY_SOURCES: '["keystore",{"kind":"devnet","chain":"solana"}]' }).wallet.keySources).to.deep.equal(both)
  })

  it('say in which file and line a key source is wrong, and what is right', async () => {
    await home.write('conf/server.yml', 'wallet:\n  keySources:\n    - devnet:solana\n    - { kind: devnet, chian: solana }\n')
    const text = await described(() => load())
    expect(text).to.match(
      /conf\/server\.yml:3 {2}wallet\.keySources\[0\]: has none of the possible forms\n.*"keystore", "devnet".*kind and its options/,
    )
    expect(text).to.match(/conf\/server\.yml:4 {2}wallet\.keySources\[1\]\.chian: is not a known key\n.*chain/)
  })

  it('treat an empty variable as not set', () => {
    expect(load({ SLUICE_SERVER_PORT: '', SLUICE_STORE_URL: '' }).server.port).to.equal(15888)
  })

  it('read a value from a file named by the variable with _FILE, without its last newline', async () => {
    const file = await home.write('url', 'postgres://u:p@h/d\n')
    const settings = load({ SLUICE_STORE_URL_FILE: file })
    expect(settings.store.url).to.equal('postgres://u:p@h/d')
    expect(settings.shown).to.have.nested.property('store.url', '***')
  })

  it('say what is wrong with a file named by the environment', async () => {
    await home.write('empty', '\n')
    const text = await described(() =>
      load({
        SLUICE_STORE_URL_FILE: 'none',
        SLUICE_SERVER_HOST_FILE: 'conf',
        SLUICE_DATA_DIR_FILE: 'empty',
        SLUICE_LOG_LEVEL: 'info',
        SLUICE_LOG_LEVEL_FILE: 'empty',
      }),
    )
    expect(text).to.contain('SLUICE_STORE_URL_FILE: names none, which does not exist')
    expect(text).to.contain('SLUICE_SERVER_HOST_FILE: names conf, which is a folder')
    expect(text).to.contain('SLUICE_DATA_DIR_FILE: names empty, which is empty')
    expect(text).to.contain('SLUICE_LOG_LEVEL: is set together with SLUICE_LOG_LEVEL_FILE')
  })

  it("substitute ${NAME} with the key's type, and keep $${ as text", async () => {
    await home.write('conf/server.yml', 'server:\n  port: ${PORT}\n  host: $${x}\nstore: { url: "postgres://u:${PW}@h/d" }\n')
    const settings = load({ PORT: '81', PW: 'hunter2' })
    expect(settings.server).to.include({ port: 81, host: '${x}' })
    expect(settings.store.url).to.equal('postgres://u:hunter2@h/d')
    expect(JSON.stringify(settings.shown)).not.to.contain('hunter2')
  })

  it('report a variable that is not set with file, line, path and remedy', async () => {
    await home.write('conf/server.yml', '# one\nserver:\n  host: ${HOST}\n  port: ${}\n')
    expect(await problemsOf(load)).to.deep.equal([
      {
        file: 'conf/server.yml',
        line: 3,
        path: 'server.host',
        problem: 'needs the environment variable HOST, which is not set',
        remedy: 'Set HOST before the start, or remove this value.',
      },
      {
        file: 'conf/server.yml',
        line: 4,
        path: 'server.port',
        problem: 'has ${}, which does not name a variable',
        remedy: 'Write ${NAME} with letters, digits and _, or $${ for the characters themselves.',
      },
    ])
  })

  it('do not need the variable of an overridden value', async () => {
    await home.write('conf/server.yml', 'server: { host: "${HOST}" }\n')
    expect(load({ SLUICE_SERVER_HOST: '::1' }).server.host).to.equal('::1')
  })

  it('report every problem of every file at once', async () => {
    await home.write('conf/server.yml', 'server:\n  prot: 1\n  port: "80"\nlimits: { inFlight: 0 }\ndevnet: { enabled: yes }\nssl: {}\n')
    await home.write('conf/ssl.yml', 'certsdir: x\n')
    await home.write('conf/clients.yml', 'clients: { a: { permissions: [write] } }\n')
    const problems = await problemsOf(() => load({ SLUICE_LOG_LEVEL: 'loud' }, { 'server.hots': 'x' }))
    expect(problems.map(({ file, line, path }) => `${file}:${line ?? ''} ${path}`)).to.have.members([
      'command line: server.hots',
      'conf/server.yml:2 server.prot',
      'conf/server.yml:3 server.port',
      'conf/server.yml:4 limits.inFlight',
      'conf/server.yml:5 devnet.enabled',
      'conf/server.yml:6 ssl',
      'environment: SLUICE_LOG_LEVEL',
      'conf/ssl.yml:1 certsdir',
      'conf/clients.yml:1 clients.a.permissions[0]',
    ])
    expect(problems.every(({ remedy }) => remedy.length > 5)).to.equal(true)
    expect(problems.find(({ path }) => path === 'server.prot')?.remedy).to.equal('Did you mean "port"?')
    expect(problems.find(({ path }) => path === 'server.hots')?.remedy).to.equal('Did you mean "server.host"?')
  })

  it('never show a value of the environment, in problems or otherwise', async () => {
    const text = await described(() => load({ SLUICE_SERVER_PORT: 'hunter2', SLUICE_STORE_URL: 'mysql://hunter2' }))
    expect(text).to.contain('SLUICE_SERVER_PORT').and.not.to.contain('hunter2')
    expect(load({ SLUICE_SERVER_HOST: 'hunter2', SLUICE_SERVER_PORT: '2' }).shown)
      .to.have.property('server')
      .that.includes({ host: '***', port: '***', drainSeconds: 6 })
  })

  it('take a passphrase from a file only', async () => {
    await home.write('conf/server.yml', 'wallet:\n  passphrase: hunter2\n')
    const text = await described(() => load({ SLUICE_WALLET_PASSPHRASE: 'hunter2' }))
    expect(text).to.match(/^conf\/server.yml:2 {2}wallet.passphrase: .*\n→ .*\nenvironment {2}SLUICE_WALLET_PASSPHRASE: .*\n→ .*$/)
    expect(text).to.contain('SLUICE_WALLET_PASSPHRASE_FILE').and.not.to.contain('hunter2')

    await rm(path.join(home.confDir, 'server.yml'))
    const file = await home.write('secret', 'hunter2\n')
    const settings = load({ SLUICE_WALLET_PASSPHRASE_FILE: 'secret' })
    expect(settings.wallet).to.deep.equal({ allowedSpenders: [], keySources: [{ kind: 'keystore' }], passphraseFile: file })
    expect(JSON.stringify(settings)).not.to.contain('hunter2')
    expect(await described(() => load({ SLUICE_WALLET_PASSPHRASE_FILE: 'none' }))).to.contain('does not exist')
  })

  it('warn of a variable that sets nothing, with the name that was probably meant', () => {
    const { warnings } = load({ SLUICE_SERVR_PORT: '1', SLUICE_WHATEVER_THIS_MAY_BE: 'x', OTHER: 'y' })
    expect(warnings).to.deep.equal([
      'The environment variable SLUICE_SERVR_PORT sets nothing. Did you mean SLUICE_SERVER_PORT?',
      'The environment variable SLUICE_WHATEVER_THIS_MAY_BE sets nothing.',
    ])
  })

  it('warn of files in the conf folder that are not read', async () => {
    await home.write('conf/server.yaml', '')
    await home.write('conf/chain/ethereum.yml', '')
    await home.write('conf/notes.txt', '')
    await home.write('conf/limits.yml', '')
    // A list that a network names is read.
    await home.write('conf/list.json', '{}')
    await home.write('conf/other.json', '{}')
    await home.write('conf/chains/ethereum.yml', 'mainnet: { tokenLists: [conf/list.json, { url: "https://x.example", sha256: "a" }] }\n')
    expect(load().warnings).to.deep.equal([
      `${home.confDir}/chain is not read. Did you mean chains?`,
      `${home.confDir}/other.json is not read.`,
      `${home.confDir}/server.yaml is not read. Did you mean server.yml?`,
    ])
  })

  it('refuse a named conf folder that does not exist', async () => {
    expect(await described(() => loadSettings({ confDir: path.join(home.folder, 'cnf'), env: {} })))
      .to.contain('--conf: names')
      .and.to.contain('does not exist')
    expect(await described(() => loadSettings({ env: { SLUICE_CONF: path.join(home.folder, 'cnf') } }))).to.contain('SLUICE_CONF: names')
  })

  it('find the conf folder by the environment', () => {
    expect(loadSettings({ env: { SLUICE_CONF: home.confDir } })).to.include({ confDir: home.confDir, home: home.folder })
  })

  it('say what is wrong with a file that cannot be read', async function () {
    await mkdir(path.join(home.confDir, 'ssl.yml'))
    await home.write('conf/clients.yml', Buffer.from([0xff, 0xfe, 0x41, 0x00]))
    const text = await described(load)
    expect(text).to.contain('conf/ssl.yml: is a folder, not a file').and.to.contain('conf/clients.yml: is not UTF-8 text')
    // Nothing is unreadable to root.
    if (process.getuid?.() === 0) return
    await chmod(await home.write('conf/server.yml', ''), 0)
    expect(await described(load)).to.contain('conf/server.yml: cannot be read: permission denied')
  })
})
