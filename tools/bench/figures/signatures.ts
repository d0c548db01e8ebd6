import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { HDNodeWallet, Transaction } from 'ethers'
import { startSigner, type Signer } from '../../../core/wallet/signer.ts'
import { exampleFiles } from '../../../test/wallet/example-files.ts'
import { requestOf, transaction } from '../../../test/wallet/example-policy.ts'
import { cpuMsOf, ms, perSecond, times, median, type Row } from '../measuring.ts'

const rounds = 3
const perRound = 200
const atOnce = 100
const silent = { info() {}, warn() {}, error() {} }
/** Anvil's well-known account 0, for the reference; the signer has it by itself. */
const wallet = HDNodeWallet.fromPhrase('test test test test test test test test test test test junk')

/** A signature by the signer's process, from the request to the bytes, beside ethers with the key in this process. */
export async function signatures(): Promise<Row[]> {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'sluice-bench-'))
  const signer = await startSigner({ dataDir, devnet: true, files: await exampleFiles(dataDir), log: silent })
  try {
    const drafts = Array.from({ length: perRound }, (_, nonce) => transaction({ nonce }))
    const round = async () => ({
      one: await oneByOne(signer, drafts),
      hundred: await together(signer, drafts),
      own: await withEthers(drafts),
    })
    await round()
    const signerBeforeMs = cpuMsOf(signer.processId())
    const measured = []
    for (let count = 0; count < rounds; count += 1) measured.push(await round())
    const signerMs = (cpuMsOf(signer.processId()) - signerBeforeMs) / (rounds * perRound * 2)
    const own = median(measured.map((each) => each.own.wallMs))
    const row = (name: string, each: number): Row => ({
      name,
      value: `${ms(each)}, ${perSecond(1000 / each)}`,
      reference: `${ms(own)}, ${perSecond(1000 / own)}`,
      ratio: times(each, own),
    })
    const ownCpuMs = median(measured.map((each) => each.own.cpuMs))
    return [
      row('one at a time', median(measured.map(({ one }) => one))),
      row(`${atOnce} at once`, median(measured.map(({ hundred }) => hundred))),
      { name: "CPU of the signer's process", value: ms(signerMs), reference: ms(ownCpuMs), ratio: times(signerMs, ownCpuMs) },
    ]
  } finally {
    await signer.stop()
    await rm(dataDir, { recursive: true, force: true })
  }
}

/** Milliseconds per signature. */
async function oneByOne(signer: Signer, drafts: readonly Transaction[]): Promise<number> {
  return timed(drafts.length, async () => {
    for (const draft of drafts) await signer.sign(requestOf(wallet.address, draft))
  })
}

async function together(signer: Signer, drafts: readonly Transaction[]): Promise<number> {
  return timed(drafts.length, async () => {
    for (let start = 0; start < drafts.length; start += atOnce) {
      await Promise.all(drafts.slice(start, start + atOnce).map((draft) => signer.sign(requestOf(wallet.address, draft))))
    }
  })
}

/** The same work: bytes of an unsigned transaction to a signature over them. */
async function withEthers(drafts: readonly Transaction[]): Promise<{ wallMs: number; cpuMs: number }> {
  const before = process.cpuUsage()
  const wallMs = await timed(drafts.length, () => {
    for (const draft of drafts) wallet.signingKey.sign(Transaction.from(draft.unsignedSerialized).unsignedHash)
  })
  const { user, system } = process.cpuUsage(before)
  return { wallMs, cpuMs: (user + system) / 1000 / drafts.length }
}

async function timed(count: number, work: () => unknown): Promise<number> {
  const startedAt = performance.now()
  await work()
  return (performance.now() - startedAt) / count
}
