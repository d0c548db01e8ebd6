import { dotted, upwards } from './pointer.ts'
import type { YamlFile } from '../yaml.ts'

/** Where a key stands, for people: the topmost file that has it, or has what it would be in. */
export function place(pointer: string, layers: readonly YamlFile[], otherwise: string): { file: string; line?: number; path: string } {
  const path = dotted(pointer)
  for (const at of upwards(pointer)) {
    const layer = layers.findLast(({ lines }) => lines.has(at))
    const line = layer?.lines.get(at)
    if (layer && line !== undefined) return { file: layer.file, line, path }
  }
  return { file: otherwise, path }
}
