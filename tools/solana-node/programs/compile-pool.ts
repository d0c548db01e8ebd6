import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { linkProgram } from './link-program.ts'

// node --import tsx tools/solana-node/programs/compile-pool.ts [clang]: any clang that has the BPF backend, as every Debian package of it has.
const [, , clang = 'clang'] = process.argv
const here = (name: string) => fileURLToPath(new URL(name, import.meta.url))
const folder = mkdtempSync(path.join(tmpdir(), 'sluice-pool-'))
try {
  const object = path.join(folder, 'pool.o')
  const flags = ['-target', 'bpf', '-O2', '-ffreestanding', '-fno-builtin', '-Wall', '-Werror']
  execFileSync(clang, [...flags, '-c', here('pool.c'), '-o', object], { stdio: 'inherit' })
  const [compiler = ''] = execFileSync(clang, ['--version']).toString().split('\n')
  const artifact = {
    compiler,
    flags,
    sourceSha256: createHash('sha256')
      .update(readFileSync(here('pool.c')))
      .digest('hex'),
    program: linkProgram(readFileSync(object)).toString('base64'),
  }
  writeFileSync(here('artifacts/pool.json'), `${JSON.stringify(artifact, undefined, 2)}\n`)
} finally {
  rmSync(folder, { recursive: true })
}
