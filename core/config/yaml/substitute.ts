import { variable, type Environment } from '../settings/environment.ts'
import { mapTexts } from '../tree.ts'

/** A problem by its place in the tree; which file that is in, is known elsewhere. */
export interface Trouble {
  pointer: string
  problem: string
  cure: string
}

export interface Substituted {
  value: unknown
  /** The texts that were changed, by JSON pointer, with `***` for what came from outside. */
  shown: Map<string, string>
  troubles: Trouble[]
}

const reference = /\$(\$?)\{([^}]*)(\}?)/g
const variableName = /^[A-Za-z_]\w*$/

/** Puts the environment's values in the place of `${NAME}`; `$${` stands for `${` itself. */
export function substitute(tree: unknown, env: Environment): Substituted {
  const shown = new Map<string, string>()
  const troubles: Trouble[] = []
  const value = mapTexts(tree, (text, pointer) => {
    if (!text.includes('${')) return text
    const from = (look: (name: string) => string) =>
      text.replace(reference, (whole, escaped: string, name: string) => (escaped ? whole.slice(1) : look(name)))
    for (const [, escaped, name = '', closed] of text.matchAll(reference)) {
      const problem = escaped ? undefined : wrong(name, closed === '}', env)
      if (problem) troubles.push({ pointer, ...problem })
      else if (!escaped)
        shown.set(
          pointer,
          from(() => '***'),
        )
    }
    return from((name) => variable(env, name) ?? '')
  })
  return { value, shown, troubles }
}

function wrong(name: string, closed: boolean, env: Environment): { problem: string; cure: string } | undefined {
  if (!closed) return { problem: 'has ${ without a closing }', cure: 'Close it, or write $${ for the characters themselves.' }
  if (!variableName.test(name)) {
    return {
      problem: `has \${${name}}, which does not name a variable`,
      cure: 'Write ${NAME} with letters, digits and _, or $${ for the characters themselves.',
    }
  }
  if (variable(env, name) !== undefined) return undefined
  return {
    problem: `needs the environment variable ${name}, which is not set`,
    cure: `Set ${name} before the start, or remove this value.`,
  }
}
