import { places } from '../../store/stores.ts'
import { clockJumpTests } from './clock-jumps.ts'

describe('Idempotency-Keys in the embedded store, with clocks that are wrong', () => {
  clockJumpTests(places('embedded').place)
})
