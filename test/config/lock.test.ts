import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect } from 'chai'
import { readLock, writeLock, type LockedPlugin } from '../../core/config/lock.ts'
import { ConfigError } from '../../core/config/problems.ts'
import { eachWithHome } from './home.ts'

const record = (contracts: Readonly<Record<string, string>> = {}): LockedPlugin => ({
  sha256: 'a'.repeat(64),
  tier: 'contained',
  kind: 'connector',
  networks: { 'ethereum/mainnet': { contracts: { ...contracts }, spenders: [] } },
  signs: [],
  hosts: [],
})
const addresses = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`c${index}`, `0x${index.toString(16).padStart(40, '0')}`]))

describe('sluice.lock', () => {
  const home = eachWithHome()

  for (const [what, plugins, problem] of [
    ['more bytes than are read', { big: record(addresses(17_600)) }, /would have \d+ bytes, and at most 1000000 are read/],
    [
      'more values than are read, in several records',
      Object.fromEntries(
        Array.from({ length: 60 }, (_, index) => [
          `p${index}`,
          record(Object.fromEntries(Object.keys(addresses(400)).map((key) => [key, '0']))),
        ]),
      ),
      /is too large: too many values/,
    ],
    ['a name that no mapping may have', { odd: record(JSON.parse('{"__proto__":"0x00"}')) }, /is not allowed as a key/],
    [
      'a field that the schema does not have',
      { odd: Object.assign(record(), JSON.parse('{"allowedBy":"release"}')) },
      /plugins\.odd\.allowedBy/,
    ],
  ] as const)
    it(`is left as it was where it would have ${what}`, async () => {
      await writeLock(home.confDir, { first: record() })
      const file = path.join(path.dirname(home.confDir), 'sluice.lock')
      const before = readFileSync(file, 'utf8')
      const thrown = await writeLock(home.confDir, { first: record(), ...plugins }).catch((error: unknown) => error)
      expect(thrown).to.be.instanceOf(ConfigError)
      expect(String(thrown))
        .to.match(problem)
        .and.match(/Nothing was changed\. Take out what is not used: \S+ plugin remove <name>/)
      expect(readFileSync(file, 'utf8')).to.equal(before)
      expect(Object.keys(readLock(home.confDir))).to.deep.equal(['first'])
    })

  it('is not made where it could not be read', async () => {
    expect(await writeLock(home.confDir, { big: record(addresses(17_600)) }).catch(() => 'refused')).to.equal('refused')
    expect(existsSync(path.join(path.dirname(home.confDir), 'sluice.lock'))).to.equal(false)
  })
})
