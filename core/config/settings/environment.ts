/** The variables of a process, as `process.env` has them. */
export type Environment = Readonly<Record<string, string | undefined>>

/** The value of a variable; one that is set to nothing counts as not set (`${X:-}` of Compose files makes such). */
export function variable(env: Environment, name: string): string | undefined {
  const value = Object.hasOwn(env, name) ? env[name] : undefined
  return value === '' ? undefined : value
}
