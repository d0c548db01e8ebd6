// Programs of Solana's exchanges are in no release: whoever wants them on a devnet takes them from a node. core/devnet/solana-programs.json says
// which bytes the arithmetic was held against, their licence and where else they are.
import { createHash } from 'node:crypto'
import { programBytes } from '../base/elf.ts'
import { isObject } from '../base/json.ts'
import { encodeBase58 } from '../keys/curves.ts'

/** https://docs.anza.xyz/runtime/programs: two loaders, of programs that can be replaced and of those that cannot. */
const upgradeableLoader = 'BPFLoaderUpgradeab1e11111111111111111111111'
const finalLoader = 'BPFLoader2111111111111111111111111111111111'
/** solana-loader-v3-interface, UpgradeableLoaderState: what an account is, then the address of a program's bytes. */
const [programKind, programDataKind] = [2, 3]
const programSize = 36
/** Kind, slot and who may replace it; then the bytes. */
const dataAt = 45
/** The largest account of Solana, in base64, and what stands around it. */
const maxAnswer = 16 * 1024 * 1024

export interface FetchedProgram {
  /** The program without the zeros that fill its account. */
  bytes: Uint8Array
  sha256: string
}

/** The bytes of a program, as the node has them now. @throws Error that says what is wrong with the node, or the address */
export async function fetchProgram(nodeUrl: string, id: string): Promise<FetchedProgram> {
  const account = await readAccount(nodeUrl, id)
  if (account.owner === finalLoader) return programOf(account.data, id)
  const { data } = account
  if (account.owner !== upgradeableLoader || data.length < programSize || data.readUInt32LE(0) !== programKind)
    throw new Error(`${id} is no program on that network.`)
  const place = encodeBase58(data.subarray(4, programSize))
  const held = await readAccount(nodeUrl, place)
  if (held.owner !== upgradeableLoader || held.data.length <= dataAt || held.data.readUInt32LE(0) !== programDataKind)
    throw new Error(`The program ${id} is closed: ${place} has no bytes of it.`)
  return programOf(held.data.subarray(dataAt), id)
}

function programOf(data: Buffer, id: string): FetchedProgram {
  if (data.subarray(0, 4).toString('latin1') !== '\x7fELF') throw new Error(`What ${id} has is no program: it does not begin as one.`)
  const bytes = programBytes(data)
  return { bytes, sha256: createHash('sha256').update(bytes).digest('hex') }
}

async function readAccount(nodeUrl: string, id: string): Promise<{ owner: string; data: Buffer }> {
  const body = JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'getAccountInfo',
    params: [id, { encoding: 'base64', commitment: 'finalized' }],
  })
  const response = await fetch(nodeUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
    signal: AbortSignal.timeout(60_000),
  })
  if (!response.ok) throw new Error(`The node answers ${response.status} to getAccountInfo.`)
  const answer: unknown = JSON.parse(await readText(response))
  const { error, result } = isObject(answer) ? answer : {}
  if (isObject(error)) throw new Error(`The node refuses to show ${id}: ${String(error['message']).slice(0, 200)}`)
  const value = isObject(result) ? result['value'] : undefined
  if (value === null) throw new Error(`There is nothing at ${id} on that network.`)
  const { owner, data } = isObject(value) ? value : {}
  const [text, encoding]: unknown[] = Array.isArray(data) ? data : []
  if (typeof owner !== 'string' || typeof text !== 'string' || encoding !== 'base64')
    throw new Error('The node does not answer as one of Solana.')
  return { owner, data: Buffer.from(text, 'base64') }
}

async function readText(response: Response): Promise<string> {
  const parts: Uint8Array[] = []
  let length = 0
  for await (const part of response.body ?? []) {
    length += part.length
    if (length > maxAnswer) throw new Error('The node answers more than an account can have.')
    parts.push(part)
  }
  return Buffer.concat(parts).toString()
}
