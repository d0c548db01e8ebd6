import type { Logger } from 'pino'
import type { Settings } from '../config/index.ts'
import { StartError } from '../start-error.ts'
import { openStore, StoreError, type Store } from '../store/index.ts'

/** @throws StartError, where it cannot be opened: another server has it, or a newer version wrote it */
export async function openServerStore({ data, store }: Settings, serverName: string, log: Logger): Promise<Store> {
  try {
    return await openStore({ dataDir: data.dir, url: store.url, serverName, log })
  } catch (error) {
    if (error instanceof StoreError) throw new StartError(error.message)
    throw error
  }
}
