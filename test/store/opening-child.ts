// Opens the store, says how that went, and closes it.
import { openStore } from '../../core/store/open-store.ts'

const [dataDir = ''] = process.argv.slice(2)
try {
  const store = await openStore({ dataDir, serverName: 'child', log: { info: () => {}, warn: () => {} } })
  console.log('opened')
  await store.close()
} catch (error) {
  console.log(String(error))
}
