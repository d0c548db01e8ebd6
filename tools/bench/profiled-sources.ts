import { existsSync, readFileSync } from 'node:fs'
import type { Profiler } from 'node:inspector'
import { SourceMap, type SourceMapPayload } from 'node:module'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** The server is bundled: with maps a profile can say which source each function is of. */
export async function buildWithMaps(): Promise<void> {
  const build: { buildWhenStale(how: { maps: true }): Promise<void> } = await import(new URL('../build.mjs', import.meta.url).href)
  await build.buildWhenStale({ maps: true })
}

/** The same profile. Functions of the bundle have the paths of their sources from the root of the checkout; those of packages have `packages`. */
export function bySources(profile: Profiler.Profile): Profiler.Profile {
  const maps = new Map<string, SourceMap | undefined>()
  const mapOf = (url: string) => {
    if (!maps.has(url)) maps.set(url, readMap(url))
    return maps.get(url)
  }
  const nodes = profile.nodes.map((node) => {
    const { url, lineNumber, columnNumber } = node.callFrame
    const entry = mapOf(url)?.findEntry(lineNumber, columnNumber)
    if (!entry) return node
    const source = 'originalSource' in entry ? entry.originalSource : ''
    const file = path.relative(root, path.resolve(path.dirname(fileURLToPath(url)), source))
    return { ...node, callFrame: { ...node.callFrame, url: file.endsWith('.ts') ? file : 'packages' } }
  })
  return { ...profile, nodes }
}

function readMap(url: string): SourceMap | undefined {
  if (!url.startsWith('file:')) return undefined
  const file = `${fileURLToPath(url)}.map`
  return existsSync(file) ? new SourceMap(JSON.parse(readFileSync(file, 'utf8')) as SourceMapPayload) : undefined
}
