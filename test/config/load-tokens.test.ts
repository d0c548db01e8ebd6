import { expect } from 'chai'
import { createHash } from 'node:crypto'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:https'
import path from 'node:path'
import { Agent } from 'undici'
import { loadTokens, type TokenSources } from '../../core/config/token-list.ts'
import { ensureCertificates } from '../../core/tls/ensure-certificates.ts'
import { described, eachWithHome, problemsOf } from './home.ts'

const entry = (symbol: string, address: string, decimals: unknown = 18, chainId = 1) => ({
  chainId,
  address,
  symbol,
  decimals,
  name: symbol,
  logoURI: 'x',
})
const list = (...tokens: unknown[]) => JSON.stringify({ name: 'a list', tokens })

describe('the tokens of a network', () => {
  const home = eachWithHome()
  const load = (more: Partial<TokenSources> = {}) =>
    loadTokens({
      pluginFolder: path.join(home.folder, 'plugins/ethereum'),
      confDir: home.confDir,
      chain: 'ethereum',
      network: 'mainnet',
      chainId: 1,
      tokenLists: [],
      home: home.folder,
      dataDir: path.join(home.folder, 'data'),
      ...more,
    })

  it('are empty without lists', async () => expect(await load()).to.deep.equal([]))

  it("are the plugin's of that chain id, overridden by the settings' lists, overridden by the operator's list", async () => {
    await home.write(
      'plugins/ethereum/tokens.json',
      list(entry('A', '0xa1'), entry('B', '0xb1'), entry('C', '0xc1'), entry('A', '0xa1', 6, 5)),
    )
    await home.write('lists/x.json', list(entry('B2', '0xB1', 8), entry('C2', '0xc1')))
    await home.write('conf/tokens/ethereum/mainnet.json', list(entry('C3', '0xC1'), entry('A', '0xd1')))
    expect(await load({ tokenLists: [path.join(home.folder, 'lists/x.json')] })).to.deep.equal([
      { symbol: 'A', address: '0xa1', decimals: 18 },
      { symbol: 'B2', address: '0xB1', decimals: 8 },
      { symbol: 'C3', address: '0xC1', decimals: 18 },
      { symbol: 'A', address: '0xd1', decimals: 18 },
    ])
  })

  it('distinguish addresses by case where case matters', async () => {
    await home.write('plugins/ethereum/tokens.json', list(entry('A', 'So1aNa'), entry('B', 'so1aNa')))
    expect(await load()).to.have.length(2)
  })

  it('name the file and the entry that is wrong', async () => {
    await home.write(
      'plugins/ethereum/tokens.json',
      list(entry('A', '0xa1', '18'), entry('', '0xb1'), entry('US\u200bD', '0xc1'), { chainId: 1 }),
    )
    await home.write('conf/tokens/ethereum/mainnet.json', list(entry('D', '0xd1', 18, 5)))
    await home.write('lists/x.json', 'nonsense')
    await home.write('lists/y.json', list(entry('E', '0xE1', 6), entry('E', '0xe1', 18)))
    const problems = await problemsOf(() =>
      load({ tokenLists: ['x', 'y', 'z'].map((name) => path.join(home.folder, `lists/${name}.json`)) }),
    )
    expect(problems.map(({ file, path }) => `${file} ${path}`)).to.have.members([
      'ethereum/tokens.json tokens[0].decimals',
      'ethereum/tokens.json tokens[1].symbol',
      'ethereum/tokens.json tokens[2].symbol',
      'ethereum/tokens.json tokens[3].address',
      'ethereum/tokens.json tokens[3].symbol',
      'ethereum/tokens.json tokens[3].decimals',
      'conf/tokens/ethereum/mainnet.json tokens[0].chainId',
      'lists/x.json ',
      'lists/y.json tokens[1].address',
      'lists/z.json ',
    ])
  })

  it('show a limited number of problems of one list', async () => {
    await home.write('plugins/ethereum/tokens.json', list(...Array.from({ length: 500 }, () => ({}))))
    expect(await problemsOf(load)).to.have.length(11)
  })

  describe('from a host', () => {
    const body = list(entry('R', '0xf1'))
    const sha256 = createHash('sha256').update(body).digest('hex')
    let server: Server
    let dispatcher: Agent
    let asked = 0
    let url = ''

    beforeEach(async () => {
      const certsDir = path.join(home.folder, 'certs')
      await ensureCertificates({ certsDir })
      const pem = (name: string) => readFile(path.join(certsDir, name))
      asked = 0
      server = createServer({ cert: await pem('server_cert.pem'), key: await pem('server_key.pem') }, ({ url: path }, response) => {
        asked += 1
        if (path === '/moved') response.writeHead(302, { location: '/list.json' }).end()
        else if (path?.startsWith('/down')) response.writeHead(500).end()
        else if (path === '/endless') response.write(Buffer.alloc(11_000_000))
        else response.end(body)
      })
      await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
      const address = server.address()
      url = `https://localhost:${typeof address === 'object' ? address?.port : ''}`
      dispatcher = new Agent({ connect: { ca: await pem('ca_cert.pem') } })
    })
    afterEach(async () => {
      await dispatcher.destroy()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    })
    const from = (place: string, hash = sha256) => ({ tokenLists: [{ url: url + place, sha256: hash }], dispatcher })

    it('are fetched once, then read from the cache while its hash is right', async () => {
      const tokens = [{ symbol: 'R', address: '0xf1', decimals: 18 }]
      expect(await load(from('/list.json'))).to.deep.equal(tokens)
      expect(await load(from('/list.json'))).to.deep.equal(tokens)
      expect(asked).to.equal(1)
      const cache = path.join(home.folder, 'data/token-lists')
      expect(await readdir(cache)).to.deep.equal([`${sha256}.json`])
      await writeFile(path.join(cache, `${sha256}.json`), list(entry('X', '0xf1', 1)))
      expect(await load(from('/list.json'))).to.deep.equal(tokens)
      expect(asked).to.equal(2)
    })

    it('are refused with another hash than the given one', async () => {
      expect(await described(() => load(from('/list.json', '0'.repeat(64))))).to.contain(`has the SHA-256 ${sha256}, not the expected one`)
    })

    it('are not fetched after a redirect', async () => {
      expect(await described(() => load(from('/moved')))).to.contain('redirect (302), which is not followed')
      expect(asked).to.equal(1)
    })

    it('are bounded in size', async () => {
      expect(await described(() => load(from('/endless')))).to.contain('is larger than')
    })

    it('report a temporary problem when the host fails, is unreachable or has an untrusted certificate', async () => {
      const down = await problemsOf(() => load(from('/down?key=hunter2')))
      const away = await problemsOf(() => load({ ...from('/x'), tokenLists: [{ url: 'https://127.0.0.1:1/x', sha256 }] }))
      const stranger = await problemsOf(() => load({ tokenLists: [{ url: `${url}/list.json`, sha256 }] }))
      expect([down, away, stranger].flat().map(({ temporary, problem }) => `${temporary} ${problem}`)).to.deep.equal([
        'true cannot be fetched: the host answers 500',
        'true cannot be fetched: connect ECONNREFUSED 127.0.0.1:1',
        'true cannot be fetched: unable to verify the first certificate',
      ])
      expect(JSON.stringify(down)).not.to.contain('hunter2')
    })

    it('are not fetched without TLS', async () => {
      expect(await described(() => load({ tokenLists: [{ url: url.replace('https', 'http'), sha256 }] }))).to.contain(
        'Give an https:// URL',
      )
    })
  })
})
