import type { ExpressionBuilder } from 'kysely'
import type { Tables } from '../../store/tables.ts'
import { folded } from './folded.ts'

/** Of one rail, the chain's where no connector is named; and of one address on it. */
export interface OnLane {
  readonly connector?: string
  readonly address?: string
}

/** Which entries are on it. */
export function onLane({ connector, address }: OnLane) {
  return (eb: ExpressionBuilder<Tables, 'entries'>) =>
    connector === undefined
      ? eb.and([eb('via', 'is', null), ...(address === undefined ? [] : [eb('address', '=', folded(address))])])
      : eb.and([eb('via', '=', connector), ...(address === undefined ? [] : [eb('signer', '=', folded(address))])])
}
