import { expect } from 'chai'
import { loadPluginConfig } from '../../core/config/plugin-config.ts'
import { shownConf } from '../../core/config/shown-conf.ts'
import { described, eachWithHome } from './home.ts'

describe('what a plugin that is examined learns of conf', () => {
  const home = eachWithHome()
  const environment = {
    ROUTER: '0x1111111111111111111111111111111111111111',
    KEY: 'hunter2',
    NODE: 'https://node.example/v2/hunter2hunter2hunter2',
    LOGIN: 'operator:hunter2',
  }
  const schema = {
    type: 'object',
    required: ['apiKey', 'shares'],
    properties: { apiKey: { type: 'string', pattern: '^hunter' }, shares: { type: 'integer' }, depth: { type: 'integer', default: 7 } },
  }
  const read = async (text: string) => {
    const conf = shownConf(await home.write('conf/connectors/book.yml', text), 'conf/connectors/book.yml', 'connector', environment)
    const sources = { kind: 'connector' as const, name: 'book', confDir: '/nowhere/conf', pluginFolder: home.folder, schema, env: {}, conf }
    return loadPluginConfig(sources).config
  }

  it('is what core reads, as it is, and no secret: neither of a variable nor of a URL nor by its name', async () => {
    const config = await read(
      'contractAddresses: { mainnet: { router: "${ROUTER}" } }\nttl: 300\napiKey: ${KEY}\nlogin: ${LOGIN}\nnode: ${NODE}\nother: https://a:b@x.example/?k=v\npassword: open\nshares: ${UNSET}\n',
    )
    expect(config).to.deep.equal({
      contractAddresses: { mainnet: { router: environment.ROUTER } },
      ttl: 300,
      apiKey: '***',
      login: '***',
      node: 'https://node.example/v2/***',
      other: 'https://***@x.example?***',
      password: '***',
      shares: '***',
      depth: 7,
    })
  })

  it('has to satisfy its schema where nothing is hidden', async () => {
    const text = 'apiKey: ${KEY}\nshares: many\n'
    expect(await described(() => read(text))).to.match(/conf\/connectors\/book\.yml:2.*shares/)
  })

  it('has no address whose variable is not set: that is said with its line', async () => {
    const text = 'shares: 1\ncontractAddresses:\n  mainnet: { router: "${UNSET}" }\n'
    expect(await described(() => read(text))).to.match(/conf\/connectors\/book\.yml:3.*UNSET, which is not set/)
  })

  it('fills nothing in a second time', async () => {
    expect(await read('shares: 1\napiKey: hunter\nnote: $${KEY}\n')).to.deep.include({ note: '${KEY}' })
  })

  it('has the networks of a chain that are switched on, with the places of their nodes, and those that are off as the plugin has them', async () => {
    const file = await home.write(
      'conf/chains/own.yml',
      'test: { enabled: true, rpcUrls: ["${NODE}"], feeCap: "3" }\nmain: { enabled: false }\n',
    )
    expect(shownConf(file, 'conf/chains/own.yml', 'chain', environment)?.value).to.deep.equal({
      test: { enabled: true, rpcUrls: ['https://node.example/v2/***'], feeCap: '3' },
    })
  })
})
