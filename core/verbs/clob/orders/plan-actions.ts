import { SluiceError } from '../../../api/index.ts'
import type { At, BookAction, BookPlan, CLOB } from '../../../contracts/index.ts'

/** A plan, and which of the actions it carries out, by their place in the whole list. */
export interface Planned {
  readonly covers: readonly number[]
  readonly plan: BookPlan
}

/** What is to be done of a list of actions, and what of it cannot be. */
export interface Plans {
  readonly planned: readonly Planned[]
  readonly refused: ReadonlyMap<number, SluiceError>
}

/**
 * The exchange's plans for a list of actions. Where it refuses the list it is asked again for halves of it, so that what cannot be done
 * keeps nothing else from being done. One that is away refuses all of them: of the same request something may have been sent already.
 */
export async function planActions(
  book: Pick<CLOB, 'act'>,
  owner: string,
  actions: ReadonlyMap<number, BookAction>,
  at: At,
): Promise<Plans> {
  const places = [...actions.keys()]
  if (places.length === 0) return { planned: [], refused: new Map() }
  try {
    const plans = await book.act(owner, [...actions.values()], at)
    return {
      planned: plans.map(({ covers, plan }) => ({ plan, covers: covers.flatMap((each) => places[each] ?? []) })),
      refused: new Map(),
    }
  } catch (error) {
    if (!(error instanceof SluiceError)) throw error
    if (places.length === 1 || !isAboutAnAction(error)) return { planned: [], refused: new Map(places.map((place) => [place, error])) }
    const half = Math.ceil(places.length / 2)
    const first = await planActions(book, owner, new Map([...actions].slice(0, half)), at)
    const second = await planActions(book, owner, new Map([...actions].slice(half)), at)
    return { planned: [...first.planned, ...second.planned], refused: new Map([...first.refused, ...second.refused]) }
  }
}

/** An exchange that is away, or a defect, is nothing that asking in parts would change. */
const isAboutAnAction = ({ http, name }: SluiceError): boolean => (http < 500 || name === 'UNSUPPORTED') && name !== 'RATE_LIMIT'
