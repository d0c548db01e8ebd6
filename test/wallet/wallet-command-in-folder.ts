import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect } from 'chai'
import { programArgs } from '../program.ts'
import { temporaryFolder } from './temporary-folder.ts'

export const passphrase = 'correct horse'

interface Run {
  input?: string
  passphraseFile?: string
  /** What must be in nothing that is printed; the passphrase is among them. */
  secrets?: readonly string[]
}

export interface WalletCommandInFolder {
  /** A file with this content. */
  fileOf(content: string): string
  /** The keystore's, another one for each test. */
  dataDir(): string
  /** Runs the command without a terminal, in a process of its own. */
  sluice(args: readonly string[], run?: Run): { status: number | null; out: string; err: string }
}

/** The command in a folder for the tests of the surrounding `describe`. */
export function walletCommandInFolder(): WalletCommandInFolder {
  const folder = temporaryFolder()
  let program: readonly string[]
  let dataDir: string
  let count = 0
  before(async () => {
    program = await programArgs(new URL('wallet-cli.ts', import.meta.url))
  })
  beforeEach(() => {
    dataDir = path.join(folder, `data-${count++}`)
  })

  const fileOf = (content: string): string => {
    const file = path.join(folder, `file-${count++}`)
    writeFileSync(file, content, { mode: 0o600 })
    return file
  }

  return {
    fileOf,
    dataDir: () => dataDir,
    sluice(args, { input = '', passphraseFile = fileOf(`${passphrase}\n`), secrets = [] } = {}) {
      const done = spawnSync(process.execPath, [...program, 'wallet', ...args], {
        input,
        encoding: 'utf8',
        timeout: 60_000,
        env: { ...process.env, TEST_DATA_DIR: dataDir, SLUICE_WALLET_PASSPHRASE_FILE: passphraseFile },
      })
      for (const secret of [passphrase, ...secrets]) expect(done.stdout + done.stderr).not.to.include(secret.replace(/^0x/, ''))
      return { status: done.status, out: done.stdout, err: done.stderr }
    },
  }
}
