// Where something is in the files that a plugin's author wrote: what runs is compiled from them, and its lines are others.
import { readdirSync, readFileSync } from 'node:fs'
import { SourceMap, type SourceMapPayload } from 'node:module'
import path from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { CompiledFiles } from './hook.ts'

/** By URL, as they run in this thread. */
const compiled = new Map<string, string>()
/** By the same URL; null where it has none. */
const maps = new Map<string, SourceMap | null>()

/** Remembers the source maps of these files. */
export function knowSources(files: CompiledFiles): void {
  for (const [url, file] of Object.entries(files)) {
    if (!('code' in file) || compiled.get(url) === file.code) continue
    compiled.set(url, file.code)
    maps.delete(url)
  }
}

/** A stack with the lines that the author wrote. */
export function authorsStack(stack: string): string {
  // Node has mapped it already.
  if (compiled.size === 0 || process.sourceMapsEnabled) return stack
  return stack.replaceAll(/(file:\/\/[^\s()]+?):(\d+):(\d+)/g, (whole, url: string, line: string, column: string) => {
    const place = mapOf(url)?.findEntry(Number(line) - 1, Number(column) - 1)
    return place && 'originalLine' in place ? `${url}:${place.originalLine + 1}:${place.originalColumn + 1}` : whole
  })
}

/** The innermost of the folder's own files in a stack with the author's lines, such as `amm.ts:12`. */
export function placeInStack(stack: string, folder: string): string | undefined {
  const frame = /(file:\/\/[^\s()]+?|\/[^\s():]+):(\d+)(?::\d+)?(?=[\s)]|$)/gm
  const calls = stack.split('\n').filter((each) => /^\s+at /.test(each))
  for (const [, file = '', line] of calls.join('\n').matchAll(frame)) {
    const place = ownFile(file, folder)
    if (place !== undefined) return `${place}:${line}`
  }
  return undefined
}

function ownFile(file: string, folder: string): string | undefined {
  try {
    const inFolder = path.relative(folder, file.startsWith('file:') ? fileURLToPath(file) : file)
    return inFolder.startsWith('..') || path.isAbsolute(inFolder) || inFolder.split(path.sep).includes('node_modules')
      ? undefined
      : inFolder
  } catch {
    return undefined
  }
}

/** Where a function of the folder's own files begins. Undefined where it is another's, such as a kit's, or where its text is there twice. */
export function placeOfFunction(method: CallableFunction, folder: string): string | undefined {
  const text = Function.prototype.toString.call(method)
  const inFolder = `${pathToFileURL(folder).href}/`
  for (const [url, code] of compiled) {
    if (!url.startsWith(inFolder)) continue
    const at = code.indexOf(text)
    if (at < 0 || code.includes(text, at + 1)) continue
    const before = code.slice(0, at).split('\n')
    const place = mapOf(url)?.findEntry(before.length - 1, before.at(-1)?.length ?? 0)
    if (place && 'originalLine' in place) return `${ownFile(url, folder)}:${place.originalLine + 1}`
  }
  return undefined
}

const maxSourceBytes = 1_000_000

/** Where a text stands in quotes in the folder's own sources: in one place, or undefined. Runs nothing. */
export function placeOfText(text: string, folder: string): string | undefined {
  const places = sourcesIn(folder).flatMap((file) => {
    const lines = readFileSync(path.join(folder, file), 'utf8').slice(0, maxSourceBytes).split('\n')
    return lines.flatMap((line, index) =>
      ['"', "'", '`'].some((quote) => line.includes(quote + text + quote)) ? [`${file}:${index + 1}`] : [],
    )
  })
  return places.length === 1 ? places[0] : undefined
}

function sourcesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
      entry.isFile() && /\.m?[jt]s$/.test(entry.name) && !/^devnet\.|\.test\./.test(entry.name) ? [entry.name] : [],
    )
  } catch {
    return []
  }
}

function mapOf(url: string): SourceMap | null {
  const known = maps.get(url)
  if (known !== undefined) return known
  const code = compiled.get(url) ?? ''
  // The compiler writes it at the end.
  const at = code.lastIndexOf(inlineMap)
  const map = at < 0 ? null : readMap(code.slice(at))
  maps.set(url, map)
  return map
}

const inlineMap = 'data:application/json;base64,'

/** @param url with the map itself */
function readMap(url: string): SourceMap | null {
  if (!url.startsWith(inlineMap)) return null
  try {
    return new SourceMap(JSON.parse(Buffer.from(url.slice(inlineMap.length).trim(), 'base64').toString('utf8')) as SourceMapPayload)
  } catch {
    return null
  }
}
