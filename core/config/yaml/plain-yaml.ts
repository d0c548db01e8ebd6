import { isAlias, isMap, isScalar, isSeq, type Document } from 'yaml'
import { pointerOf } from './pointer.ts'
import type { Trouble } from './substitute.ts'
import type { Section } from '../tree.ts'

/** Aliases can make a small file expand without bound, and refer to themselves. */
const maxValues = 20_000
export const maxDepth = 40

const forbiddenKeys = new Set(['__proto__', 'constructor', 'prototype'])

export interface PlainYaml {
  value: unknown
  /** By JSON pointer. */
  lines: Map<string, number>
  /** What YAML allows and hardly anyone means. */
  traps: (Trouble & { line: number | undefined })[]
}

/** A parsed document as plain values. */
export function plainYaml(document: Document, lineAt: (offset: number) => number): PlainYaml {
  const lines = new Map<string, number>()
  const traps: PlainYaml['traps'] = []
  let values = 0
  let gaveUp = false

  const lineOf = (node: unknown) => (isNode(node) && node.range ? lineAt(node.range[0]) : undefined)
  const trap = (pointer: string, node: unknown, problem: string, cure: string) =>
    void traps.push({ pointer, line: lineOf(node), problem, cure })

  function plain(node: unknown, pointer: string, depth: number): unknown {
    if (gaveUp) return null
    if (++values > maxValues || depth > maxDepth) {
      gaveUp = true
      trap(pointer, node, 'holds too much: too many values, too deep, or an alias inside of itself', 'Write fewer aliases.')
    } else if (isAlias(node)) {
      const target = node.resolve(document)
      if (target) return plain(target, pointer, depth + 1)
      trap(
        pointer,
        node,
        'begins with *, as an alias does, and there is no such anchor before it',
        'Put quotes around the value, or define the anchor.',
      )
    } else if (isSeq(node)) {
      return node.items.map((item, index) => child(item, item, pointer + pointerOf([index]), depth))
    } else if (isMap(node)) {
      const section: Section = {}
      for (const { key, value } of node.items) {
        const name = isScalar(key) ? String(key.value) : ''
        const at = pointer + pointerOf([name])
        if (forbiddenKeys.has(name)) trap(at, key, 'is not allowed as a key', 'Remove it.')
        else section[name] = child(key, value, at, depth)
      }
      return section
    } else if (isScalar(node)) {
      const problem = numberTrap(node.value, node.source ?? '')
      if (problem) trap(pointer, node, ...problem)
      return node.value
    }
    return null
  }

  function child(place: unknown, node: unknown, pointer: string, depth: number): unknown {
    const line = lineOf(place)
    if (line !== undefined && !lines.has(pointer)) lines.set(pointer, line)
    return plain(node, pointer, depth + 1)
  }

  return { value: plain(document.contents, '', 0), lines, traps }
}

function numberTrap(value: unknown, source: string): [problem: string, cure: string] | undefined {
  if (typeof value !== 'number') return undefined
  if (/^[-+]?0\d/.test(source))
    return ['is a number with leading zeros, which some take for octal', 'Write it without leading zeros, or put quotes around it.']
  if (!Number.isFinite(value)) return ['is not a finite number', 'Write a number.']
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) return ['is a number too large to be exact', 'Put quotes around it.']
  return undefined
}

function isNode(value: unknown): value is { range?: [number, number, number] | null } {
  return isScalar(value) || isMap(value) || isSeq(value) || isAlias(value)
}
