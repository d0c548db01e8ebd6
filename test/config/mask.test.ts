import { expect } from 'chai'
import { maskUrl, maskUrls } from '../../core/config/index.ts'

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
    ['postgres://sluice:word@db/sluice?sslmode=require', 'postgres://***@db/sluice?***'],
    ['not a url', '***'],
  ] as const) {
    it(`reads ${shown}`, () => expect(maskUrl(url)).to.equal(shown))
  }

  it('is masked inside of a text too', () => {
    expect(maskUrls('connect to https://u:p@n/v3/0123456789abcdef failed, "postgres://a:b@c/d"')).to.equal('connect to https://***@n/v3/*** failed, "postgres://***@c/d"')
  })
})
