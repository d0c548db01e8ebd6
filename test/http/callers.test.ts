import { expect } from 'chai'
import type { Client } from '../../core/config/clients.ts'
import { callerOf } from '../../core/http/connections.ts'

const hex = 'ab'.repeat(32)
const fingerprint256 = hex.toUpperCase().replaceAll(/..(?=.)/g, '$&:')
const rights = { permissions: ['read', 'trade'], wallets: 'all' } as const
const byName: Client = { name: 'bot', ...rights }
/** As conf/clients.yml spells it. */
const byFingerprint: Client = { name: fingerprint256, fingerprint: hex, ...rights }

const idsOf = (commonName: string, clients: readonly Client[], fingerprint = fingerprint256) => {
  const { id, formerId } = callerOf({ commonName, fingerprint256: fingerprint }, clients, {}).caller
  return formerId === undefined ? { id } : { id, formerId }
}

describe('the id of a caller', () => {
  it('equals the key of its entry in conf/clients.yml', () => {
    expect(idsOf('bot', [byName])).to.deep.equal({ id: 'bot' })
    expect(idsOf('bot', [byName, byFingerprint])).to.deep.equal({ id: fingerprint256 })
  })

  it('has the common name beside it where the entry is by fingerprint, unless that is the key of another client', () => {
    expect(idsOf('bot', [byFingerprint])).to.deep.equal({ id: fingerprint256, formerId: 'bot' })
    expect(idsOf('', [byFingerprint])).to.deep.equal({ id: fingerprint256 })
    expect(idsOf('bot', [byFingerprint, byName])).not.to.have.property('formerId')
  })

  it('equals the common name where the certificate is not listed, unless that is empty or the key of another one', () => {
    expect(idsOf('watcher', [byName])).to.deep.equal({ id: 'watcher' })
    expect(idsOf('', [byName])).to.deep.equal({ id: fingerprint256 })
    // They name the server itself, and all that are not listed.
    for (const reserved of ['sluice', 'unlisted']) expect(idsOf(reserved, [byName])).to.deep.equal({ id: fingerprint256 })
    expect(idsOf('sluice', [byFingerprint])).to.deep.equal({ id: fingerprint256, formerId: 'sluice' })
    const other = 'CD'.repeat(32)
    expect(idsOf(fingerprint256, [byFingerprint], other)).to.deep.equal({ id: other })
  })
})
