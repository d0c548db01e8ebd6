import { badCursor } from '../../../handlers/pages.ts'

/** How far a list of orders was told: of the journal's up to a key, of the exchange's up to a time, several of whose orders may be told already. */
export interface OrdersPosition {
  journalKey?: string
  createdAt?: number
  /** So many of that very time. */
  told: number
}

const pattern = /^(\d{1,15})?-(\d{1,6})-([0-9a-z-]{0,128})$/

/** @throws SluiceError INCOMPLETE_PARAMS */
export function readOrdersCursor(cursor: string | undefined): OrdersPosition {
  if (cursor === undefined) return { told: 0 }
  const [, createdAt, told, journalKey] = pattern.exec(cursor) ?? []
  if (told === undefined) throw badCursor()
  return {
    told: Number(told),
    ...(createdAt !== undefined && { createdAt: Number(createdAt) }),
    ...(journalKey !== undefined && journalKey !== '' && { journalKey }),
  }
}

export const writeOrdersCursor = ({ journalKey = '', createdAt, told }: OrdersPosition): string =>
  `${createdAt ?? ''}-${told}-${journalKey}`
