/** One thing that is wrong in the configuration, and what to do about it. Never holds a value: it could be a secret. */
export interface ConfigProblem {
  /** A file (relative to the home folder where it lies inside), `environment` or `command line`. */
  file: string
  /** 1-based, where it is known. */
  line?: number
  /** The key, e.g. `server.port`; the variable's name for the environment; empty for the whole file. */
  path: string
  problem: string
  cure: string
  /** Trying again later can help: nothing that the operator wrote is wrong. */
  temporary?: true
}

/** Every problem of one configuration at once; the message is meant for a terminal. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly problems: readonly ConfigProblem[]

  constructor(problems: readonly ConfigProblem[]) {
    const count = problems.length === 1 ? 'a problem' : `${problems.length} problems`
    super(
      [`The configuration has ${count}:`, ...problems.map((problem) => `  ${describeProblem(problem).replace('\n', '\n    ')}`)].join('\n'),
    )
    this.problems = problems
  }
}

/** Two lines: place and problem, then the cure. */
export function describeProblem({ file, line, path, problem, cure }: ConfigProblem): string {
  const place = line === undefined ? file : `${file}:${line}`
  return `${[place, path].filter(Boolean).join('  ')}: ${problem}\n→ ${cure}`
}
