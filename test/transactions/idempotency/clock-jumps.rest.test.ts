import { places } from '../../store/stores.ts'
import { clockJumpTests } from './clock-jumps.ts'

describe('Idempotency-Keys in PostgreSQL, with clocks that are wrong', () => {
  clockJumpTests(places('postgres').place)
})
