import { expect } from 'chai'
import { readAddKey } from '../../core/wallet/add-key-message.ts'

const message = { type: 'add-key', id: 1, chains: ['ethereum', 'base'], curve: 'secp256k1', keyBytes: 64 }

describe('The message that hands a key on', () => {
  it('reads as it is, with or without the length of a passphrase', () => {
    expect(readAddKey(message)).to.equal(message)
    const withPassphrase = { ...message, passphraseBytes: 12 }
    expect(readAddKey(withPassphrase)).to.equal(withPassphrase)
  })

  it('refuses what the signer would have to guess at: a length, a curve, a chain, or how many', () => {
    const wrong = [
      { keyBytes: 0 },
      { keyBytes: 1_025 },
      { keyBytes: 1.5 },
      { keyBytes: '64' },
      { passphraseBytes: 0 },
      { passphraseBytes: 262_145 },
      { curve: 'p256' },
      { chains: [] },
      { chains: ['Ethereum'] },
      { chains: [1] },
      { chains: Array.from({ length: 101 }, (_, index) => `chain-${index}`) },
      { id: 1.5 },
      { type: 'sign' },
    ]
    for (const each of wrong) expect(readAddKey({ ...message, ...each }), JSON.stringify(each)).to.equal(undefined)
  })
})
