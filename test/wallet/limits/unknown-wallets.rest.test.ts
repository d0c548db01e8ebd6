import { expect } from 'chai'
import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { wellKnownAddresses } from '../../../core/keys/curves.ts'
import { openKeys } from '../../../core/wallet/signing.ts'
import { exampleFiles } from '../example-files.ts'
import { stranger } from '../example-policy.ts'
import { temporaryFolder } from '../temporary-folder.ts'

describe('limits of wallets', () => {
  const folder = temporaryFolder()

  it('are said to bound nothing where no key is of their address', async () => {
    const files = await exampleFiles(folder)
    const [own = ''] = wellKnownAddresses
    const row = `{ ethereum/mainnet: { gasCost: { perDay: "1" }, native: { perDay: "1" } } }`
    await mkdir(files.confDir, { recursive: true })
    await writeFile(path.join(files.confDir, 'limits.yml'), `wallets:\n  "${own.toLowerCase()}": ${row}\n  "${stranger}": ${row}\n`)
    const told: string[] = []
    const keep = (fields: object, message = '') => void told.push(`${message} ${JSON.stringify(fields)}`)
    const settings = {
      confDir: files.confDir,
      data: { dir: folder },
      devnet: { enabled: true },
      wallet: { keySources: [{ kind: 'devnet' }] },
    }
    const parts = { settings, log: { info() {}, warn() {}, error: keep }, passphrase: undefined, files }
    const signer = await openKeys(parts as unknown as Parameters<typeof openKeys>[0])
    await signer.stop()
    const bound = told.filter((each) => each.includes('bound nothing'))
    expect(bound).to.have.length(1)
    expect(bound[0]).to.contain(stranger).and.contain('limits.yml')
  })
})
