import { expect } from 'chai'
import { createHash } from 'node:crypto'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:https'
import path from 'node:path'
import { Agent } from 'undici'
import { addToken, loadTokens, type AmbiguousSymbol, type LeftOutToken, type TokenSources } from '../../core/config/token-list.ts'
import { canonicalAddress } from '../../kits/evm/encoding.ts'
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

  it('have no entry without lists', async () => expect(await load()).to.deep.equal([]))

  it("come from the plugin's list of that chain id, then the settings' lists, then the operator's list, each overriding the one before", async () => {
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

  it('tell which symbols the lists of the operator make ambiguous, with each address and list, and not those of the release', async () => {
    const ambiguous: AmbiguousSymbol[] = []
    const onAmbiguous = (symbol: AmbiguousSymbol) => void ambiguous.push(symbol)
    await home.write(
      'plugins/ethereum/tokens.json',
      list(entry('A', '0xa1'), entry('B', '0xb1'), entry('OLD', '0x01'), entry('OLD', '0x02')),
    )
    await home.write('lists/x.json', list(entry('a', '0xa2'), entry('B', '0xb1'), entry('ETH', '0xe1'), entry('C', '0xc1')))
    await home.write('conf/tokens/ethereum/mainnet.json', list(entry('C', '0xc2')))
    const coin = { symbol: 'ETH', address: '0x0', decimals: 18, native: true } as const
    const chainImpl = { address: (text: string) => text, nativeCurrency: coin }
    await load({ onAmbiguous, chainImpl, tokenLists: [path.join(home.folder, 'lists/x.json')] })
    const [release, published, own] = ['ethereum/tokens.json', 'lists/x.json', 'conf/tokens/ethereum/mainnet.json']
    expect(ambiguous).to.deep.equal([
      {
        symbol: 'ETH',
        tokens: [
          { symbol: 'ETH', address: '0x0', list: 'the native coin' },
          { symbol: 'ETH', address: '0xe1', list: published },
        ],
      },
      {
        symbol: 'A',
        tokens: [
          { symbol: 'A', address: '0xa1', list: release },
          { symbol: 'a', address: '0xa2', list: published },
        ],
      },
      {
        symbol: 'C',
        tokens: [
          { symbol: 'C', address: '0xc1', list: published },
          { symbol: 'C', address: '0xc2', list: own },
        ],
      },
    ])
    // A coin that is a token, too, is one; and the release is nobody's mistake here.
    ambiguous.length = 0
    await home.write('plugins/ethereum/tokens.json', list(entry('CELO', '0x47'), entry('ETH', '0xe1')))
    await home.write('lists/x.json', list(entry('CELO', '0x47')))
    await home.write('conf/tokens/ethereum/mainnet.json', list())
    const lists = { tokenLists: [path.join(home.folder, 'lists/x.json')] }
    await load({ onAmbiguous, chainImpl: { ...chainImpl, nativeCurrency: { ...coin, symbol: 'CELO', address: '0x47' } }, ...lists })
    await load({ onAmbiguous, chainImpl, ...lists })
    expect(ambiguous).to.deep.equal([])
    const many = Array.from({ length: 30 }, (_, at) => [entry(`S${at}`, `0x1${at}`), entry(`S${at}`, `0x2${at}`)]).flat()
    await home.write('lists/x.json', list(...many))
    await load({ onAmbiguous, tokenLists: [path.join(home.folder, 'lists/x.json')] })
    expect([ambiguous.length, ambiguous.at(-1)?.more]).to.deep.equal([10, 20])
  })

  it('distinguish addresses by case where case matters', async () => {
    await home.write('plugins/ethereum/tokens.json', list(entry('A', 'So1aNa'), entry('B', 'so1aNa')))
    expect(await load()).to.have.length(2)
  })

  describe('with bad entries', () => {
    let leftOut: LeftOutToken[] = []
    const onLeftOut = (entry: LeftOutToken) => void leftOut.push(entry)
    const words = () => leftOut.map(({ file, path, symbol, address }) => [file, path, symbol, address].filter(Boolean).join(' '))
    const good = { symbol: 'GOOD', address: '0xee', decimals: 18 }
    beforeEach(() => (leftOut = []))

    it('keep the good ones, and tell list, symbol, address and reason of each bad one', async () => {
      const bad = [
        entry('A', '0xa1', '18'),
        entry('', '0xb1'),
        entry('US\u200bD', '0xc1'),
        { chainId: 1 },
        null,
        entry('S', 'with spaces'),
        entry('N', '0xd1', 6, 1.5),
      ]
      await home.write('plugins/ethereum/tokens.json', list(...bad, entry('GOOD', '0xee')))
      await home.write('lists/x.json', list(entry('X', '0xf1'), entry('Y', '0xf2', 256)))
      await home.write('conf/tokens/ethereum/mainnet.json', list(entry('D', '0xd1', 18, 5), entry('C', '0xd2')))
      await home.write('data/tokens/ethereum/mainnet.json', list(entry('E', '0xe1'), { symbol: 'F' }))
      const tokens = await load({ onLeftOut, tokenLists: [path.join(home.folder, 'lists/x.json')] })
      expect(tokens.map(({ symbol }) => symbol)).to.deep.equal(['GOOD', 'X', 'E', 'C'])
      expect(words()).to.have.members([
        'ethereum/tokens.json tokens[0].decimals A 0xa1',
        'ethereum/tokens.json tokens[1].symbol 0xb1',
        'ethereum/tokens.json tokens[2].symbol US\u200bD 0xc1',
        'ethereum/tokens.json tokens[3].address',
        'ethereum/tokens.json tokens[4]',
        'ethereum/tokens.json tokens[5].address S with spaces',
        'ethereum/tokens.json tokens[6].chainId N 0xd1',
        'lists/x.json tokens[1].decimals Y 0xf2',
        'conf/tokens/ethereum/mainnet.json tokens[0].chainId D 0xd1',
        'data/tokens/ethereum/mainnet.json tokens[1].chainId F',
      ])
      for (const { problem, remedy } of leftOut) expect([problem, remedy]).to.not.include('')
    })

    it('skip entries of another chain without a word, whatever is wrong with them', async () => {
      const others = [entry('', 'no address', 'x', 5), { chainId: 10 }, entry('E', '0xe1', 999, 42161)]
      await home.write('plugins/ethereum/tokens.json', list(...others, entry('GOOD', '0xee')))
      expect(await load({ onLeftOut })).to.deep.equal([good])
      expect(leftOut).to.deep.equal([])
    })

    it('are neither of two entries of one address with different decimals, and the first of two with different symbols', async () => {
      const twice = [entry('E', '0xE1', 6), entry('E', '0xe1', 18), entry('E', '0xe1', 6), entry('F', '0xf1'), entry('G', '0xF1')]
      await home.write('plugins/ethereum/tokens.json', list(entry('GOOD', '0xee'), entry('GOOD', '0xee'), ...twice))
      expect((await load({ onLeftOut })).map(({ symbol }) => symbol)).to.deep.equal(['GOOD', 'F'])
      expect(words()).to.deep.equal(
        [3, 4, 6].map((at, index) => `ethereum/tokens.json tokens[${at}].address ${['E 0xe1', 'E 0xe1', 'G 0xF1'][index]}`),
      )
    })

    it('tell a limited number of bad entries of one list', async () => {
      await home.write('plugins/ethereum/tokens.json', list(entry('GOOD', '0xee'), ...Array.from({ length: 500 }, () => ({}))))
      expect(await load({ onLeftOut })).to.deep.equal([good])
      expect(leftOut).to.have.length(11)
      expect(leftOut.at(-1)?.problem).to.contain('490 more')
    })

    const coin = { symbol: 'ETH', address: `0x${'0'.repeat(40)}`, decimals: 18, native: true } as const
    const placeholder = '0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE'
    const chainImpl = { address: canonicalAddress, nativeCurrency: coin, coinAddresses: [coin.address, placeholder] }
    const weth = '0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2'

    it('are those with an address that the chain does not have', async () => {
      const bad = [entry('A', '0xa1'), entry('B', weth.replace('Cc2', 'cC2')), entry('C', 'So11111111111111111111111111111111111111112')]
      await home.write('plugins/ethereum/tokens.json', list(...bad, entry('WETH', weth.toLowerCase())))
      expect((await load({ onLeftOut, chainImpl })).map(({ symbol }) => symbol)).to.deep.equal(['WETH'])
      expect(words()).to.deep.equal(bad.map(({ symbol, address }, at) => `ethereum/tokens.json tokens[${at}].address ${symbol} ${address}`))
    })

    it('are no entries of the coin at an address that stands for it, which is told only where they say something else of it', async () => {
      const coins = [entry('ETH', placeholder), entry('ETH', placeholder.toLowerCase()), entry('ETH', coin.address)]
      await home.write('plugins/ethereum/tokens.json', list(...coins, entry('ETH', coin.address, 8), entry('GOOD', weth)))
      expect((await load({ onLeftOut, chainImpl })).map(({ symbol }) => symbol)).to.deep.equal(['GOOD'])
      expect(words()).to.deep.equal([`ethereum/tokens.json tokens[3].address ETH ${coin.address}`])
    })

    it('keep them where one is added while the server runs', async () => {
      const before = [{ chainId: 1, symbol: 'B' }, null, entry('GOOD', '0xee')]
      await home.write('data/tokens/ethereum/mainnet.json', list(...before))
      const to = { dataDir: path.join(home.folder, 'data'), chain: 'ethereum', network: 'mainnet', chainId: 1 }
      await addToken(to, { symbol: 'NEW', address: '0xff', decimals: 4 })
      const { tokens } = JSON.parse(await readFile(path.join(home.folder, 'data/tokens/ethereum/mainnet.json'), 'utf8'))
      expect(tokens.slice(0, 3)).to.deep.equal(before)
      expect((await load({ onLeftOut })).map(({ symbol }) => symbol)).to.deep.equal(['GOOD', 'NEW'])
    })
  })

  it('take no token whose list could not be read again: the file stays as it was', async () => {
    const before = list({ ...entry('A', '0xa1'), logoURI: 'x'.repeat(9_999_850) })
    await home.write('data/tokens/ethereum/mainnet.json', before)
    const to = { dataDir: path.join(home.folder, 'data'), chain: 'ethereum', network: 'mainnet', chainId: 1 }
    const problems = await problemsOf(() => addToken(to, { symbol: 'NEW', address: '0xff', decimals: 4 }))
    expect(problems.map(({ problem }) => problem.replace(/\d+ bytes,/, 'N bytes,'))).to.deep.equal([
      'would have N bytes, and at most 10000000 are read',
    ])
    expect(await readFile(path.join(home.folder, 'data/tokens/ethereum/mainnet.json'), 'utf8')).to.equal(before)
  })

  it('name the files that are no lists', async () => {
    await home.write('lists/x.json', 'nonsense')
    await home.write('lists/y.json', '{"tokens": {}}')
    const problems = await problemsOf(() =>
      load({ tokenLists: ['x', 'y', 'z'].map((name) => path.join(home.folder, `lists/${name}.json`)) }),
    )
    expect(problems.map(({ file, path }) => `${file} ${path}`)).to.have.members(['lists/x.json ', 'lists/y.json tokens', 'lists/z.json '])
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

    it('come from the host once, then from the cache while its hash is right', async () => {
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

    it('fail to load with another hash than the given one', async () => {
      expect(await described(() => load(from('/list.json', '0'.repeat(64))))).to.contain(`has the SHA-256 ${sha256}, not the expected one`)
    })

    it('follow no redirect', async () => {
      expect(await described(() => load(from('/moved')))).to.contain('redirect (302), which is not followed')
      expect(asked).to.equal(1)
    })

    it('fail to load when the list is too large', async () => {
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

    it('need a host with TLS', async () => {
      expect(await described(() => load({ tokenLists: [{ url: url.replace('https', 'http'), sha256 }] }))).to.contain(
        'Give an https:// URL',
      )
    })
  })
})
