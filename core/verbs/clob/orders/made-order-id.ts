import { randomUUID } from 'node:crypto'
import type { Call } from '../../../handlers/context.ts'

/** A client order id where the caller gave none: with a key the same for a request that is repeated, so that nothing is placed twice. */
export const madeOrderId = ({ keyed }: Pick<Call, 'keyed'>, index: number): string => (keyed ? `${keyed.tag}-${index}` : randomUUID())
