// Bytes of programs that the operator has named in conf/connectors: a local network of their chain takes them, too.
import path from 'node:path'
import { isObject } from '../base/json.ts'
import { mergedFiles } from '../config/yaml.ts'
import programs from './solana-programs.json' with { type: 'json' }

/** The sha256 of those of a chain, from `programs` of the connectors' files. */
export function namedPrograms(confDir: string, ofChain: string): readonly string[] {
  const connectors = new Set(Object.values(programs).flatMap(({ chain, connector }) => (chain === ofChain ? connector : [])))
  return [...connectors].flatMap((connector) => {
    const { programs: named } = configOf(path.join(confDir, 'connectors', `${connector}.yml`))
    return isObject(named) ? Object.keys(named).filter((each) => /^[0-9a-f]{64}$/.test(each)) : []
  })
}

function configOf(file: string): Record<string, unknown> {
  try {
    return { ...mergedFiles([file]) }
  } catch {
    // The connector is not loaded then, and its own start says why.
    return {}
  }
}
