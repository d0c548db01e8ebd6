import { expect } from 'chai'
import { HDNodeWallet } from 'ethers'
import { devnetPrivateKeys } from '../../core/keys/devnet-keys.ts'
import { curves, parseSecp256k1Key, wellKnownAddresses } from '../../core/keys/curves.ts'
import { refusalOf, refusesStrangeKeys, wellKnownMnemonic } from './strange-keys.ts'

const key = '4bd6b45fdc4c8cbd7fd3e0318961b5d0470d6d4fb31bc1eb51aad054b7da2cb8'
const order = 'fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141'

describe('parsing a private key of an EVM chain', () => {
  it('accepts a key with and without 0x, in any letter case, with white space around it', () => {
    for (const text of [key, `0x${key}`, `0X${key.toUpperCase()}`, `  ${key}\r\n`]) expect(parseSecp256k1Key(text)).to.equal(`0x${key}`)
  })

  refusesStrangeKeys(parseSecp256k1Key, [
    ['nothing', ' \n', /Nothing was given/],
    ['too few digits', key.slice(2), /this has 62/],
    ['too many digits', `${key}00`, /this has 66/],
    ['an address', `0x${key.slice(0, 40)}`, /it is an address/],
    ['a public key', `04${key}${key}`, /it is a public key/],
    ['other characters', key.replace('b', 'x'), /not hexadecimal/],
    ['two keys', `${key}\n${key}`, /white space/],
    ['a seed phrase', wellKnownMnemonic, /seed phrase/],
    ['a keystore file', '{"version":3}', /--keystore-file/],
    ['a key of Solana', '4'.repeat(88), /Solana/],
    ['zero', '0'.repeat(64), /zero/],
    ['the order of the curve', order, /order of the curve/],
    ['more than the order of the curve', 'f'.repeat(64), /order of the curve/],
  ])

  it('refuses the keys of well-known accounts', () => {
    for (const [index, address] of wellKnownAddresses.entries()) {
      const wallet = HDNodeWallet.fromPhrase(wellKnownMnemonic, '', `m/44'/60'/0'/0/${index}`)
      expect(wallet.address).to.equal(address)
      if (index < devnetPrivateKeys.length) expect(wallet.privateKey).to.equal(devnetPrivateKeys[index])
      expect(refusalOf(parseSecp256k1Key, wallet.privateKey))
        .to.match(/test account of anvil and hardhat/)
        .and.not.include(wallet.privateKey.slice(2))
    }
  })
})

describe('an address of an EVM chain', () => {
  const { address } = curves.secp256k1
  const right = '0x6B175474E89094C44Da98b954EedeAC495271d0F'

  it('has its spelling with checksum, and none where the checksum is wrong, however often and in whatever order it is asked', () => {
    const mistyped = right.replace('Da98', 'da98')
    for (let round = 0; round < 2; round += 1) {
      expect(address(right.toLowerCase())).to.equal(right)
      expect(address(right)).to.equal(right)
      expect(address(mistyped)).to.equal(undefined)
      expect(address(`${right}0`)).to.equal(undefined)
    }
  })
})
