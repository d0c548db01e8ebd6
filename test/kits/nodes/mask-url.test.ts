import { expect } from 'chai'
import { maskUrl, secretsOf } from '../../../kits/nodes/node.ts'

describe('a masked URL', () => {
  const masked = {
    'https://mainnet.infura.io/v3/0123456789abcdef': 'https://mainnet.infura.io/v3/***',
    'https://eth-mainnet.g.alchemy.com/v2/aB-cD_9': 'https://eth-mainnet.g.alchemy.com/v2/***',
    'https://user:pass@node.example:8545/': 'https://node.example:8545',
    'https://node.example/rpc?apikey=secret#secret': 'https://node.example/rpc',
    'http://127.0.0.1:8545': 'http://127.0.0.1:8545',
    'not a url with a secret': '***',
  }
  for (const [url, shown] of Object.entries(masked)) {
    it(`shows ${shown}`, () => expect(maskUrl(url)).to.equal(shown))
  }

  it('lists the hidden parts', () => {
    expect(secretsOf('https://user:pass@node.example/v3/key1?apikey=key2')).to.have.members(['user', 'pass', 'key1', 'key2'])
  })
})
