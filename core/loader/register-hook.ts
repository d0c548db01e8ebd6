import { compilePlugin } from './compile.ts'
import { folderUrl } from './folder-url.ts'
import type { HookNews } from './hook.ts'
import { tellHook } from './tell-hook.ts'

/** Makes these plugin folders' modules importable in the server's main thread, wherever they lie. */
export async function registerHook(folders: readonly string[]): Promise<void> {
  await tellHook(await hookNews(folders))
}

/** What a thread's module hook has to know of these plugin folders. */
export async function hookNews(folders: readonly string[]): Promise<HookNews> {
  return {
    folders: folders.map(folderUrl),
    compiled: Object.assign({}, ...(await Promise.all(folders.map(compilePlugin)))),
  }
}
