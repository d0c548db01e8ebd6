import { expect } from 'chai'
import { HDNodeWallet } from 'ethers'
import { derivedKey } from '../../core/wallet/key-source.ts'
import { wellKnownMnemonic, wellKnownPath } from '../../core/wallet/keys.ts'

// https://github.com/trezor/python-mnemonic/blob/master/vectors.json
const other = 'legal winner thank year wave sausage worth useful legal winner thank yellow'

describe('the keys of the devnet', () => {
  it('are derived as ethers derives them, by hardened steps and others', () => {
    const paths = [...Array.from({ length: 20 }, (_, index) => wellKnownPath(index)), "m/0'", 'm/2147483647/1', "m/44'/501'/7'"]
    for (const mnemonic of [wellKnownMnemonic, other])
      for (const path of paths) expect(derivedKey(mnemonic, path), path).to.equal(HDNodeWallet.fromPhrase(mnemonic, '', path).privateKey)
  })

  it('are refused where the path does not begin with the master key', () => {
    expect(() => derivedKey(other, '44/60')).to.throw('not a path')
  })
})
