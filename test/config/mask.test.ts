import { expect } from 'chai'
import { maskUrl, maskUrls, maskedCopy, saidWithout, secretsOfUrl } from '../../core/config/mask.ts'

describe('a URL that is shown', () => {
  for (const [url, shown] of [
    ['https://mainnet.infura.io/v3/0123456789abcdef0123456789abcdef', 'https://mainnet.infura.io/v3/***'],
    ['https://eth-mainnet.g.alchemy.com/v2/aBcDeFgHiJkLmNoPqRsTuVwXyZ', 'https://eth-mainnet.g.alchemy.com/v2/***'],
    ['https://x.quiknode.pro/abcdef0123456789/', 'https://x.quiknode.pro/***/'],
    ['https://user:word@node.example:8545/', 'https://***@node.example:8545/'],
    ['https://node.example?key=1', 'https://node.example?***'],
    ['https://node.example/rpc#secret', 'https://node.example/rpc#***'],
    ['https://api.avax.network/ext/bc/C/rpc', 'https://api.avax.network/ext/bc/C/rpc'],
    ['http://127.0.0.1:8545', 'http://127.0.0.1:8545'],
    ['http://[::1]:8545/', 'http://[::1]:8545/'],
    ['wss://node.example/ws/0123456789abcdef', 'wss://node.example/ws/***'],
    ['https://6b3f0a1c2d4e5f60718293a4b5c6d7e8.eth.rpc.example', 'https://***.eth.rpc.example'],
    ['https://ethereum-sepolia-rpc.publicnode.com', 'https://ethereum-sepolia-rpc.publicnode.com'],
    ['postgres://sluice:word@db/sluice?sslmode=require', 'postgres://***@db/sluice?***'],
    ['not a url', '***'],
  ] as const) {
    it(`reads ${shown}`, () => expect(maskUrl(url)).to.equal(shown))
  }

  it('hides its secrets inside a text too', () => {
    expect(maskUrls('connect to https://u:p@n/v3/0123456789abcdef failed, "postgres://a:b@c/d"')).to.equal(
      'connect to https://***@n/v3/*** failed, "postgres://***@c/d"',
    )
  })

  it('masks credentials of headers in a text', () => {
    for (const [text, shown] of [
      ['denied: {"authorization":"Basic dXNlcjpwYXNz","accept":"*/*"}', 'denied: {"authorization":"Basic ***","accept":"*/*"}'],
      ['denied: {\\"authorization\\":\\"Bearer abc.def\\"}', 'denied: {\\"authorization\\":\\"Bearer ***\\"}'],
      ['Proxy-Authorization: Basic dXNlcjpwYXNz\r\nHost: n', 'Proxy-Authorization: Basic ***\r\nHost: n'],
      ['x-api-key: 0123 and Cookie: session=1', 'x-api-key: *** and Cookie: ***'],
      ['a basic question about authorization', 'a basic question about authorization'],
    ] as const)
      expect(maskUrls(text)).to.equal(shown)
  })

  it('keeps file URLs of a stack, and the text after them', () => {
    const stack = 'at call (file:///home/somebody-with-a-long-name1/plugin/index.ts:3:5)'
    expect(maskUrls(stack)).to.equal(stack)
    expect(maskUrls(JSON.stringify({ url: 'https://n/v3/0123456789abcdef', quoted: '"https://n/v3/0123456789abcdef"' }))).to.equal(
      JSON.stringify({ url: 'https://n/v3/***', quoted: '"https://n/v3/***"' }),
    )
  })
})

describe('a configuration that is shown', () => {
  it('hides texts under the name of a secret, whatever their source', () => {
    const tree = {
      apiKey: 'k1',
      auth: { password: 'p' },
      'access-token': 't',
      signing_keys: ['a', 'b'],
      feeToken: 'USDC',
      tokenLists: ['list.json'],
      ttl: 3,
    }
    expect(maskedCopy(tree, new Map())).to.deep.equal({
      apiKey: '***',
      auth: { password: '***' },
      'access-token': '***',
      signing_keys: ['***', '***'],
      feeToken: 'USDC',
      tokenLists: ['list.json'],
      ttl: 3,
    })
  })
})

describe('what an outside party said', () => {
  const url = 'https://user:pass%20word@hooks.example.com/services/T0000AAA1/B111/abcdefghijklmnopqrst?key=k1k1#part'
  it('is quoted without the secrets of the URL that it was asked by, as they are, as in a URL, or in Base64', () => {
    const secrets = secretsOfUrl(url)
    for (const text of [
      'no_service: abcdefghijklmnopqrst',
      'no_service: k1k1',
      'no_service: pass%20word',
      `no_service: ${Buffer.from('abcdefghijklmnopqrst').toString('base64')}`,
    ])
      expect(saidWithout(secrets, text).replaceAll('=', ''), text).to.equal('"no_service: ***"')
    expect(saidWithout(secrets, `see ${url} for more`)).to.not.match(/abcdefghij|k1k1|pass/)
    // In words of its own, on one line, of no great length.
    expect(saidWithout([], ' \n')).to.equal('')
    expect(saidWithout([], 'two\r\nlines "of" \u001b[31mred')).to.equal('"two lines \'of\' \ufffd[31mred"')
    expect(saidWithout([], 'x'.repeat(5_000))).to.have.length(204)
  })
})
