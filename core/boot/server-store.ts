import type { Logger } from 'pino'
import type { Settings } from '../config/settings.ts'
import { StartError } from '../start-error.ts'
import { openStore } from '../store/open-store.ts'
import { StoreError } from '../store/store-error.ts'
import { type Store } from '../store/store.ts'

/** @throws StartError, where it cannot be opened: another server has it, or a newer version wrote it */
export async function openServerStore({ data, store }: Settings, serverName: string, log: Logger): Promise<Store> {
  try {
    return await openStore({ dataDir: data.dir, url: store.url, serverName, log })
  } catch (error) {
    if (error instanceof StoreError) throw new StartError(error.message)
    throw error
  }
}
