import { chmod, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { expect } from 'chai'
import { readLockContent, writeLock, type LockedPlugin } from '../../core/config/lock.ts'
import { forget } from '../../core/plugins/consent/allow.ts'
import { loadSettings } from '../../core/config/settings.ts'
import { saveKey } from '../../core/keys/keystore.ts'
import { createSealKeys, newSealing, seal, sealKey, sinceOf, timeOfRecord } from '../../core/wallet/lock-seal.ts'
import { earlierMs, keptOwnPolicy, readOwnPolicy, takeUpLock, invalidRecords, type OwnPolicy } from '../../core/wallet/own-policy.ts'
import { eachWithHome } from '../config/home.ts'
import { book } from './example-files.ts'
import { router, stranger, wrapper } from './example-policy.ts'

const passphrase = 'correct horse'
describe('the seals of sluice.lock', () => {
  const home = eachWithHome()
  const dataDir = () => path.join(home.folder, 'data')
  const lockFile = () => path.join(home.folder, 'sluice.lock')
  const sealing = newSealing(1024)

  beforeEach(() => saveKey({ dataDir: dataDir(), chain: 'ethereum', privateKey: `0x${'a1b2c3d4'.repeat(8)}`, passphrase, scryptN: 1024 }))

  async function allow(record: LockedPlugin, by = passphrase): Promise<string> {
    const before = readLockContent(home.confDir).plugins['book']
    const key = await sealKey(by, sealing)
    const since = sinceOf(dataDir(), 'book', before, key)
    const dated = { ...record, allowedAt: timeOfRecord(dataDir(), 'book', before), ...(since !== undefined && { since }) }
    await writeLock(home.confDir, { book: seal(key, 'book', dated) }, sealing)
    return readFile(lockFile(), 'utf8')
  }

  const settings = () => ({ confDir: home.confDir, data: { dir: dataDir() }, wallet: { keySources: [{ kind: 'keystore' }] } })

  /** What a start of the server would have signed. */
  async function start(given: string | undefined = passphrase) {
    const files = { confDir: home.confDir, plugins: ['ethereum', 'book'], allowedSpenders: [], environment: {}, tries: false }
    const { policy, problems } = await readOwnPolicy({
      files,
      dataDir: dataDir(),
      keySources: [{ kind: 'keystore' }],
      sealKeys: given === undefined ? undefined : createSealKeys(given),
    })
    const [local] = policy.networks.filter(({ network }) => network === 'local')
    return { contracts: local?.contracts ?? [], problems }
  }

  async function expectRefused(why: RegExp): Promise<void> {
    const { contracts, problems } = await start()
    expect(contracts).to.deep.equal([])
    expect(problems).to.have.length(1)
    expect(problems[0]?.problem).to.match(why)
    expect(problems[0]?.remedy).to.match(/plugin trust book/)
    expect(await invalidRecords(settings(), passphrase)).to.deep.equal(problems)
  }

  it('let the signer sign for what the operator allowed', async () => {
    await allow(book)
    const { contracts, problems } = await start()
    expect(problems).to.deep.equal([])
    expect(contracts).to.include(router)
    expect(await invalidRecords(settings(), undefined)).to.deep.equal([])
  })

  it('break when an address, the hash or the time changes', async () => {
    const text = await allow(book)
    const changes: readonly [string, string][] = [
      [router, stranger],
      ['ab'.repeat(32), 'ac'.repeat(32)],
      [/allowedAt: (\S+)/.exec(text)?.[1] ?? '', '2030-01-01T00:00:00.000Z'],
      ['tier: trusted', 'tier: contained'],
    ]
    for (const [from, to] of changes) {
      expect(text).to.include(from)
      await writeFile(lockFile(), text.replaceAll(from, to))
      const { contracts, problems } = await start()
      expect(contracts, from).to.deep.equal([])
      expect(problems[0]?.problem).to.match(/was changed since it was allowed/)
    }
    await writeFile(lockFile(), text)
    expect((await start()).contracts).to.include(router)
  })

  it('cause a refusal when one was taken out, and in locks of older versions', async () => {
    const text = await allow(book)
    await writeFile(lockFile(), text.replace(/ +seal: \w+\n/, ''))
    await expectRefused(/no seal/)
    const { allowedAt: _, ...old } = book
    await writeLock(home.confDir, { book: old })
    await expectRefused(/no seal/)
  })

  it('do not hold for another plugin, another passphrase or another lock', async () => {
    const text = await allow(book)
    await writeFile(lockFile(), text.replace('  book:', '  other:'))
    expect((await invalidRecords(settings(), passphrase)).map(({ name }) => name)).to.deep.equal(['other'])
    await allow(book, 'another passphrase')
    await expectRefused(/another passphrase/)
    await writeFile(lockFile(), (await allow(book)).replace(/salt: \w+/, `salt: ${'ab'.repeat(32)}`))
    await expectRefused(/was changed/)
  })

  it('do not let an older record take the place of a newer one, or one that was removed come back', async () => {
    const old = await allow(book)
    const now = await allow({ ...book, networks: { 'ethereum/local': { contracts: { router: stranger }, spenders: [] } } })
    expect((await start()).contracts).to.deep.equal([stranger])
    await writeFile(lockFile(), old)
    await expectRefused(/older than one that was in force/)
    await writeFile(lockFile(), now)
    expect((await start()).problems).to.deep.equal([])
    await forget('book', loadSettings({ confDir: home.confDir, env: {} }))
    await writeFile(lockFile(), now)
    await expectRefused(/older than one that was in force/)
    await allow(book)
    expect((await start()).contracts).to.include(router)
  })

  it('notice by themselves that a record is gone, on a server that shares the lock', async () => {
    const now = await allow(book)
    await start()
    await writeLock(home.confDir, {})
    await start()
    await writeFile(lockFile(), now)
    await expectRefused(/older than one that was in force/)
  })

  describe('in a lock that changes while the server runs', () => {
    const contained: LockedPlugin = { ...book, tier: 'contained', signs: [], deposits: [] }
    const files = { confDir: home.confDir, plugins: ['ethereum', 'book'], allowedSpenders: [], environment: {}, tries: false }
    const options = (more: object = {}) => ({
      files: { ...files, confDir: home.confDir, ...more },
      dataDir: dataDir(),
      keySources: [{ kind: 'keystore' }],
      sealKeys: createSealKeys(passphrase),
    })
    const atAddress = (address: string): LockedPlugin => ({
      ...contained,
      networks: { 'ethereum/local': { contracts: { router: address }, spenders: [] } },
    })
    const contractsOf = ({ policy }: OwnPolicy) => policy.networks.find(({ network }) => network === 'local')?.contracts ?? []
    const problemsOf = ({ problems }: OwnPolicy) => problems.map(({ problem }) => problem)

    it('get a new check: what holds is taken up, what does not leaves in force what there was', async () => {
      await writeLock(home.confDir, {})
      const start = await readOwnPolicy({ ...options(), files: { ...options().files, plugins: ['ethereum'] } })
      expect(contractsOf(start)).to.deep.equal([])
      await allow(atAddress(router))
      const added = await takeUpLock(options(), start.state)
      expect(contractsOf(added)).to.deep.equal([router])
      expect(added.problems).to.deep.equal([])

      const sealed = await readFile(lockFile(), 'utf8')
      for (const broken of [sealed.replaceAll(router, stranger), sealed.replace(/ +seal: \w+\n/, '')]) {
        await writeFile(lockFile(), broken)
        const kept = await takeUpLock(options(), added.state)
        expect(contractsOf(kept)).to.deep.equal([router])
        expect(problemsOf(kept)).to.have.length(1)
      }
      await writeFile(lockFile(), 'plugins: [')
      const unread = await takeUpLock(options(), added.state)
      expect(contractsOf(unread)).to.deep.equal([router])
      expect(problemsOf(unread)[0]).to.match(/cannot be read/)

      await rm(lockFile())
      const absent = await takeUpLock(options(), unread.state)
      expect([contractsOf(absent), problemsOf(absent)]).to.deep.equal([[router], problemsOf(unread)])

      await writeFile(lockFile(), sealed)
      expect(contractsOf(await takeUpLock(options(), absent.state))).to.deep.equal([router])
      await allow(atAddress(stranger))
      const updated = await takeUpLock(options(), unread.state)
      expect(contractsOf(updated)).to.deep.equal([stranger])
      await writeFile(lockFile(), sealed)
      const older = await takeUpLock(options(), updated.state)
      expect([contractsOf(older), problemsOf(older)[0]]).to.deep.equal([[stranger], 'its record is older than one that was in force here'])
      await writeLock(home.confDir, {})
      expect(contractsOf(await takeUpLock(options(), older.state))).to.deep.equal([])
    })

    it('let no older or removed record come back, also where the data folder forgot what was seen', async () => {
      const forgetSeen = () => rm(path.join(dataDir(), 'lock-seen.json'))
      const old = await allow(atAddress(router))
      const start = await readOwnPolicy(options())
      await allow(atAddress(stranger))
      const updated = await takeUpLock(options(), start.state)
      await writeFile(lockFile(), old)
      await forgetSeen()
      const older = await takeUpLock(options(), updated.state)
      expect([contractsOf(older), problemsOf(older)[0]]).to.deep.equal([[stranger], 'its record is older than one that was in force here'])

      await writeLock(home.confDir, {})
      const removed = await takeUpLock(options(), older.state)
      expect(contractsOf(removed)).to.deep.equal([])
      await forgetSeen()
      await writeFile(lockFile(), old)
      // As a signer that is started again has it.
      const { state } = keptOwnPolicy(options().files, JSON.parse(JSON.stringify(removed.state)))
      expect(contractsOf(await takeUpLock(options(), state))).to.deep.equal([])
      await allow(atAddress(router))
      expect(contractsOf(await takeUpLock(options(), state))).to.deep.equal([router])
    })

    describe('and replaces one', () => {
      const first = atAddress(router)
      const second = { ...atAddress(stranger), sha256: 'cd'.repeat(32) }
      const earlierOf = ({ earlier }: OwnPolicy) =>
        earlier.map(({ sha256, untilMs, policy }) => [
          sha256,
          untilMs,
          policy.networks.find(({ network }) => network === 'local')?.contracts,
        ])

      async function started(): Promise<OwnPolicy> {
        await allow(first)
        return readOwnPolicy(options())
      }

      it('keep what the earlier version may touch beside the new one, for that version and for its time', async () => {
        const { state } = await started()
        await allow(second)
        const updated = await takeUpLock(options(), state, 1000)
        expect(contractsOf(updated)).to.deep.equal([stranger])
        const kept = [[first.sha256, 1000 + earlierMs, [router]]]
        expect(earlierOf(updated)).to.deep.equal(kept)
        expect(earlierOf(keptOwnPolicy(options().files, JSON.parse(JSON.stringify(updated.state))))).to.deep.equal(kept)

        const third = { ...atAddress(wrapper), sha256: 'ef'.repeat(32) }
        await allow(third)
        const again = await takeUpLock(options(), updated.state, 2000)
        expect(earlierOf(again)).to.deep.equal([...kept, [second.sha256, 2000 + earlierMs, [stranger]]])
        expect(earlierOf(await takeUpLock(options(), again.state, 1000 + earlierMs)).map(([sha256]) => sha256)).to.deep.equal([
          second.sha256,
        ])
        expect(earlierOf(await takeUpLock(options(), again.state, 2000 + earlierMs))).to.deep.equal([])
      })

      it('keep nothing of what was taken out, whoever puts it back before the next is allowed and whenever it is looked at', async () => {
        const { state } = await started()
        const text = await readFile(lockFile(), 'utf8')
        const settings = loadSettings({ confDir: home.confDir, env: {} })
        await forget('book', settings)
        await allow(second)
        const replaced = await takeUpLock(options(), state)
        expect([contractsOf(replaced), earlierOf(replaced)]).to.deep.equal([[stranger], []])

        await forget('book', settings)
        await writeFile(lockFile(), text)
        await allow(second)
        expect(earlierOf(await takeUpLock(options(), state))).to.deep.equal([])
      })

      it('keep nothing that was kept once the plugin is taken out', async () => {
        const { state } = await started()
        await allow(second)
        const updated = await takeUpLock(options(), state)
        await writeLock(home.confDir, {})
        const removed = await takeUpLock(options(), updated.state)
        expect([contractsOf(removed), earlierOf(removed)]).to.deep.equal([[], []])
      })

      it('keep nothing that a record before says without the seal of it, and nothing of the same files', async () => {
        const { state } = await started()
        const text = await readFile(lockFile(), 'utf8')
        await writeFile(lockFile(), text.replaceAll(router, wrapper))
        await allow(second)
        expect(earlierOf(await takeUpLock(options(), state))).to.deep.equal([])
        await writeFile(lockFile(), text)
        await allow({ ...second, sha256: first.sha256 })
        const same = await takeUpLock(options(), state)
        expect([contractsOf(same), earlierOf(same)]).to.deep.equal([[stranger], []])
      })
    })

    it('get no check where the lock asks for more work than Sluice ever does', async () => {
      const text = await allow(atAddress(router))
      const start = await readOwnPolicy(options())
      await writeFile(lockFile(), text.replace('n: 1024', `n: ${2 ** 20}`))
      const costly = await takeUpLock(options(), start.state)
      expect(contractsOf(costly)).to.deep.equal([router])
      expect(problemsOf(costly)[0]).to.match(/asks for more work/)
    })

    it('do not count as removed where the lock cannot be read or is away at the start', async () => {
      const text = await allow(book)
      expect((await start()).contracts).to.include(router)
      for (const broken of ['plugins: [', undefined]) {
        if (broken === undefined) await rm(lockFile())
        else await writeFile(lockFile(), broken)
        const unread = await readOwnPolicy(options())
        expect(contractsOf(unread)).to.deep.equal([])
        await takeUpLock(options(), unread.state)
        await writeFile(lockFile(), text)
        expect((await start()).problems).to.deep.equal([])
      }
    })

    it('take up nothing of what is trusted, of what is disabled, and of what the start left out', async () => {
      await allow(atAddress(router))
      const left = await readOwnPolicy({ ...options(), files: { ...options().files, plugins: ['ethereum'] } })
      expect(contractsOf(await takeUpLock(options(), left.state))).to.deep.equal([])
      await allow(atAddress(stranger))
      expect(contractsOf(await takeUpLock(options({ disabled: ['book'] }), left.state))).to.deep.equal([])
      expect(contractsOf(await takeUpLock(options(), left.state))).to.deep.equal([stranger])

      await allow(book)
      expect(contractsOf(await takeUpLock(options(), { ...left.state, left: {} })), 'trusted, and new').to.deep.equal([])
      const trusted = await readOwnPolicy(options())
      expect(contractsOf(trusted)).to.include(router)
      await allow({ ...book, networks: atAddress(stranger).networks })
      expect(contractsOf(await takeUpLock(options(), trusted.state))).to.deep.equal(contractsOf(trusted))
      await writeLock(home.confDir, {})
      expect(contractsOf(await takeUpLock(options(), trusted.state))).to.deep.equal(contractsOf(trusted))
    })

    it('take up connectors that are data alone, and no chain', async () => {
      await writeLock(home.confDir, {})
      const named = { ...options(), files: { ...options().files, plugins: ['ethereum'] } }
      const start = await readOwnPolicy(named)
      await allow({ ...atAddress(router), tier: 'data' })
      const added = await takeUpLock(options(), start.state)
      expect(contractsOf(added)).to.deep.equal([router])
      await writeLock(home.confDir, {})
      expect(contractsOf(await takeUpLock(options(), added.state))).to.deep.equal([])

      const mainnet = { contracts: {}, spenders: [], chainId: 146, feeCapRaw: '1000' }
      await allow({ ...contained, tier: 'data', kind: 'chain', keys: 'secp256k1', networks: { 'tonic/mainnet': mainnet } })
      const chainsOf = ({ policy }: OwnPolicy) => policy.networks.map(({ chain }) => chain)
      expect(chainsOf(await takeUpLock(options(), start.state))).not.to.include('tonic')
      const withChain = await readOwnPolicy(options())
      expect(chainsOf(withChain)).to.include('tonic')
      await writeLock(home.confDir, {})
      expect(chainsOf(await takeUpLock(options(), withChain.state))).to.include('tonic')
    })

    it('take conf as it was at the start, also of a plugin that came later', async () => {
      await writeLock(home.confDir, {})
      const start = await readOwnPolicy({ ...options(), files: { ...options().files, plugins: ['ethereum'] } })
      await home.write('conf/connectors/book.yml', `contractAddresses: { ethereum_local: { router: "${stranger}" } }\n`)
      await home.write('conf/chains/ethereum.yml', 'local: { feeCap: 70 }\n')
      await allow(atAddress(router))
      const added = await takeUpLock(options(), start.state)
      expect(contractsOf(added)).to.deep.equal([router])
      const feeCaps = ({ policy }: OwnPolicy) => policy.networks.map(({ feeCapRaw }) => feeCapRaw)
      expect(feeCaps(added)).to.deep.equal(feeCaps(start))
      expect(keptOwnPolicy(options().files, JSON.parse(JSON.stringify(added.state))).policy).to.deep.equal(added.policy)
      expect(() => keptOwnPolicy(options().files, added.policy)).to.throw('restart the server')
    })
  })

  it('derive their key once for a lock that keeps its salt', async () => {
    const keys = createSealKeys(passphrase)
    const key = await keys(sealing)
    expect(await keys({ ...sealing })).to.equal(key)
    expect(await keys(newSealing(1024))).not.to.deep.equal(key)
    expect(await keys({ ...sealing, n: 2 ** 20 })).to.equal(undefined)
  })

  it('may be missing where no key can be opened', async () => {
    await writeLock(home.confDir, { book })
    const files = { confDir: home.confDir, plugins: ['ethereum', 'book'], allowedSpenders: [], environment: {}, tries: false }
    const { problems } = await readOwnPolicy({
      files,
      dataDir: path.join(home.folder, 'empty'),
      keySources: [{ kind: 'keystore' }],
      sealKeys: undefined,
    })
    expect(problems).to.deep.equal([])
  })

  it('must be there where a passphrase opens keys, also when their folder is away for a moment', async () => {
    await writeLock(home.confDir, { book })
    await rename(path.join(dataDir(), 'keystore'), path.join(dataDir(), 'hidden'))
    const { contracts, problems } = await start()
    expect([contracts, problems[0]?.problem]).to.deep.equal([[], "its record has no seal of the keystore's passphrase"])
  })

  it('must be there where the file is read-only but the user its owner', async () => {
    await writeLock(home.confDir, { book })
    await chmod(lockFile(), 0o444)
    await mkdir(dataDir(), { recursive: true })
    await expectRefused(/no seal/)
  })
})
