// Changes of files of the configuration: all are made in memory first, so that one that cannot be made stops a command before it has written anything.
import { existsSync, readFileSync, statSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import { isMap, isScalar, parseDocument, type Document } from 'yaml'
import { isObject, parseJson } from '../base/json.ts'
import { writeWholeFile } from '../base/whole-file.ts'
import { maxTokenListBytes } from '../config/fetch-token-list.ts'
import { maxTextBytes } from '../config/yaml.ts'

export interface ConfEdits {
  /** Comments stay. A section that is empty is made. @throws Error that names the file, where something else stands in the way */
  setYaml(file: string, at: readonly string[], value: unknown): void
  /** Of a list in the Uniswap Token Lists format. @throws Error that names the file */
  addTokens(file: string, name: string, tokens: readonly object[]): void
  /** Each file whole or not at all, one after the other. */
  write(): Promise<void>
}

export function createConfEdits(): ConfEdits {
  const documents = new Map<string, Document>()
  const lists = new Map<string, Readonly<Record<string, unknown>>>()

  function documentOf(file: string): Document {
    const known = documents.get(file)
    if (known) return known
    const document = parseDocument(textOf(file) ?? '')
    if (document.errors.length > 0) throw new Error(`${file} is not valid YAML: correct it first.`)
    documents.set(file, document)
    return document
  }

  return {
    setYaml(file, at, value) {
      const document = documentOf(file)
      makeSections(document, at.slice(0, -1), file)
      document.setIn(at, document.createNode(value))
    },
    addTokens(file, name, tokens) {
      const list = lists.get(file) ?? listIn(file) ?? { name }
      const known = Array.isArray(list['tokens']) ? list['tokens'] : []
      lists.set(file, { ...list, tokens: [...known, ...tokens] })
    },
    async write() {
      const texts = [
        ...[...documents].map(([file, document]) => [file, document.toString({ lineWidth: 0 })] as const),
        ...[...lists].map(([file, list]) => [file, `${JSON.stringify(list, null, 2)}\n`] as const),
      ]
      for (const [file, text] of texts) {
        const most = documents.has(file) ? maxTextBytes : maxTokenListBytes
        if (Buffer.byteLength(text) > most)
          throw new Error(`${file} would have more than ${most} bytes, which is the most that is read. Nothing was written.`)
      }
      for (const [file, text] of texts) {
        await mkdir(path.dirname(file), { recursive: true })
        // Who could read it before still can.
        await writeWholeFile(file, text, existsSync(file) ? statSync(file).mode & 0o777 : 0o600)
      }
    },
  }
}

const textOf = (file: string): string | undefined => (existsSync(file) ? readFileSync(file, 'utf8') : undefined)

function makeSections(document: Document, sections: readonly string[], file: string): void {
  for (let depth = 0; depth <= sections.length; depth += 1) {
    const at = sections.slice(0, depth)
    const node = depth === 0 ? document.contents : document.getIn(at, true)
    if (isMap(node)) continue
    const isEmpty = node === undefined || node === null || (isScalar(node) && node.value === null)
    if (!isEmpty) throw new Error(`${file}: ${at.join('.') || 'its top'} is no section. Correct it first.`)
    const section = document.createNode({})
    if (isScalar(node) && typeof node.comment === 'string') section.commentBefore = node.comment
    if (depth === 0) document.contents = section
    else document.setIn(at, section)
  }
}

function listIn(file: string): Readonly<Record<string, unknown>> | undefined {
  const text = textOf(file)
  if (text === undefined) return undefined
  const list = parseJson(text)
  if (!isObject(list)) throw new Error(`${file} is no token list: correct it first.`)
  return list
}
