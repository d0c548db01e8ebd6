import type { Static, TSchema } from 'typebox'
import { Compile } from 'typebox/compile'

/** A schema of what is stored, for the many values of one kind. */
export interface LazyCheck<S extends TSchema> {
  Check(value: unknown): value is Static<S>
  Errors(value: unknown): readonly { readonly instancePath: string; readonly message: string }[]
}

/** Compiled for the first value that is checked: a start checks few, and to compile what it does not need took a hundredth of it. */
export function compileOnUse<const S extends TSchema>(schema: S): LazyCheck<S> {
  let made: ReturnType<typeof Compile<S>> | undefined
  const compiled = () => (made ??= Compile(schema))
  return {
    Check: (value): value is Static<S> => compiled().Check(value),
    Errors: (value) => compiled().Errors(value),
  }
}
