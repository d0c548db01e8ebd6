// What a plugin that is only being examined learns of the operator's files: what the server shows of them, so no secret.
import { getAt, mapTexts, substitute, type Environment, type Section } from './tree.ts'
import { maskedCopy } from './mask.ts'
import { isObject } from '../base/json.ts'
import { ConfigError, type ConfigProblem } from './problems.ts'
import { locate, readYaml } from './yaml.ts'

/** Plain JSON: it crosses to another process. */
export interface ShownConf {
  /** The name to show. */
  readonly file: string
  readonly value: Section
  /** Line of each key and list entry, by JSON pointer. */
  readonly lines: readonly (readonly [pointer: string, line: number])[]
  /** The texts that stand for others, by JSON pointer: no schema can judge them. */
  readonly hidden: readonly string[]
}

/** The keys of a connector that core reads: what it trades with, and nothing that is secret. */
const ofConnectors = ['contractAddresses', 'bridges', 'allowedSlippage', 'ttl', 'versions']
/** The same of each network of a chain. */
const ofNetworks = ['enabled', 'required', 'feeCap']

/**
 * A file of the conf folder with the values that are in force: addresses and the like as they are, everything else as the server shows it.
 * Undefined without such a file. @throws ConfigError where it cannot be read, or an address names a variable that is not set
 */
export function shownConf(path: string, file: string, kind: 'chain' | 'connector', environment: Environment): ShownConf | undefined {
  const problems: ConfigProblem[] = []
  const yaml = readYaml(path, file, problems)
  if (problems.length > 0) throw new ConfigError(problems)
  if (yaml === undefined) return undefined
  const isExact = (pointer: string) => {
    const [, first = '', second = ''] = pointer.split('/')
    return kind === 'connector' ? ofConnectors.includes(first) : ofNetworks.includes(second)
  }
  const { value: resolved, shown, troubles } = substitute(kind === 'chain' ? withoutOff(yaml.value) : yaml.value, environment)
  const wrong = troubles.filter(({ pointer }) => isExact(pointer))
  if (wrong.length > 0)
    throw new ConfigError(wrong.map(({ pointer, problem, remedy }) => ({ ...locate(pointer, [yaml], file), problem, remedy })))
  const masked = maskedCopy(isObject(resolved) ? resolved : {}, new Map())
  const unset = new Set(troubles.map(({ pointer }) => pointer))
  const hidden: string[] = []
  const value = mapTexts(resolved, (text, pointer) => {
    if (isExact(pointer)) return escaped(text)
    // The place of a node is no secret; what else comes of a variable may be.
    const isOfVariable = unset.has(pointer) || (shown.has(pointer) && !isNodeUrl(text))
    const instead = isOfVariable ? '***' : getAt(masked, pointer)
    if (instead === text) return escaped(text)
    hidden.push(pointer)
    return escaped(String(instead))
  })
  return { file, value: isObject(value) ? value : {}, lines: [...yaml.lines], hidden }
}

/** `user:password` can be parsed as a URL, too. */
function isNodeUrl(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, host } = new URL(text)
  return ['http:', 'https:', 'ws:', 'wss:'].includes(protocol) && host !== ''
}

/** A network that is off for now is examined as the plugin has it, so that switching it on needs no further word. */
const withoutOff = (networks: Section): Section =>
  Object.fromEntries(Object.entries(networks).filter(([, entry]) => !(isObject(entry) && entry['enabled'] === false)))

/** Nothing is filled in a second time. */
const escaped = (text: string): string => text.replaceAll('${', () => '$${')
