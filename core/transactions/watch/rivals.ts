import type { Sighting } from '../../contracts/index.ts'
import { holderOf, isFinal, txHashOf } from '../entry.ts'
import type { Entry } from '../entry.ts'
import type { Rival } from '../lifecycle.ts'
import type { Recorder } from '../journal/recorder.ts'

/** Another of ours that is in a block on an entry's slot; `gone` where what was to take its place ended without doing so. */
export type RivalOf = (entry: Entry) => Rival | 'gone' | undefined

/** Among the open ones, or what was to take a place and is final already. */
export async function rivalsAmong(
  open: readonly Entry[],
  sightings: ReadonlyMap<string, Sighting>,
  { recorder, confirmations }: { recorder: Recorder; confirmations: number },
): Promise<RivalOf> {
  const landed = new Map<string, Rival & { key: string }>()
  for (const { key, kind, rank, attempts, ...entry } of open) {
    const sighting = attempts.map(({ id }) => sightings.get(id)).find((each) => each?.is === 'landed')
    if (sighting?.is !== 'landed' || !takesSlot(entry, sighting)) continue
    landed.set(slotOf(entry), { key, txHash: sighting.id, kind, rank, final: sighting.depth >= confirmations })
  }
  const openIds = new Set(open.flatMap(({ attempts }) => attempts.map(({ id }) => id)))
  const final = new Map<string, Rival | 'gone'>()
  for (const entry of open)
    for (const id of takersOf(entry, sightings)) {
      if (openIds.has(id) || final.has(id)) continue
      const heir = await recorder.find(entry.chain, entry.network, id)
      if (!heir || !isFinal(heir) || slotOf(heir) !== slotOf(entry)) continue
      if (endedInVain(heir)) final.set(id, 'gone')
      else if (heir.landed) final.set(id, { txHash: txHashOf(heir) ?? heir.landed.id, kind: heir.kind, rank: heir.rank, final: true })
    }
  return (entry) => {
    const rival = landed.get(slotOf(entry))
    if (rival && rival.key !== entry.key) return rival
    const takers = takersOf(entry, sightings).map((id) => final.get(id))
    return takers.find((each) => each !== undefined && each !== 'gone') ?? takers.find((each) => each !== undefined)
  }
}

/** In a block what reverted used its nonce, too; what an exchange refused may have used none, and kept nothing else from being done. */
const takesSlot = ({ signer }: Pick<Entry, 'signer'>, { ok }: { ok: boolean }): boolean => ok || signer === undefined

/** In a block something takes a nonce sooner or later; an action that an exchange never did leaves it as it was. */
const endedInVain = ({ signer, landed }: Entry): boolean => signer !== undefined && landed?.ok !== true

/** What was to take its place, and what was seen in a block there: of several that were to, it may be another one of ours. */
function takersOf({ replacedBy, attempts }: Entry, sightings: ReadonlyMap<string, Sighting>): readonly string[] {
  const seen = attempts.flatMap(({ id }) => {
    const sighting = sightings.get(id)
    return sighting?.is === 'dead' ? (sighting.by ?? []) : []
  })
  return replacedBy === undefined ? seen : [replacedBy, ...seen]
}

const slotOf = (entry: Pick<Entry, 'address' | 'signer' | 'slot'>) => `${holderOf(entry)}/${JSON.stringify(entry.slot)}`
