import { pathToFileURL } from 'node:url'

/** The folder's URL, ending with a slash. */
export function folderUrl(folder: string): string {
  return `${pathToFileURL(folder).href}/`
}
