import { places } from '../../store/stores.ts'
import { archiverTests } from './archiver.ts'

describe('the archive of transactions of the embedded store', () => {
  archiverTests(places('embedded').place)
})
