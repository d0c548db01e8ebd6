// node --import tsx tools/solana-node/programs/compile-pool.ts [clang]: any clang that has the BPF backend, as every Debian package of it has.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * Makes a program that Solana loads of what clang's BPF backend compiles: one section of code, and the names of the system calls in it.
 * The form is that of version 0 programs: solana-sbpf, doc/bytecode.md and src/elf.rs.
 */
function linkProgram(object: Uint8Array): Buffer {
  const { code, calls } = readObject(Buffer.from(object))
  const names = [...new Set(calls.map(({ name }) => name))]

  const shstrtab = strings(['.text', '.dynamic', '.dynsym', '.dynstr', '.rel.dyn', '.shstrtab'])
  const dynstr = strings(names)
  const dynsym = Buffer.concat([symbol(0, 0), ...names.map((name) => symbol(dynstr.at(name), globalFunction))])
  const textAt = headerSize + 2 * programHeaderSize
  const relocations = Buffer.concat(
    calls.map(({ at, name }) => {
      code.writeInt32LE(-1, at + 4)
      return words(BigInt(textAt + at), (BigInt(1 + names.indexOf(name)) << 32n) | syscallRelocation)
    }),
  )

  // One after the other; addresses are places in the file.
  const dynamicSize = 7 * 16
  const dynamicAt = textAt + code.length
  const dynsymAt = dynamicAt + dynamicSize
  const dynstrAt = dynsymAt + dynsym.length
  const relocationsAt = aligned(dynstrAt + dynstr.bytes.length)
  const shstrtabAt = relocationsAt + relocations.length
  const sectionsAt = aligned(shstrtabAt + shstrtab.bytes.length)
  const dynamic = words(
    dt.rel,
    BigInt(relocationsAt),
    dt.relSize,
    BigInt(relocations.length),
    dt.relEntry,
    16n,
    dt.symbols,
    BigInt(dynsymAt),
    dt.strings,
    BigInt(dynstrAt),
    dt.stringsSize,
    BigInt(dynstr.bytes.length),
    0n,
    0n,
  )

  const file = Buffer.alloc(sectionsAt + 7 * sectionHeaderSize)
  header(textAt, sectionsAt).copy(file)
  programHeader(ptLoad, executable, textAt, code.length).copy(file, headerSize)
  programHeader(ptDynamic, readable, dynamicAt, dynamicSize).copy(file, headerSize + programHeaderSize)
  code.copy(file, textAt)
  dynamic.copy(file, dynamicAt)
  dynsym.copy(file, dynsymAt)
  dynstr.bytes.copy(file, dynstrAt)
  relocations.copy(file, relocationsAt)
  shstrtab.bytes.copy(file, shstrtabAt)
  const sections = [
    Buffer.alloc(sectionHeaderSize),
    section(shstrtab.at('.text'), progbits, alloc | exec, textAt, code.length),
    section(shstrtab.at('.dynamic'), shtDynamic, alloc, dynamicAt, dynamicSize, 4, 16),
    section(shstrtab.at('.dynsym'), shtDynsym, alloc, dynsymAt, dynsym.length, 4, 24),
    section(shstrtab.at('.dynstr'), strtab, alloc, dynstrAt, dynstr.bytes.length),
    section(shstrtab.at('.rel.dyn'), shtRel, alloc, relocationsAt, relocations.length, 3, 16),
    section(shstrtab.at('.shstrtab'), strtab, 0n, shstrtabAt, shstrtab.bytes.length),
  ]
  Buffer.concat(sections).copy(file, sectionsAt)
  return file
}

/** ELF-64, System V ABI: the sizes and numbers that are used. */
const [headerSize, programHeaderSize, sectionHeaderSize] = [64, 56, 64]
const [ptLoad, ptDynamic, executable, readable] = [1, 2, 5, 4]
const [progbits, strtab, shtDynamic, shtRel, shtDynsym] = [1, 3, 6, 9, 11]
const [alloc, exec] = [2n, 4n]
const globalFunction = 0x10
const dt = { rel: 17n, relSize: 18n, relEntry: 19n, symbols: 6n, strings: 5n, stringsSize: 10n }
/** R_BPF_64_32: the system call's name stands in for its number. */
const syscallRelocation = 10n

const aligned = (at: number): number => Math.ceil(at / 8) * 8

