import { expect } from 'chai'
import { clientOf, describeClosed } from '../../core/config/clients.ts'
import { loadSettings } from '../../core/config/settings.ts'
import { readWalletLimits } from '../../core/config/limits-file.ts'
import { closeWrongAddresses } from '../../core/config/wrong-addresses.ts'
import { signerFiles } from '../../core/wallet/signing.ts'
import { readClientsFile } from '../../core/config/live-clients.ts'
import { described, eachWithHome } from './home.ts'

const hex = 'ab'.repeat(32)
const colons = hex.toUpperCase().replace(/(..)(?!$)/g, '$1:')

describe('clients.yml', () => {
  const home = eachWithHome()
  const settings = () => loadSettings({ confDir: home.confDir, env: { RATE: '5' } })
  const load = () => settings().clients

  it("gives rights by a certificate's common name or fingerprint", async () => {
    await home.write(
      'conf/clients.yml',
      `clients:\n  bot:\n    permissions: [read, trade]\n    wallets: [0xA1]\n    requestsPerSecond: \${RATE}\n  ${colons}: { permissions: [admin], wallets: all }\n  watcher: { permissions: [read] }\n`,
    )
    const clients = load()
    expect(clients).to.deep.equal([
      { name: 'bot', permissions: ['read', 'trade'], wallets: ['0xA1'], requestsPerSecond: 5 },
      { name: colons, fingerprint: hex, permissions: ['admin'], wallets: 'all' },
      { name: 'watcher', permissions: ['read'], wallets: [] },
    ])
    expect(clientOf(clients, { commonName: 'bot', fingerprint256: '00' })?.name).to.equal('bot')
    expect(clientOf(clients, { commonName: 'bot', fingerprint256: colons })?.name).to.equal(colons)
    expect(clientOf(clients, { commonName: 'unknown', fingerprint256: '00' })).to.equal(undefined)
    // A certificate may call itself anything: a name that reads like a fingerprint is none.
    expect(clientOf(clients, { commonName: colons, fingerprint256: '00' })).to.equal(undefined)
  })

  it('closes a client whose entry is wrong, and lets others keep their rights', async () => {
    await home.write(
      'conf/clients.yml',
      [
        'clients:',
        '  a: { permission: [read] }',
        '  b: { permissions: [read, write], wallets: some }',
        '  c: { permissions: [read], requestsPerSecond: 0 }',
        '  d: { permissions: [read], inFlight: 08 }',
        '  e: { permissions: [read], streams: "${NOT_SET}" }',
        '  f:',
        '  g: read',
        '  "h/~1": { permissions: [all] }',
        '  bot: { permissions: [read, trade], wallets: [0xA1] }',
        '  watcher: { permissions: [read] }',
      ].join('\n'),
    )
    const { clients, closed, shown } = settings()
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h/~1']) {
      const client = clientOf(clients, { commonName: name, fingerprint256: '00' })
      expect(client, name).to.include({ name }).and.to.deep.include({ permissions: [], wallets: [] })
      expect(client?.closed, name).to.be.a('string')
    }
    expect(clientOf(clients, { commonName: 'bot', fingerprint256: '00' })).to.deep.equal({
      name: 'bot',
      permissions: ['read', 'trade'],
      wallets: ['0xA1'],
    })
    expect(clientOf(clients, { commonName: 'watcher', fingerprint256: '00' })?.permissions).to.deep.equal(['read'])
    expect(shown.clients).to.have.all.keys('bot', 'watcher')
    const text = closed.map((each) => `${describeClosed(each)}\n→ ${each.remedy}`).join('\n')
    expect(text).to.contain('conf/clients.yml:2 clients.a.permissions is missing, so the client "a" has no permission.')
    expect(text).to.contain('clients.a.permission is not a known key, so the client "a" has no permission.\n→ Did you mean "permissions"?')
    expect(text).to.contain('clients.b.permissions[1] is not one of the possible values')
    expect(text).to.contain('clients.b.wallets has none of the possible forms')
    expect(text).to.contain('conf/clients.yml:4 clients.c.requestsPerSecond must be > 0')
    expect(text).to.contain('conf/clients.yml:5 clients.d.inFlight is a number with leading zeros')
    expect(text).to.contain('conf/clients.yml:6 clients.e.streams needs the environment variable NOT_SET')
    expect(text).to.contain('conf/clients.yml:7 clients.f is empty')
    expect(text).to.contain('conf/clients.yml:8 clients.g is of the wrong type')
  })

  it('says how an amount and hours are written, with an example', async () => {
    const remedyOf = async (limits: string) => {
      await home.write('conf/clients.yml', `clients:\n  bot: { permissions: [read], limits: ${limits} }`)
      return settings()
        .closed.map(({ remedy }) => remedy)
        .join('\n')
    }
    const number = 'Write a number in quotes like "1.5", not negative, with a point'
    for (const amount of ['"-5"', '"1,5"', '"1e3"', '"1 000"', '400', '1e-7'])
      expect(await remedyOf(`{ maxDailyLoss: ${amount} }`), amount).to.match(new RegExp(`^${number} \\(What trades`))
    for (const amount of ['1e-7', '"-0.5"', '400'])
      expect(await remedyOf(`{ maxDailyGas: ${amount} }`), amount).to.match(new RegExp(`^${number}.*, or a mapping`))
    expect(await remedyOf('{ allowed: { hours: [8-18] } }')).to.equal('Write hours of the day like "08:00-18:00".')
    expect(await remedyOf('{ allowed: { hours: 8 } }')).to.match(/each hours of the day like "08:00-18:00" \(Hours/)
    expect(await remedyOf('{ maxFee: { mainnet: "1" } }')).to.equal('Use a chain and network like ethereum/mainnet.')
    expect(await remedyOf('{ allowed: { tokens: [400] } }')).to.equal('Write text. (In quotes: without them it is a number.)')
  })

  it('closes a client with a key that is left empty: no limit is lost', async () => {
    const keys = ['maxDailyLoss', 'value', 'allowed.tokens', 'allowed.actions', 'tokens.ethereum/mainnet', 'value.perDay']
    const nested = (key: string) => key.split('.').reduceRight((inside, each) => `{ "${each}": ${inside} }`, '')
    const bots = ['limits:', ...keys.map((key) => `limits: ${nested(key)}`), 'wallets: ~', 'requestsPerSecond:']
    const file = [
      'clients:',
      '  good: { permissions: [read] }',
      ...bots.flatMap((line, index) => [`  bot${index}:`, '    permissions: [trade]', `    ${line}`]),
      'unlisted: { streams: }',
    ]
    await home.write('conf/clients.yml', file.join('\n'))
    const { clients, closed, unlisted } = settings()
    expect(clients.filter((each) => each.closed === undefined).map(({ name }) => name)).to.deep.equal(['good'])
    expect(unlisted.closed).to.equal('unlisted.streams is empty')
    expect(closed.map(({ path, problem }) => `${path} ${problem}`)).to.deep.equal([
      'clients.bot0.limits is empty',
      ...keys.map((key, index) => `clients.bot${index + 1}.limits.${key} is empty`),
      'clients.bot6.limits.value must NOT have fewer than 1 properties',
      'clients.bot7.wallets is empty',
      'clients.bot8.requestsPerSecond is empty',
      'unlisted.streams is empty',
    ])
    expect(closed[0]).to.include({ file: 'conf/clients.yml', line: 5 })
    expect(closed[0]?.remedy).to.contain('"0"')
  })

  it('may have no clients, and a file of limits of wallets no key that is left empty', async () => {
    await home.write('conf/clients.yml', 'clients:\n')
    expect(settings()).to.deep.include({ clients: [], closed: [] })
    const wallet = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'
    const row = (amounts: string) => `wallets: { ${wallet}: { ethereum/mainnet: { gasCost: { perDay: "1" }, ${amounts} } } }\n`
    for (const [text, path] of [
      [row('tokens: , native: { perDay: "1" }'), `wallets.${wallet}.ethereum/mainnet.tokens`],
      [row('native: { perHour: , perDay: "1" }'), `wallets.${wallet}.ethereum/mainnet.native.perHour`],
      ['wallets:\n', 'wallets'],
      [`wallets: { ${wallet}: }\n`, `wallets.${wallet}`],
    ] as const) {
      await home.write('conf/limits.yml', text)
      expect(await described(() => readWalletLimits(home.confDir))).to.contain(`conf/limits.yml:1  ${path}: is empty`)
    }
    await home.write('conf/limits.yml', row('native: { perDay: "1" }'))
    expect(readWalletLimits(home.confDir)).to.have.property(wallet)
    const mistyped = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92267'
    await home.write('conf/limits.yml', row('native: { perDay: "1" }').replace(wallet, `"${mistyped}"`))
    expect(await described(() => readWalletLimits(home.confDir))).to.match(
      /^conf\/limits.yml:1 {2}wallets\.0xf39F\w+: is no address: .+ checksum/,
    )
  })

  it('closes a wrong address by itself', async () => {
    await home.write(
      'conf/clients.yml',
      [
        'clients:',
        '  bot: { permissions: [trade], wallets: [0xA1, 7, "${NOT_SET}", 0xA2, ""] }',
        '  treasurer:',
        '    permissions: [send]',
        '    sendTo:',
        '      0xA1: [0xB1, { to: 0xB2 }, 0xB3, 0xB1]',
        '      0xA2: 0xB1',
        '      0xA3: [0xB1]',
      ].join('\n'),
    )
    const { clients, closed } = settings()
    expect(clients).to.deep.equal([
      { name: 'bot', permissions: ['trade'], wallets: ['0xA1', '0xA2'] },
      {
        name: 'treasurer',
        permissions: ['send'],
        wallets: [],
        sendTo: new Map([
          ['0xA1', ['0xB1', '0xB3', '0xB1']],
          ['0xA3', ['0xB1']],
        ]),
      },
    ])
    expect(closed.map((each) => describeClosed(each))).to.have.length(5)
    expect(closed.map(describeClosed).join('\n')).to.contain(
      'conf/clients.yml:6 clients.treasurer.sendTo.0xA1[1] is of the wrong type, so it gives the client "treasurer" nothing.',
    )
  })

  it('closes an entry that is no address on its chain, of recipients and of allowed spenders', async () => {
    const [wallet, cold] = ['0x70997970C51812dc3A010C7d01b50e0d17dc79C8', '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC']
    const wrong = [cold.replace('3C44', '3c44'), '0x12', 'vault', `0x${'0'.repeat(40)}`]
    await home.write('conf/server.yml', `wallet: { allowedSpenders: ["${wrong[0]}", 5, "${cold}", "${cold}", "0x12", ""] }\n`)
    await home.write(
      'conf/clients.yml',
      JSON.stringify({
        clients: {
          treasurer: { permissions: ['send'], wallets: 'all', sendTo: { [wallet]: [...wrong, cold], [wrong[0] ?? '']: [cold] } },
          bot: { permissions: ['trade'], wallets: ['vault'] },
        },
      }),
    )
    const checked = closeWrongAddresses(settings())
    expect(checked.clients.map(({ sendTo }) => sendTo)).to.deep.equal([new Map([[wallet, [cold]]]), undefined])
    expect(checked.wallet.allowedSpenders).to.deep.equal([cold, cold])
    expect(checked.closed.map(({ path }) => path)).to.have.members([
      'wallet.allowedSpenders[1]',
      'wallet.allowedSpenders[5]',
      'wallet.allowedSpenders[0]',
      'wallet.allowedSpenders[3]',
      ...wrong.map((_, index) => `clients.treasurer.sendTo.${wallet}[${index}]`),
      `clients.treasurer.sendTo.${wrong[0]}`,
    ])
    expect(signerFiles(checked, { found: [], tried: [] })).to.deep.include({
      allowedSpenders: [cold, cold],
      recipients: { [wallet]: [cold] },
    })
  })

  it('closes certificates that are not listed where what bounds them is wrong', async () => {
    await home.write('conf/clients.yml', `clients: { bot: { permissions: [read] } }\nunlisted: { streams: 0 }\n`)
    const { clients, unlisted, closed } = settings()
    expect(clients).to.deep.equal([{ name: 'bot', permissions: ['read'], wallets: [] }])
    expect(unlisted.closed).to.contain('unlisted.streams must be >= 1')
    expect(closed.map(describeClosed)).to.deep.equal([
      'conf/clients.yml:2 unlisted.streams must be >= 1, so certificates that are not listed have no permission.',
    ])
  })

  it('is refused where the file itself is wrong', async () => {
    await home.write('conf/clients.yml', `clients:\n  c: { permissions: [read] }\nclient: {}\n`)
    expect(await described(load)).to.contain('conf/clients.yml:3  client: is not a known key\n→ Did you mean "clients"?')
    await home.write('conf/clients.yml', 'clients: [bot]\n')
    expect(await described(load)).to.contain('clients: is of the wrong type')
    await home.write('conf/clients.yml', 'clients:\n  a: { permissions: [read\n')
    expect(await described(load))
      .to.contain('conf/clients.yml')
      .and.to.contain('is not valid YAML')
  })

  it('closes one fingerprint in two spellings: nobody can tell which is right', async () => {
    await home.write(
      'conf/clients.yml',
      `clients:\n  ${hex}: { permissions: [read] }\n  ${colons}: { permissions: [admin] }\n  bot: { permissions: [trade] }\n`,
    )
    const { clients, closed } = settings()
    expect(clientOf(clients, { commonName: 'bot', fingerprint256: colons })).to.deep.include({ permissions: [], wallets: [] })
    expect(clientOf(clients, { commonName: 'bot', fingerprint256: '00' })?.permissions).to.deep.equal(['trade'])
    expect(closed).to.have.length(2)
    expect(closed.map(describeClosed).join()).to.contain('in another spelling')
  })

  it('closes a client whose name stands for the server itself or for others, and says what to do', async () => {
    await home.write(
      'conf/clients.yml',
      'clients:\n  sluice: { permissions: [trade], wallets: all }\n  unlisted: { permissions: [read] }\n  "": { permissions: [trade] }\n  bot: { permissions: [trade] }\n',
    )
    const { clients, closed } = settings()
    for (const commonName of ['sluice', 'unlisted', ''])
      expect(clientOf(clients, { commonName, fingerprint256: '00' }), commonName).to.deep.include({ permissions: [] })
    expect(clientOf(clients, { commonName: 'bot', fingerprint256: '00' })?.permissions).to.deep.equal(['trade'])
    expect(closed.map((each) => `${describeClosed(each)} ${each.remedy}`)[0]).to.equal(
      'conf/clients.yml:2 clients.sluice is a name that stands for the server itself, in the journal and in the log, so the client "sluice" has no permission. Write the SHA-256 fingerprint of its certificate as the key, in quotes (bin/sluice certs list shows it). Or make a certificate with another name.',
    )
    await home.write('conf/clients.yml', 'clients:\n  sluice: { permissions: [trade], wallets: all }\n')
    expect(readClientsFile(home.confDir)).to.have.nested.property('problems[0].path', 'clients.sluice')
  })
})
