import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect } from 'chai'
import { createLiveClients, readClientsFile, type ClientsFile, type LiveClients } from '../../core/config/live-clients.ts'

const before = `clients:
  bot:
    permissions: [read, trade]
    wallets: all
    limits: { maxFee: "1", allowed: { tokens: [WETH] } }
  other: { permissions: [read] }
`

describe('conf/clients.yml while the server runs', () => {
  let confDir: string
  let file: string
  let live: LiveClients
  let said: { level: string; fields: Record<string, unknown>; message: string }[]
  let nowMs = 0
  let open: (wasWrong: boolean) => void
  beforeEach(async () => {
    confDir = await mkdtemp(path.join(tmpdir(), 'sluice-conf-'))
    file = path.join(confDir, 'clients.yml')
    await writeFile(file, before)
    said = []
    const say = (level: string) => (fields: object, message: string) => void said.push({ level, fields: { ...fields }, message })
    const read = () => readClientsFile(confDir, { NAME: 'treasurer' })
    open = (wasWrong) => {
      live = createLiveClients({
        confDir,
        first,
        wasWrong,
        read,
        log: { warn: say('warn'), error: say('error') },
        steadyMs: () => nowMs,
      })
      live.stop()
    }
    const first = read() as ClientsFile
    open(false)
    await settle()
  })
  afterEach(() => rm(confDir, { recursive: true }))

  async function settle(): Promise<void> {
    for (let looks = 0; looks < 2; looks += 1) await live.look()
  }
  const botOf = () => live.list.find(({ name }) => name === 'bot')

  it('holds once it has stayed the same for two looks, with a line for each key that changed', async () => {
    expect(said).to.deep.equal([])
    const changed: string[] = []
    live.onChange((changes) => void changed.push(...changes.map(({ client }) => client)))
    await writeFile(file, before.replace('"1"', '"0.5"').replace('[WETH]', '[WETH, USDC]').replace('[read] ', '[read, trade] '))
    await live.look()
    expect(botOf()?.limits?.maxFee).to.equal('1')
    await live.look()
    expect(botOf()?.limits?.maxFee).to.equal('0.5')
    expect(changed).to.deep.equal(['bot', 'bot', 'other'])
    expect(said.map(({ fields: { client, key, before: old, now } }) => [client, key, old, now])).to.deep.equal([
      ['bot', 'limits.maxFee', '1', '0.5'],
      ['bot', 'limits.allowed.tokens', ['WETH'], ['WETH', 'USDC']],
      ['other', 'permissions', ['read'], ['read', 'trade']],
    ])
    expect(said[0]?.fields).to.have.property('owner', process.getuid?.())
  })

  it('says of an entry that came or went what it had, and no secret', async () => {
    await writeFile(
      file,
      'clients:\n  bot: { permissions: [read], sendTo: { "${NAME}": ["https://user:hunter2@host/"] } }\nunlisted: { streams: 3 }\n',
    )
    await settle()
    const keys = said.map(({ fields: { client, key, now } }) => [client, key, now === undefined])
    expect(keys).to.deep.include.members([
      ['other', 'permissions', true],
      ['bot', 'limits.maxFee', true],
      ['unlisted', 'streams', false],
    ])
    expect(JSON.stringify(said)).not.to.contain('hunter2')
  })

  it('stays as it was where the file is wrong or gone, which is said at once and each minute, and holds when it is right again', async () => {
    for (const wrong of ['clients: [', before.replace('[read, trade]', '[read, trad]'), before.replace('maxFee', 'maxFees')]) {
      await writeFile(file, wrong)
      await settle()
      expect(said.pop()).to.deep.include({ level: 'error' })
      expect(botOf()?.limits?.maxFee).to.equal('1')
      expect(live.isWrong()).to.equal(true)
    }
    await rename(file, `${file}.bak`)
    await settle()
    expect(said.pop()?.fields['problems']).to.match(/is not there any more/)
    expect(live.list).to.have.length(2)
    await settle()
    expect(said).to.deep.equal([])
    nowMs += 61_000
    await live.look()
    expect(said.pop()?.level).to.equal('error')
    await writeFile(file, before.replace('"1"', '"2"'))
    await settle()
    expect(botOf()?.limits?.maxFee).to.equal('2')
    expect(live.isWrong()).to.equal(false)
    expect(said.map(({ message }) => message)).to.deep.equal([
      `${path.basename(confDir)}/clients.yml is in order again`,
      `limits.maxFee of bot changed by ${path.basename(confDir)}/clients.yml`,
    ])
  })

  it('is said to be wrong where it became so while the server started, and not again where the start has said it', async () => {
    await writeFile(file, 'clients: [')
    open(true)
    await settle()
    expect(said).to.deep.equal([])
    expect(live.isWrong()).to.equal(true)
    open(false)
    await settle()
    expect(said.pop()?.level).to.equal('error')
    expect(live.isWrong()).to.equal(true)
  })

  it('is not read while it is being written', async () => {
    await writeFile(file, '')
    await live.look()
    await writeFile(file, before.replace('"1"', '"3"'))
    await live.look()
    expect(said).to.deep.equal([])
    await live.look()
    expect(botOf()?.limits?.maxFee).to.equal('3')
  })
})
