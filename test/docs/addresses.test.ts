import { expect } from 'chai'
import { getAddress } from 'ethers'
import { readdir } from 'node:fs/promises'
import path from 'node:path'
import { readPage, root } from './page.ts'

describe('the addresses on pages', () => {
  it('have the right checksum, so that none is mistyped', async () => {
    const pages = [
      'README.md',
      ...(await readdir(path.join(root, 'docs'), { recursive: true })).filter((name) => name.endsWith('.md')).map((name) => `docs/${name}`),
    ]
    const addresses = (await Promise.all(pages.map(readPage))).flatMap((text) => text.match(/\b0x[0-9a-fA-F]{40}\b/g) ?? [])
    expect(addresses).to.not.have.length(0)
    const wrong = [...new Set(addresses)].filter((address) => getAddress(address.toLowerCase()) !== address)
    expect(wrong).to.deep.equal([])
  })
})
