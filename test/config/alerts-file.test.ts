import { expect } from 'chai'
import { loadSettings } from '../../core/config/settings.ts'
import { described, eachWithHome } from './home.ts'

describe('conf/alerts.yml', () => {
  const home = eachWithHome()
  const load = (env: Record<string, string> = {}) => loadSettings({ confDir: home.confDir, env })

  it('may be absent, and then nobody is told', () => {
    expect(load().alerts).to.equal(undefined)
  })

  it('has defaults for every rule, which the file and the environment change', async () => {
    await home.write('conf/alerts.yml', 'rules:\n  lowGas: { days: 7 }\n')
    const alerts = load({ SLUICE_ALERTS_RULES_STUCK_TRANSACTION_SECONDS: '60', SLUICE_ALERTS_RULES_NO_QUOTE_ENABLED: 'false' }).alerts
    expect(alerts?.rules.lowGas).to.deep.equal({ enabled: true, severity: 'warning', days: 7, minBalance: {} })
    expect(alerts?.rules.stuckTransaction).to.deep.equal({ enabled: true, severity: 'critical', seconds: 60 })
    expect(alerts?.rules.noQuote.enabled).to.equal(false)
    expect(alerts).to.deep.include({ channels: {}, groupSeconds: 60, resolveSeconds: 30 })
    expect(load().warnings).to.deep.equal([])
  })

  it('names files with secrets, which are read, or variables of the environment', async () => {
    await home.write('secrets/url', 'https://hooks.example.org/T0/B0\n')
    await home.write('conf/alerts.yml', 'channels:\n  ops: { kind: webhook, urlFile: secrets/url, secret: "${KEY}" }\n')
    const settings = load({ KEY: 'hidden' })
    expect(settings.alerts?.channels['ops']).to.deep.include({ url: 'https://hooks.example.org/T0/B0', secret: 'hidden' })
    expect(JSON.stringify(settings.shown)).to.not.match(/hidden|T0/)
  })

  it('is refused with each problem, and no value', async () => {
    await home.write(
      'conf/alerts.yml',
      [
        'channels:',
        '  a: { kind: webhook }',
        '  b: { kind: webhook, url: "http://hooks.example.org/SECRET" }',
        '  c: { kind: telegram, token: "1:SECRET" }',
        '  d: { kind: email, host: h, from: "a@b.c\\r\\nBcc: x@y.z", to: [ops], security: none, password: SECRET }',
        '  e: { kind: webhook, urlFile: absent }',
        'heartbeat: { url: "ftp://SECRET" }',
      ].join('\n'),
    )
    const text = await described(() => load())
    for (const said of [
      /alerts\.yml:2 {2}channels\.a\.url: is missing/,
      /alerts\.yml:3 {2}channels\.b\.url: is not encrypted/,
      /channels\.c\.chat: is missing/,
      /channels\.d\.from: is not an address/,
      /channels\.d\.to: is not an address/,
      /channels\.d\.security: would send the password unencrypted/,
      /channels\.e\.urlFile: names a file that does not exist/,
      /heartbeat\.url: is not a URL of the web/,
    ])
      expect(text).to.match(said)
    expect(text).to.not.contain('SECRET')
  })

  it('is refused where a mail server would be asked without the login that half of is there', async () => {
    const mail = 'kind: email, host: h.example.org, from: a@example.org, to: [b@example.org]'
    for (const [half, lacks] of [
      ['user: a', 'password'],
      ['password: SECRET', 'user'],
      ['passwordFile: secrets/password', 'user'],
    ] as const) {
      await home.write('secrets/password', 'SECRET')
      await home.write('conf/alerts.yml', `channels:\n  a: { ${mail}, ${half} }\n`)
      const text = await described(() => load())
      expect(text)
        .to.match(new RegExp(`channels\\.a\\.${lacks}: is missing`))
        .and.not.contain('SECRET')
    }
    await home.write('conf/alerts.yml', `channels:\n  a: { ${mail}, user: a, passwordFile: secrets/password }\n`)
    expect(load().alerts?.channels['a']?.password).to.equal('SECRET')
  })

  it('says what was probably meant', async () => {
    await home.write('conf/alerts.yml', 'rules:\n  lowGass: {}\n')
    expect(await described(() => load())).to.match(/lowGass.*lowGas/s)
  })
})