function words(...all: readonly bigint[]): Buffer {
  const bytes = Buffer.alloc(8 * all.length)
  for (const [index, each] of all.entries()) bytes.writeBigUInt64LE(each, 8 * index)
  return bytes
}

function strings(all: readonly string[]): { bytes: Buffer; at: (name: string) => number } {
  const text = `\0${all.join('\0')}\0`
  return { bytes: Buffer.from(text), at: (name) => text.indexOf(`\0${name}\0`) + 1 }
}

function symbol(name: number, info: number): Buffer {
  const bytes = Buffer.alloc(24)
  bytes.writeUInt32LE(name, 0)
  bytes.writeUInt8(info, 4)
  return bytes
}

function header(entry: number, sectionsAt: number): Buffer {
  const bytes = Buffer.alloc(headerSize)
  Buffer.from([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1]).copy(bytes)
  bytes.writeUInt16LE(3, 16)
  bytes.writeUInt16LE(247, 18)
  bytes.writeUInt32LE(1, 20)
  bytes.writeBigUInt64LE(BigInt(entry), 24)
  bytes.writeBigUInt64LE(BigInt(headerSize), 32)
  bytes.writeBigUInt64LE(BigInt(sectionsAt), 40)
  for (const [index, each] of [headerSize, programHeaderSize, 2, sectionHeaderSize, 7, 6].entries())
    bytes.writeUInt16LE(each, 52 + 2 * index)
  return bytes
}

function programHeader(type: number, flags: number, at: number, size: number): Buffer {
  const start = Buffer.alloc(8)
  start.writeUInt32LE(type, 0)
  start.writeUInt32LE(flags, 4)
  return Buffer.concat([start, words(BigInt(at), BigInt(at), BigInt(at), BigInt(size), BigInt(size), 8n)])
}

function section(name: number, type: number, flags: bigint, at: number, size: number, link = 0, entrySize = 0): Buffer {
  const bytes = Buffer.alloc(sectionHeaderSize)
  bytes.writeUInt32LE(name, 0)
  bytes.writeUInt32LE(type, 4)
  words(flags, BigInt(at), BigInt(at), BigInt(size)).copy(bytes, 8)
  bytes.writeUInt32LE(link, 40)
  words(8n, BigInt(entrySize)).copy(bytes, 48)
  return bytes
}

interface Section {
  name: string
  type: number
  bytes: Buffer
}

function readObject(object: Buffer): { code: Buffer; calls: readonly { at: number; name: string }[] } {
  const sections = readSections(object)
  const [text, symbols, names, relocations] = ['.text', '.symtab', '.strtab', '.rel.text'].map(
    (name) => sections.find((each) => each.name === name)?.bytes,
  )
  const others = sections.filter(({ name, bytes }) => /^\.(rodata|data|bss)/.test(name) && bytes.length > 0)
  if (!text || !symbols || !names || others.length > 0) throw new Error('The object must have code, and no data beside it.')
  const entries = Array.from({ length: (relocations?.length ?? 0) / 16 }, (_, index) => relocations!.subarray(16 * index))
  const calls = entries.map((entry) => {
    const info = entry.readBigUInt64LE(8)
    const of = symbols.subarray(Number(info >> 32n) * 24)
    if ((info & 0xffffffffn) !== syscallRelocation || of.readUInt16LE(6) !== 0)
      throw new Error('Only system calls may be open in the object.')
    return { at: Number(entry.readBigUInt64LE(0)), name: textAt(names, of.readUInt32LE(0)) }
  })
  return { code: Buffer.from(text), calls }
}

function readSections(object: Buffer): readonly Section[] {
  const [at, count, namesIndex] = [Number(object.readBigUInt64LE(40)), object.readUInt16LE(60), object.readUInt16LE(62)]
  const raw = Array.from({ length: count }, (_, index) => object.subarray(at + index * sectionHeaderSize))
  const bytesOf = (each: Buffer) => {
    const [offset, size] = [Number(each.readBigUInt64LE(24)), Number(each.readBigUInt64LE(32))]
    return object.subarray(offset, offset + size)
  }
  const names = bytesOf(raw[namesIndex] ?? Buffer.alloc(sectionHeaderSize))
  return raw.map((each) => ({ name: textAt(names, each.readUInt32LE(0)), type: each.readUInt32LE(4), bytes: bytesOf(each) }))
}

const textAt = (names: Buffer, at: number): string => names.subarray(at, names.indexOf(0, at)).toString()

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
