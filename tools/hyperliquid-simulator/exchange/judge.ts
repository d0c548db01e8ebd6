import { getDotPath, safeParse, type GenericSchema } from 'valibot'

/** Everything that is said is held against the schemas that the client library publishes; what does not fit is kept. */
export interface Judge {
  readonly violations: readonly string[]
  /** Undefined where it does not fit. */
  read(where: string, schema: GenericSchema, value: unknown): { readonly value: unknown } | undefined
  /** What was kept so far; it counts no more. */
  takeViolations(): string[]
}

export function createJudge(): Judge {
  const violations: string[] = []
  return {
    violations,
    read: (where, schema, value) => {
      const result = safeParse(schema, value)
      if (result.success) return { value: result.output }
      const issues = result.issues.map((issue) => `${getDotPath(issue) ?? 'all of it'}: ${issue.message}`).join('; ')
      violations.push(`${where}: ${issues} in ${JSON.stringify(value).slice(0, 500)}`)
      return undefined
    },
    takeViolations: () => violations.splice(0),
  }
}
