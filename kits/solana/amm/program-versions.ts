// Which bytes a program has: arithmetic is of some, and its authors replace them when they want to.
import { createHash } from 'node:crypto'
import type { At, ConnectorFinding } from '../../../core/contracts/index.ts'
import { programBytes } from '../../../core/base/elf.ts'
import { startOf } from '../account-keys.ts'
import { addressBytes, derivedAddress } from '../addresses.ts'
import type { SolanaImageData, SolanaReader } from '../types.ts'

// https://docs.anza.xyz/runtime/programs and solana-loader-v3-interface, UpgradeableLoaderState::ProgramData: 3 as u32, the slot of the deployment, who may
// replace it (one byte and an address), then the program.
const upgradeableLoader = 'BPFLoaderUpgradeab1e11111111111111111111111'
const programDataKind = 3
const [slotAt, dataAt] = [4, 45]
/** solana-sdk, MAX_PERMITTED_DATA_LENGTH. */
const maxAccount = 10 * 1024 * 1024

/** What is known of the bytes that a program has. */
export type ProgramVersion<V extends string = string> =
  | { readonly is: 'known'; readonly version: V }
  | { readonly is: 'unknown'; readonly slot: bigint; readonly sha256: string }
  /** Its bytes have to be read first. */
  | { readonly is: 'unread' }
  | { readonly is: 'gone' }

/** Which bytes a program has, of those that arithmetic was held against. */
export interface ProgramVersions<V extends string = string> {
  /** What is followed: the beginning of the account that has the bytes, which tells the slot since which it has them. */
  readonly header: string
  /** By the header, as it was read. */
  of(header: SolanaImageData | null | undefined): ProgramVersion<V>
  /** Reads the bytes that the program has now: a megabyte or two, once for each slot of a deployment. */
  read(reader: Pick<SolanaReader, 'start'>, at: At): Promise<void>
  /** The same for people, who ask once: what the bytes are that it has now. */
  now(reader: Pick<SolanaReader, 'start'>, at: At): Promise<ProgramVersion<V>>
}

/** Follows which bytes a program has. @param known the version by the sha256 of the program's bytes, as `sluice devnet programs fetch` shows it */
export function programVersions<V extends string>(program: string, known: Readonly<Record<string, V>>): ProgramVersions<V> {
  const account = derivedAddress(upgradeableLoader, [addressBytes(program)])
  const bySlot = new Map<bigint, ProgramVersion<V>>()
  let reading: Promise<unknown> | undefined

  async function readBytes(reader: Pick<SolanaReader, 'start'>, at: At): Promise<ProgramVersion<V>> {
    const found = await reader.start(account, maxAccount, at)
    const slot = found && deployedAt(found.owner, found.data)
    if (!found || slot === undefined) return { is: 'gone' }
    const bytes = programBytes(Buffer.from(found.data.buffer, found.data.byteOffset, found.data.byteLength).subarray(dataAt))
    const sha256 = createHash('sha256').update(bytes).digest('hex')
    const version = Object.hasOwn(known, sha256) ? known[sha256] : undefined
    const is: ProgramVersion<V> = version === undefined ? { is: 'unknown', slot, sha256 } : { is: 'known', version }
    bySlot.set(slot, is)
    return is
  }

  return {
    header: startOf(account, dataAt),
    of(header) {
      const slot = header ? deployedAt(header.owner, Buffer.from(header.base64, 'base64')) : undefined
      return slot === undefined ? { is: 'gone' } : (bySlot.get(slot) ?? { is: 'unread' })
    },
    // All pools of the program wait for one reading; whose request began it may leave.
    async read(reader, at) {
      const own = (reading ??= readBytes(reader, at).finally(() => {
        reading = undefined
      }))
      await own.catch((error: unknown) => {
        if (at.signal.aborted) throw error
        return readBytes(reader, at)
      })
    },
    now: readBytes,
  }
}

interface ProgramUse {
  readonly program: string
  /** Absent: quotes do not depend on its bytes. */
  readonly versions?: ProgramVersions
}

/**
 * For `sluice doctor`: whether pools are quoted, and which line of the configuration has them quoted where nobody said of which version the bytes are.
 * @param versions those that there is arithmetic of
 */
export const examinePrograms =
  (reader: Pick<SolanaReader, 'start'>, protocols: readonly ProgramUse[], versions: readonly string[]) =>
  async (at: At): Promise<readonly ConnectorFinding[]> =>
    Promise.all(
      protocols.flatMap(({ program, versions: of }) =>
        of ? [of.now(reader, at).then((found) => findingOf(program, found, versions))] : [],
      ),
    )

function findingOf(program: string, found: ProgramVersion, versions: readonly string[]): ConnectorFinding {
  if (found.is === 'known') return { what: `its program ${program} has bytes that it quotes by, of the version ${found.version}.` }
  if (found.is !== 'unknown')
    return {
      what: `its program ${program} is not there, so it has no pools.`,
      remedy: 'Ask a node of the network that the connector is for, or leave the connector out.',
    }
  const { sha256, slot } = found
  return {
    what: `its program ${program} has bytes that no quote was held against (sha256 ${sha256}, since the slot ${slot}), so its pools are left out.`,
    remedy: `If you know that they are of one of these versions, write "programs: { ${sha256}: ${versions[0]} }" in the connector's file in conf/connectors: ${versions.join(', ')}.`,
  }
}

/** Undefined where it is no account of a program's bytes. */
function deployedAt(owner: string, data: Uint8Array): bigint | undefined {
  if (owner !== upgradeableLoader || data.length < dataAt) return undefined
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength)
  return view.getUint32(0, true) === programDataKind ? view.getBigUint64(slotAt, true) : undefined
}
