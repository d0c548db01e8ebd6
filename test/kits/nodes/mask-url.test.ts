import { expect } from 'chai'
import { maskUrl, secretsOf } from '../../../kits/nodes/url-secrets.ts'

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
    const secrets = secretsOf('https://user:pass@node.example/v3/key1?apikey=key2')
    expect(secrets).to.have.members(['dXNlcjpwYXNz', 'user', 'pass', 'key1', 'key2'])
  })

  it('lists them in each spelling in which a node may quote them, the longest first', () => {
    const secrets = secretsOf('https://user%40x:p%3Ass@node.example/v3/a%20key?k=a%2Bb+c')
    const credentials = Buffer.from('user@x:p:ss').toString('base64').replaceAll('=', '')
    for (const each of [credentials, 'user%40x', 'user@x', 'p%3Ass', 'p:ss', 'a%20key', 'a key', 'a+b c', 'a%2Bb+c'])
      expect(secrets).to.include(each)
    expect(secrets.map(({ length }) => length)).to.deep.equal(secrets.map(({ length }) => length).toSorted((a, b) => b - a))
  })
})
