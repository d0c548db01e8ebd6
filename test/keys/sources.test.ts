import { expect } from 'chai'
import { hexlify, keccak256, recoverAddress, Signature } from 'ethers'
import { examineKeySources } from '../../core/cli/doctor.ts'
import { checkFile, compile } from '../../core/config/check.ts'
import type { ConfigProblem } from '../../core/config/problems.ts'
import type { Section } from '../../core/config/tree.ts'
import { curves } from '../../core/keys/curves.ts'
import {
  describeKeySource,
  keySources,
  keySourceSchema,
  mayHaveRealKeys,
  needsPassphrase,
  opensRealKeys,
  openKeySource,
  variablesOf,
} from '../../core/keys/sources.ts'
import { saveKey } from '../../core/keys/keystore.ts'
import * as Type from 'typebox'
import { temporaryFolder } from '../wallet/temporary-folder.ts'
import { vault, vaultKey } from './vault-source.ts'

/** The line that adds it. */
const sources = { ...keySources, vault }
const setting = { kind: 'vault', host: 'vault.internal' }

describe('a key source that is added', () => {
  const validate = compile(Type.Object({ keySources: Type.Array(keySourceSchema(sources)) }, { additionalProperties: false }))

  function problemsOf(...entries: readonly unknown[]): ConfigProblem[] {
    const value: Section = { keySources: entries }
    const problems: ConfigProblem[] = []
    checkFile(validate, { file: 'conf/server.yml', yaml: undefined, defaults: value }, {}, problems)
    return problems
  }

  it('has its options checked by the reader of settings, which names the place and what is wrong', () => {
    expect(problemsOf(setting, 'keystore', { kind: 'devnet', chain: 'solana' })).to.deep.equal([])
    expect(problemsOf('keystore', { kind: 'vault', port: 1 })).to.deep.include({
      file: 'conf/server.yml',
      path: 'keySources[1].host',
      problem: 'is missing',
      remedy: 'Add it: text.',
    })
    expect(problemsOf({ ...setting, port: '1' }).map(({ path }) => path)).to.deep.equal(['keySources[0].port'])
    const [unknown] = problemsOf({ ...setting, hots: 'x' })
    expect(unknown?.path).to.equal('keySources[0].hots')
    expect(unknown?.remedy).to.contain('host')
  })

  it('is named among the kinds where a kind is not known, also in the form of before', () => {
    for (const wrong of ['vualt', 'devnet:solana', { kind: 'vualt' }]) {
      const problems = problemsOf(wrong)
      expect(problems, JSON.stringify(wrong)).to.have.length(1)
      for (const kind of Object.keys(sources)) expect(problems[0]?.remedy).to.contain(`"${kind}"`)
    }
    expect(problemsOf('devnet:solana')[0]?.remedy).to.contain('kind')
  })

  it('is refused by its kind alone where an option has to be there', () => {
    const [problem, ...others] = problemsOf('keystore', 'vault')
    expect(others).to.deep.equal([])
    expect(problem?.path).to.equal('keySources[1]')
    expect(problem?.remedy).to.contain('{ kind: …, … }; only so "vault"')
  })

  it('gets the variables that it declares, and no others', async () => {
    expect(variablesOf([setting, { kind: 'keystore' }], sources)).to.deep.equal(['VAULT_TOKEN'])
    expect(variablesOf([{ kind: 'keystore' }], sources)).to.deep.equal([])
    const context = { dataDir: '/nowhere', curveOf: () => 'secp256k1' as const }
    const env = { VAULT_TOKEN: 'secret', DATABASE_PASSWORD: 'other' }
    const { wallets, problems } = await openKeySource(setting, context, { sources, env })
    expect(problems).to.deep.equal([])
    expect(wallets.map(({ label }) => label)).to.deep.equal(['VAULT_TOKEN'])
    const digest = keccak256('0x01')
    const signature = await wallets[0]?.sign(Buffer.from(digest.slice(2), 'hex'))
    expect(recoverAddress(digest, Signature.from(hexlify(signature ?? '0x')))).to.equal(curves.secp256k1.addressOf(vaultKey))
    const without = await openKeySource(setting, context, { sources, env: {} })
    expect(without.problems).to.deep.equal(['The vault vault.internal takes no request without VAULT_TOKEN: set it.'])
  })

  it('is not opened with options that are not of its schema', async () => {
    const context = { dataDir: '/nowhere', curveOf: () => 'secp256k1' as const }
    const opening = openKeySource({ kind: 'vault', host: 1 }, context, { sources, env: {} })
    expect(await opening.catch(({ message }: Error) => message)).to.match(/not those that its schema has/)
  })

  it('has what it needs shown by sluice doctor', () => {
    expect(describeKeySource(setting, sources)?.network).to.deep.equal(['vault.internal:8200'])
    expect(examineKeySources([setting], {}, sources).map(({ what }) => what)).to.deep.equal([
      'vault: Keys in a vault that signs. Its variables: VAULT_TOKEN (not set). It connects to vault.internal:8200.',
    ])
  })
})

describe('what key sources say of the keys that there may be', () => {
  const dataDir = temporaryFolder()
  const empty = temporaryFolder()
  before(() => saveKey({ dataDir, chain: 'ethereum', privateKey: vaultKey, passphrase: 'correct horse', scryptN: 1024 }))

  it('is that the devnet has none, a keystore those on its disk, and an unknown source some', () => {
    expect(mayHaveRealKeys([{ kind: 'devnet' }, { kind: 'keystore' }], empty)).to.equal(false)
    expect(mayHaveRealKeys([{ kind: 'keystore' }], dataDir)).to.equal(true)
    expect(mayHaveRealKeys([{ kind: 'devnet' }], dataDir), 'which are not opened').to.equal(true)
    expect(mayHaveRealKeys([{ kind: 'vault' }], empty)).to.equal(true)
    expect(opensRealKeys([{ kind: 'keystore' }, { kind: 'devnet' }])).to.equal(false)
    expect(opensRealKeys([{ kind: 'vault' }])).to.equal(true)
    expect(needsPassphrase([{ kind: 'keystore' }], dataDir)).to.equal(true)
    expect(needsPassphrase([{ kind: 'keystore' }], empty)).to.equal(false)
    expect(needsPassphrase([{ kind: 'devnet' }], dataDir)).to.equal(false)
  })
})
