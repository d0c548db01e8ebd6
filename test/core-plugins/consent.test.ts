import { expect } from 'chai'
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { readLock, writeLock } from '../../core/config/lock.ts'
import { loadSettings, type Settings } from '../../core/config/settings.ts'
import { allowedForCommand, allowedPlugins } from '../../core/plugins/consent/consent.ts'
import { builtInPlugins } from '../../core/base/layout.ts'
import type { FoundPlugin } from '../../core/plugins/discover/find.ts'
import { hostOptions } from '../../core/plugins/load.ts'
import { keptFolder, readPluginFiles } from '../../core/plugins/discover/plugin-files.ts'
import { newSealing, seal, sealKey } from '../../core/wallet/lock-seal.ts'
import { trustPlugins } from '../../testkit/server.ts'
import { eachWithHome } from '../config/home.ts'
import { goodPlugins, keptLog } from './fixtures.ts'

describe('who may run', () => {
  const home = eachWithHome()
  const inHome = (...parts: string[]) => path.join(home.folder, ...parts)
  const settingsOf = (flags: Record<string, boolean | readonly string[]> = {}): Settings =>
    loadSettings({ confDir: home.confDir, env: {}, flags: { 'plugins.folders': [inHome('plugins')], 'devnet.enabled': false, ...flags } })
  const plant = (...names: readonly string[]) => {
    for (const name of names) cpSync(path.join(goodPlugins, name), inHome('plugins', name), { recursive: true })
  }
  const trust = () => trustPlugins(settingsOf())
  const reasons = async (settings = settingsOf()) => {
    const { found, refused } = await allowedPlugins(settings)
    return { found: found.map(({ name }) => name), refused: refused.map(({ step, reason, remedy }) => `${step}: ${reason} → ${remedy}`) }
  }

  it('leaves out a third party that is not in sluice.lock, and names the command that allows it', async () => {
    plant('fixture-swap')
    expect(await reasons()).to.deep.equal({
      found: [],
      refused: [
        'consent: It was not allowed to run: sluice.lock does not have it → See what it may do, and allow it: bin/sluice plugin allow fixture-swap',
      ],
    })
  })

  it('includes a plugin of the release under its own name, whatever is listed before it', async () => {
    plant('fixture-chain')
    renameSync(inHome('plugins', 'fixture-chain'), inHome('plugins', 'ethereum'))
    const { found, refused } = await reasons(settingsOf({ 'plugins.folders': [inHome('plugins'), path.join(builtInPlugins, 'ethereum')] }))
    expect(found).to.deep.equal(['ethereum'])
    expect(refused).to.have.length(1)
    expect(refused[0]).to.match(/^find: There is a plugin 'ethereum' already, in .+plugins.ethereum; this one is in .+sluice-/)
  })

  it('includes who was allowed, from a copy of exactly the bytes that were allowed', async () => {
    plant('fixture-chain', 'fixture-swap')
    await trust()
    const { found, refused } = await allowedPlugins(settingsOf())
    expect(refused).to.deep.equal([])
    const { sha256 } = readPluginFiles(inHome('plugins', 'fixture-swap'))
    const swap = found.find(({ name }) => name === 'fixture-swap')
    expect(swap).to.include({ tier: 'trusted', allowedBy: 'operator', sha256, folder: keptFolder(inHome('data'), sha256, 'fixture-swap') })
    expect(readPluginFiles(swap?.folder ?? '').sha256).to.equal(sha256)
    expect(readFileSync(swap?.entry ?? '', 'utf8')).to.equal(readFileSync(inHome('plugins', 'fixture-swap', 'index.ts'), 'utf8'))
  })

  for (const [what, change] of [
    ['a file changed', (folder: string) => writeFileSync(path.join(folder, 'amm.ts'), 'export {}')],
    [
      'a file is new, also in a package',
      (folder: string) => {
        mkdirSync(path.join(folder, 'node_modules', 'three'), { recursive: true })
        writeFileSync(path.join(folder, 'node_modules', 'three', 'index.js'), '')
      },
    ],
    ['only its defaults changed', (folder: string) => writeFileSync(path.join(folder, 'defaults.yml'), 'ttl: 1\n')],
  ] as const)
    it(`leaves out a plugin of which ${what} since, and keeps the others`, async () => {
      plant('fixture-chain', 'fixture-swap')
      await trust()
      change(inHome('plugins', 'fixture-swap'))
      const { found, refused } = await reasons()
      expect(found).to.deep.equal(['fixture-chain'])
      expect(refused).to.have.length(1)
      expect(refused[0])
        .to.match(/^consent: Its files are not those that were allowed: their SHA-256 is \w{64}, that in sluice\.lock \w{64} → /)
        .and.to.contain('bin/sluice plugin allow fixture-swap')
    })

  it('says of one whose files changed what it was allowed as', async () => {
    plant('fixture-swap')
    await trust()
    const { 'fixture-swap': record } = readLock(home.confDir)
    if (!record) throw new Error('It was trusted.')
    await writeLock(home.confDir, { 'fixture-swap': { ...record, kind: 'interface' } })
    expect((await allowedPlugins(settingsOf())).found[0]).to.include({ lockedKind: 'interface' })
    writeFileSync(inHome('plugins', 'fixture-swap', 'defaults.yml'), 'ttl: 1\n')
    expect((await allowedPlugins(settingsOf())).refused[0]).to.include({ step: 'consent', kind: 'interface' })
  })

  it('runs no copy that somebody changed: it is made anew', async () => {
    plant('fixture-swap')
    await trust()
    const [first] = (await allowedPlugins(settingsOf())).found
    const file = path.join(first?.folder ?? '', 'late.ts')
    writeFileSync(file, 'evil()')
    const [again] = (await allowedPlugins(settingsOf())).found
    expect(again?.folder).to.equal(first?.folder)
    expect(existsSync(file)).to.equal(false)
  })

  describe('for a command that only looks', () => {
    const looked = async (passphrase: string | undefined) => {
      const { found, refused } = await allowedForCommand(settingsOf(), passphrase)
      return { found: found.map(({ name }) => name), refused: refused.map(({ step, reason }) => `${step}: ${reason}`) }
    }
    const [passphrase, aKey] = ['correct horse battery', 'data/keystore/ethereum/0x70997970C51812dc3A010C7d01b50e0d17dc79C8.json']
    const notRun = (why: string) => ({ found: [], refused: [`consent: It is trusted, and is not run here: ${why}`] })
    const noSeal = notRun("its record has no seal of the keystore's passphrase")

    it('runs a trusted plugin only by a record whose seal holds, where there are keys', async () => {
      plant('fixture-swap')
      await trust()
      expect((await looked(undefined)).found, 'there is no key').to.deep.equal(['fixture-swap'])
      await home.write(aKey, '{}')
      expect(await looked(undefined)).to.deep.equal(noSeal)
      expect(await looked(passphrase)).to.deep.equal(noSeal)
      const { 'fixture-swap': bare } = readLock(home.confDir)
      if (!bare) throw new Error('It was trusted.')
      const forged = { ...bare, allowedAt: '2026-01-01T00:00:00.000Z', seal: 'a'.repeat(64) }
      const sealing = newSealing(1024)
      await writeLock(home.confDir, { 'fixture-swap': forged }, sealing)
      expect(await looked(undefined)).to.deep.equal(notRun('the seal of its record was not checked'))
      expect((await looked(passphrase)).refused[0]).to.match(/is not run here: its record was changed since it was allowed/)
      const key = await sealKey(passphrase, sealing)
      await writeLock(home.confDir, { 'fixture-swap': seal(key, 'fixture-swap', forged) }, sealing)
      expect(await looked(passphrase)).to.deep.equal({ found: ['fixture-swap'], refused: [] })
    })
  })

  it('leaves out a chain that was only allowed: its code runs in the server', async () => {
    plant('fixture-chain')
    await trust()
    const lock = readLock(home.confDir)
    const { 'fixture-chain': chain } = lock
    if (!chain) throw new Error('It was trusted.')
    await writeLock(home.confDir, { 'fixture-chain': { ...chain, kind: 'chain', tier: 'contained' } })
    const { refused } = await reasons()
    expect(refused[0]).to.match(
      /^consent: It cannot be contained.*: a chain decides.* → If you trust it: bin\/sluice plugin trust fixture-chain$/,
    )
  })

  it('leaves out third parties where the lock cannot be read, and keeps every built-in plugin all the same', async () => {
    plant('fixture-swap')
    await home.write('sluice.lock', 'lockVersion: 1\nplugins:\n  fixture-swap: { sha256: short }\n')
    const { found, refused } = await allowedPlugins(settingsOf({ 'plugins.folders': ['plugins'] }))
    expect(found.map(({ name }) => name))
      .to.include.members(['ethereum', 'uniswap'])
      .and.not.include('fixture-swap')
    expect(refused.map(({ step, reason }) => `${step}: ${reason}`)).to.have.length(1)
    expect(refused[0]?.reason).to.match(/^sluice\.lock plugins\.fixture-swap/)
    expect(refused[0]?.remedy).to.match(/^Restore it/)
  })

  const oddities: readonly [string, (folder: string) => void, RegExp][] = [
    ['a link', (folder) => symlinkSync('/etc/passwd', path.join(folder, 'facts.txt')), /facts\.txt is a link/],
    ['a native addon', (folder) => writeFileSync(path.join(folder, 'fast.node'), ''), /fast\.node is a native addon/],
    ['a name that hides what it is', (folder) => writeFileSync(path.join(folder, 'a\nb.ts'), ''), /The name of "a\\nb\.ts"/],
    [
      'a file of more than 32 MiB',
      (folder) => {
        writeFileSync(path.join(folder, 'big.bin'), '')
        truncateSync(path.join(folder, 'big.bin'), 32 * 1024 ** 2 + 1)
      },
      /big\.bin, which has more than 32 MiB/,
    ],
  ]
  for (const [what, add, reason] of oddities)
    it(`leaves out a plugin with ${what}, and names the file and a remedy`, async () => {
      plant('fixture-swap')
      await trust()
      add(inHome('plugins', 'fixture-swap'))
      const { refused } = await reasons()
      expect(refused).to.have.length(1)
      expect(refused[0])
        .to.match(reason)
        .and.match(/^consent: .+ → .+\.$/s)
    })

  it('leaves out what is neither kept nor run: names that begin with a dot', async () => {
    plant('fixture-swap')
    const { sha256 } = readPluginFiles(inHome('plugins', 'fixture-swap'))
    await home.write('plugins/fixture-swap/.git/HEAD', 'ref: main')
    mkdirSync(inHome('plugins', 'fixture-swap', 'node_modules', '.bin'), { recursive: true })
    symlinkSync('/bin/sh', inHome('plugins', 'fixture-swap', 'node_modules', '.bin', 'sh'))
    expect(readPluginFiles(inHome('plugins', 'fixture-swap')).sha256).to.equal(sha256)
  })

  it('hashes as sha256sum does: of its lines for all files, sorted', async () => {
    await home.write('plugins/two/index.js', 'one\n')
    await home.write('plugins/two/b/a.txt', 'two\n')
    // find . -type f | LC_ALL=C sort | xargs sha256sum | sha256sum
    expect(readPluginFiles(inHome('plugins', 'two')).sha256).to.equal('e9d5d22d0a90ce2a009f533b880b582a1a6ae78d79c27fc33b59ec1867413126')
  })

  describe('where a server only tries', () => {
    const devnet = { 'devnet.enabled': true }

    it('a folder that is dropped in runs at once, and it is said that a real network asks', async () => {
      plant('fixture-swap')
      const { found, refused, tried } = await allowedPlugins(settingsOf(devnet))
      expect(refused).to.deep.equal([])
      expect(tried).to.deep.equal(['fixture-swap'])
      expect(found[0]).to.include({ tier: 'contained', allowedBy: 'nobody' })
    })

    for (const [what, file, content] of [
      ['a key in the keystore', 'data/keystore/ethereum/0x70997970C51812dc3A010C7d01b50e0d17dc79C8.json', '{}'],
      ['a network that conf sets up', 'conf/chains/ethereum.yml', 'mainnet: { rpcUrls: ["https://node.example"] }\n'],
    ] as const)
      it(`not with ${what}`, async () => {
        plant('fixture-swap')
        await home.write(file, content)
        expect((await reasons(settingsOf(devnet))).found).to.deep.equal([])
      })

    it('its own files give it no host of the web: only what the operator allowed or wrote does', async () => {
      plant('fixture-swap')
      await home.write('plugins/fixture-swap/defaults.yml', 'api: https://api.example.com\n')
      await home.write('conf/connectors/fixture-swap.yml', 'mirror: https://mirror.example.com/x\n')
      const settings = settingsOf(devnet)
      const [plugin] = (await allowedPlugins(settings)).found
      const { log } = keptLog()
      const hosts = (more: Partial<FoundPlugin>) =>
        plugin && hostOptions(settings, { ...log, child: () => log }).webOf({ ...plugin, ...more })
      expect(hosts({})).to.deep.equal({ named: [], configured: ['mirror.example.com'] })
      expect(hosts({ hosts: ['api.example.com'] })).to.deep.equal({ named: ['api.example.com'], configured: ['mirror.example.com'] })
    })

    it('also where conf names other networks only to switch them off', async () => {
      plant('fixture-swap')
      await home.write('conf/chains/ethereum.yml', 'local: { required: true }\nmainnet: { enabled: false }\nsepolia:\n')
      expect((await reasons(settingsOf(devnet))).found).to.deep.equal(['fixture-swap'])
    })
  })
})
