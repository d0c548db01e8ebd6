import { spawnSync } from 'node:child_process'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { wellKnownAddresses } from '../../core/wallet/keys.ts'
import { temporaryFolder } from './temporary-folder.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

const program = `
import { startSigner } from './core/wallet/signer.js'
import { saveKey } from './core/wallet/keystore.js'
import { examplePolicy, requestOf, transaction } from './test/wallet/example-policy.js'
import { messageOf, seed, solanaPolicy, trade, wallet } from './test/wallet/ed25519/example-message.js'
await saveKey({ dataDir: 'data', chain: 'solana', curve: 'ed25519', privateKey: seed, passphrase: 'correct horse', scryptN: 1024 })
const policy = { networks: [...examplePolicy.networks, ...solanaPolicy.networks], allowedSpenders: [] }
const signer = await startSigner({ dataDir: 'data', passphrase: 'correct horse', devnet: true, policy, log: console })
console.log((await signer.sign(requestOf('${wellKnownAddresses[0]}', transaction()))).length)
const draft = { scheme: 'ed25519', bytes: messageOf([trade]) }
console.log((await signer.sign({ chain: 'solana', network: 'mainnet', address: wallet, draft })).length)
await signer.stop()
`

describe('the compiled signer', () => {
  const folder = temporaryFolder()

  it('runs as JavaScript, without tsx', () => {
    const modules = path.join(root, 'node_modules')
    symlinkSync(modules, path.join(folder, 'node_modules'))
    writeFileSync(path.join(folder, 'package.json'), '{ "type": "module" }')
    const files = [
      'core/wallet/signer.ts',
      'core/wallet/signer-keeper.ts',
      'core/wallet/signer-process.ts',
      'core/wallet/keystore.ts',
      'test/wallet/example-policy.ts',
      'test/wallet/ed25519/example-message.ts',
    ]
    writeFileSync(
      path.join(folder, 'tsconfig.json'),
      JSON.stringify({
        extends: path.join(root, 'tsconfig.json'),
        compilerOptions: { rootDir: root, outDir: folder, sourceMap: false },
        files: files.map((file) => path.join(root, file)),
        include: [],
      }),
    )
    const built = spawnSync(process.execPath, [path.join(modules, 'typescript', 'bin', 'tsc'), '-p', folder], { encoding: 'utf8' })
    expect(built.status, built.stdout).to.equal(0)

    mkdirSync(path.join(folder, 'elsewhere'))
    writeFileSync(path.join(folder, 'run.js'), program)
    const ran = spawnSync(process.execPath, [path.join(folder, 'run.js')], {
      cwd: path.join(folder, 'elsewhere'),
      encoding: 'utf8',
      timeout: 60_000,
      env: { ...process.env, NODE_OPTIONS: '' },
    })
    expect(ran.stdout.trim(), ran.stderr).to.equal('65\n64')
  })
})
