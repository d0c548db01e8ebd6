import { expect } from 'chai'
import type { Static, TSchema } from 'typebox'
import { firstProblem, fits } from '../core/base/schema-check.ts'

/** A value as its schema has it; the test fails with what is wrong with another one. */
export const checked = <S extends TSchema>(schema: S, value: unknown): Static<S> =>
  fits(schema, value) ? value : expect.fail(JSON.stringify(firstProblem(schema, value)))
